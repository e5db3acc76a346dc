"""All tilings of a matrix product compared by their times, ten thousand in a fraction of a second.

The order, first to last: the time expected, tilings within 5 % of the best being equal; then more
SMs with work; fewer bytes through L2, partial sums included; fewer through shared memory; three
stages or more before two; rows of whole lines of L2 before parts of them; more bytes in flight
(stages ahead times resident blocks); data-parallel before split-K before stream-K; and the sizes
themselves, so that it never depends on chance. The model cannot tell tied tilings apart: a
measurement has to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.gemm import GemmEstimate, GemmQuestion, ask, estimate
from perfkit.analysis.gemm_schedule import in_a_column, loads, usable_sms
from perfkit.analysis.products import product
from perfkit.analysis.sweep import blocks_per_sm
from perfkit.errors import UsageError
from perfkit.models import gemm_tile
from perfkit.models.gemm_rank import TIED, Candidate, candidates
from perfkit.models.gemm_tile import Tiling
from perfkit.models.gemm_time import expected
from perfkit.models.gemm_traffic import Cache, grid, traffic
from perfkit.record import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perfkit.analysis.gemm_schedule import GemmMachine
    from perfkit.arch.types import Target
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_traffic import Problem, TileGrid, Traffic

    Floats = NDArray[np.float64]

_ENOUGH_STAGES: Final = 3
_LINE_BYTES: Final = 128  #: of L2


@record
class Ranking:
    """The best tilings of a product."""

    target: Target
    compared: int  #: tilings looked at
    launchable: int  #: of those: fit on an SM, with registers to spare
    tied: int  #: of those: within 5 % of the best
    best: tuple[GemmEstimate, ...]  #: in order, as many as were asked for; never one not tied


@record
class _Batch:
    """Tilings with one instruction, as arrays."""

    instruction: Instruction
    table: NDArray[np.int64]  #: a row for each field of ``Candidate``
    keys: tuple[Floats, ...]  #: that decide the order, the time first


def rank(
    target: Target, question: GemmQuestion, *, limit: int = 10, is_whole: bool = False
) -> Ranking:
    """The tilings that are tied with the best.

    Args:
        target: a product.
        question: the matrix product; its instruction and registers are not used.
        limit: most tilings in the answer.
        is_whole: only those whose blocks compute whole tiles, without split-K and stream-K.

    Raises:
        UnknownTarget: a bare capability.
        UsageError: sizes that are none, a missing roof, or no tiling that launches.
    """
    import numpy as np

    if not gemm_tile.is_whole(limit, 1, 10**6):
        raise UsageError(f"top = {limit}: must be a whole number from 1 to 1000000")
    p, machine = ask(target, question)
    found = [
        (one, np.array([t for t in them if t.split_k == 1 or not is_whole], dtype=np.int64).T)
        for one, them in candidates(p, target.capability, machine.roof.unit)
    ]
    compared = sum(table.shape[1] for _, table in found)
    batches = [_batch(p, machine, target, question, *pair) for pair in found]
    times = np.concatenate([batch.keys[0] for batch in batches]) if batches else np.empty(0)
    if not times.size:
        raise UsageError(f"{target.label}: no tiling for {p.dtype} among {compared} launches")
    tied = times <= times.min() * (1 + TIED)
    keys = [
        np.concatenate(columns)[tied] for columns in zip(*(b.keys for b in batches), strict=True)
    ]
    # the last key of lexsort is the first that counts; times are equal by now
    order = np.flatnonzero(tied)[np.lexsort(keys[:0:-1])]
    return Ranking(
        target=target,
        compared=compared,
        launchable=times.size,
        tied=int(tied.sum()),
        best=tuple(_estimate(target, question, batches, int(at)) for at in order[:limit]),
    )


def _batch(
    p: Problem,
    machine: GemmMachine,
    target: Target,
    question: GemmQuestion,
    one: Instruction,
    table: NDArray[np.int64],
) -> _Batch:
    """Every tiling that launches, with its place in the order."""
    import numpy as np

    capability = target.capability
    all_of_them = _tilings(table)
    resident = blocks_per_sm(
        capability,
        gemm_tile.threads(all_of_them, one),
        gemm_tile.registers(all_of_them, one, capability, p.dtype, p.accumulate, ops=np),
        gemm_tile.shared_bytes(all_of_them, p.dtype),
    )
    held = gemm_tile.held(all_of_them, one, p.dtype, p.accumulate)
    fits = (resident > 0) & (held <= gemm_tile.most_held(all_of_them, one, capability, ops=np))
    # sizes whose products are beyond 64-bit integers stay exact enough as floats
    tilings = _tilings(table[:, fits].astype(np.float64))
    usable = _usable(target, table[:, fits])
    keys = _keys(p, machine, question, one, tilings, resident[fits].astype(np.float64), usable)
    return _Batch(instruction=one, table=table[:, fits], keys=keys)


def _usable(target: Target, table: NDArray[np.int64]) -> Floats:
    """SMs that get a block of each tiling's clusters."""
    import numpy as np

    of = dict(zip(Candidate._fields, table, strict=True))
    sizes = of["cluster_m"] * of["cluster_n"]
    found, gpu = np.empty(sizes.shape), product(target)
    for size in np.unique(sizes).tolist():
        found[sizes == size] = usable_sms(gpu, target.capability, size)
    return found


