"""How the tiles of a matrix product can be shared out among the SMs, and what each way takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.gemm_rates import rates
from perfkit.analysis.products import product
from perfkit.models.cluster import active_clusters
from perfkit.models.gemm_rank import SPLITS
from perfkit.models.gemm_time import expected
from perfkit.models.gemm_traffic import Cache, Problem, TileGrid, Traffic, grid, traffic
from perfkit.models.ops import SCALAR, Ops
from perfkit.models.roofline import Bound, Load, bound
from perfkit.models.roofs import compute_load, memory_load
from perfkit.models.waves import Waves, waves
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Capability, Gpu, Target
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_time import Rates
    from perfkit.models.ops import Int
    from perfkit.models.roofs import Ceilings, Level, Roof

_TOGETHER: Final = "no bound: blocks that ask for the same at once may be answered together"


@record
class GemmMachine:
    """What a product offers to a matrix product."""

    target: Target
    sm_count: int
    roof: Roof
    levels: dict[str, Level]
    l2_bytes: int  #: 0: not known
    ceilings: Ceilings | None = None  #: what was measured on it

    def rates(self, one: Instruction) -> Rates:
        """What one SM does in a second, with that instruction."""
        gpu = product(self.target)
        return rates(gpu, self.target.capability, one, self.roof, self.levels, self.ceilings)


@record
class Schedule:
    """One way of sharing out the tiles."""

    tiling: Tiling
    grid: TileGrid
    sm_waves: Waves | None  #: of blocks, one on each SM at a time
    traffic: Traffic
    bound: Bound
    expected_s: float


def usable_sms(gpu: Gpu, capability: Capability, cluster: int) -> int:
    """SMs that get a block of a launch in clusters of so many, one block on each."""
    if cluster == 1 or capability.cluster is None:
        return gpu.sm_count
    found = active_clusters(capability, gpu, size=cluster, blocks_per_sm=1)
    return max(1, found.sms_in_use_at_most)


def schedules(
    p: Problem,
    t: Tiling,
    one: Instruction,
    machine: GemmMachine,
    *,
    resident: int,
    swizzle: int,
) -> tuple[Schedule, ...]:
    """The schedule of the tiling, then the others that make sense.

    Args:
        p: the product.
        t: its tiling.
        one: the instruction.
        machine: the GPU.
        resident: blocks per SM.
        swizzle: width of a band, in tiles.
    """
    steps = -(-p.k // t.tile_k)
    in_clusters = t.cluster_m * t.cluster_n > 1
    others = [split for split in SPLITS if split * 2 <= steps and not (in_clusters and split == 0)]
    splits = [t.split_k, *(split for split in others if split != t.split_k)]
    gpu, capability = product(machine.target), machine.target.capability
    usable = usable_sms(gpu, capability, t.cluster_m * t.cluster_n)
    cache = Cache(l2_bytes=machine.l2_bytes, swizzle=swizzle)
    return tuple(
        _schedule(p, replace(t, split_k=split), one, machine, resident, cache, usable)
        for split in splits
    )


def _schedule(
    p: Problem,
    t: Tiling,
    one: Instruction,
    machine: GemmMachine,
    resident: int,
    cache: Cache,
    usable: int,
) -> Schedule:
    sms = machine.sm_count
    g = grid(p, t, sm_count=sms, blocks_per_sm=resident, usable_sms=usable)
    moved = traffic(p, t, one, g, sm_count=sms, blocks_per_sm=resident, cache=cache)
    least = bound(loads(moved, g, machine.roof, machine.levels))
    likely = expected(
        p,
        t,
        one,
        g,
        moved,
        blocks_per_sm=resident,
        sm_count=sms,
        rates=machine.rates(one),
        together=in_a_column(g, cache.swizzle),
    )
    return Schedule(
        tiling=t,
        grid=g,
        sm_waves=waves(grid=g.blocks, sm_count=sms, blocks_per_sm=1),
        traffic=moved,
        bound=least,
        expected_s=max(likely, least.time_s),
    )


def in_a_column(g: TileGrid, swizzle: int, ops: Ops = SCALAR) -> Int:
    """Blocks after one another in one column of tiles: all of it, or a band's part."""
    return g.tiles_m if swizzle == 1 else ops.minimum(g.tiles_m, swizzle)


def loads(
    moved: Traffic, g: TileGrid, roof: Roof, levels: dict[str, Level], ops: Ops = SCALAR
) -> list[Load]:
    """What each unit and level has to do; L1 and the unit as their busiest SM.

    A rate that was measured is that of all SMs within the card's power: one SM among few that work
    reaches the peak, so that such a rate only bounds what all of them do together. L2 sets no
    bound: on an H200 it gave blocks up to 15 TB/s together, of 9 TB/s that it reads.
    """
    paid = moved.flops
    if roof.peak_flop_per_s is not None:
        paid = paid * ops.maximum(
            g.wave_efficiency, min(1.0, roof.flop_per_s / roof.peak_flop_per_s)
        )
    l2 = replace(levels["l2"], bytes_per_s=None, basis="unknown", roof=_TOGETHER)
    return [
        compute_load(roof, paid),
        memory_load(levels["dram"], moved.dram_bytes),
        memory_load(l2, moved.l2_bytes),
        memory_load(levels["l1"], moved.l1_bytes),
    ]