def _tilings(table: NDArray[Any]) -> Tiling:
    return Tiling(**dict(zip(Candidate._fields, table, strict=True)))


def _keys(
    p: Problem,
    machine: GemmMachine,
    question: GemmQuestion,
    one: Instruction,
    t: Tiling,
    resident: Floats,
    usable: Floats,
) -> tuple[Floats, ...]:
    import numpy as np

    sms = machine.sm_count
    g = grid(p, t, sm_count=sms, blocks_per_sm=resident, usable_sms=usable, ops=np)
    moved = traffic(
        p,
        t,
        one,
        g,
        sm_count=sms,
        blocks_per_sm=resident,
        cache=Cache(l2_bytes=machine.l2_bytes, swizzle=question.swizzle),
        gcd=_gcd,
        ops=np,
    )
    least = [
        load.amount / load.rate_per_s
        for load in loads(moved, g, machine.roof, machine.levels, np)
        if load.rate_per_s is not None
    ]
    likely = expected(
        p,
        t,
        one,
        g,
        moved,
        blocks_per_sm=resident,
        sm_count=sms,
        rates=machine.rates(one),
        together=in_a_column(g, question.swizzle, np),
        ops=np,
    )
    return (np.max([*least, likely], axis=0), *_order(p, t, g, moved, resident, usable))


def _order(
    p: Problem, t: Tiling, g: TileGrid, moved: Traffic, resident: Floats, usable: Floats
) -> list[Floats]:
    """What decides between tilings that are tied."""
    import numpy as np

    # with two stages nothing is on its way while a slice is waited for
    waits = (t.stages < _ENOUGH_STAGES).astype(float)
    narrow = (t.tile_k * p.dtype.bits < 8 * _LINE_BYTES).astype(float)
    ahead = (t.stages - 1) * gemm_tile.stage_bytes(t, p.dtype) * resident
    schedule = np.where(t.split_k == 0, np.inf, t.split_k)
    sizes = [getattr(t, name) for name in Candidate._fields]
    in_use = np.minimum(g.blocks, usable)
    return [
        *(-in_use, moved.l2_bytes, moved.l1_bytes, waits, narrow, -ahead, schedule),
        *sizes,
    ]


def _gcd(x: Floats, y: Floats) -> NDArray[np.int64]:
    import numpy as np

    found: NDArray[np.int64] = np.gcd(x.astype(np.int64), y.astype(np.int64))
    return found


def _estimate(
    target: Target, question: GemmQuestion, batches: list[_Batch], place: int
) -> GemmEstimate:
    """The whole answer for the tiling at a place in all batches together."""
    for batch in batches:
        if place < batch.table.shape[1]:
            sizes = dict(zip(Candidate._fields, batch.table[:, place].tolist(), strict=True))
            one = batch.instruction
            asked = replace(question, instruction=(one.m, one.n, one.k), regs=None)
            return estimate(target, asked, Tiling(**sizes))
        place -= batch.table.shape[1]
    raise IndexError(place)
