"""Blocks really resident on every SM, against ``rule="hardware"``.

Each launch has more blocks than the card holds, and each block counts itself on its SM and stays,
so the counts are what the SMs hold at once. Registers are exact for blocks of three and more warps.
Blocks of one or two warps that registers limit may stay below theory, because they are placed on
the four parts of an SM one by one: for them theory is an upper bound, and how far the SMs stay
below it is told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.analysis.sweep import blocks_per_sm
from perfkit.analysis.validation import Pair
from perfkit.device.experiments.resident_kernels import Counter, Shape, load, random_variants
from perfkit.device.experiments.trial import Ledger
from perfkit.models.registers import register_limit

if TYPE_CHECKING:
    import random

    import numpy as np
    from numpy.typing import NDArray

    from perfkit.analysis.validation import Tally
    from perfkit.arch.types import Capability
    from perfkit.device.backend import Function
    from perfkit.device.experiments.trial import Trial

_BATCH: Final = 2048
#: time for every SM to fill; where it was not enough, and before a difference is believed, longer
_STAY_NS: Final = 80_000
_STAY_LONGER_NS: Final = 1_000_000
_MOST_REPEATED: Final = 256  #: of a batch
#: the last block that was counted came before this share of the time was over
_SETTLED: Final = 0.5
#: blocks of every SM beyond what is expected, so that one that holds more shows it
_SPARE: Final = 3
_SMALL_THREADS: Final = 64
_FEW_REGISTERS: Final = 32


class _Expected(NamedTuple):
    """Blocks per SM of each launch of a batch."""

    hardware: NDArray[np.int64]
    driver: NDArray[np.int64]
    apart: NDArray[np.bool_]  #: theory is an upper bound only
    shared: NDArray[np.bool_]  #: shared memory is the only limit


def residency(trial: Trial) -> Iterator[Tally]:
    """Count the blocks of random launches: registers, shared memory, carveout, block size."""
    import numpy as np

    card, capability = trial.card, trial.capability
    most = capability.registers.max_per_thread
    plain, with_static = (trial.count(40, 6), trial.count(12, 2))
    variants = random_variants(trial.chance, most, plain=plain, with_static=with_static)
    functions = load(card, variants)
    for function in functions:
        optin = capability.shared_memory.max_per_block_optin_bytes
        function.allow_dynamic(optin - function.static_shared_bytes)
    counter, ledger = Counter(card), Ledger()
    ledger.figures |= {"kernels": len(functions), "SMs": card.device.sm_count}
    left = trial.count(40_000, 1_000)
    while left > 0:
        drawn = [_random_shape(trial.chance, functions, capability) for _ in range(_BATCH)]
        shapes, expected = _possible(capability, drawn, left)
        counts = _counted(counter, card.device.sm_count, shapes, expected)
        for i, shape in enumerate(shapes):
            sms = counts[i][counts[i] > 0]
            _judge(ledger, shape, [int(row[i]) for row in expected], sms, card.device.sm_count)
        left -= len(shapes)
        uneven = sum(len(np.unique(row[row > 0])) > 1 for row in counts)
        ledger.add("launches in which SMs disagree", uneven)
        yield ledger.tally()


def _random_shape(
    chance: random.Random, functions: Sequence[Function], capability: Capability
) -> Shape:
    """Any launch, or, half of the time, one of small blocks that shared memory limits.

    There the rules differ: the more blocks, the more kilobytes are reserved beside the preference.
    """
    shared = capability.shared_memory
    carveout = chance.choice((-1, chance.randint(0, 100), chance.randint(0, 100)))
    if chance.random() < 0.5:
        function = chance.choice([one for one in functions if one.registers <= _FEW_REGISTERS])
        threads = 32 * chance.randint(1, 4)
        size = shared.per_sm_bytes // chance.randint(2, 32) - chance.randint(0, 4096)
        dynamic = size - function.static_shared_bytes
    else:
        function = chance.choice(functions)
        most = chance.choice((4, 8, 32))
        threads = 32 * chance.randint(1, most) if chance.random() < 0.8 else chance.randint(1, 1024)
        dynamic = int(
            shared.max_per_block_optin_bytes * chance.random() ** chance.choice((1, 2, 4))
        )
        dynamic = 0 if chance.random() < 0.4 else dynamic
    most_dynamic = shared.max_per_block_optin_bytes - function.static_shared_bytes
    return Shape(function, threads, min(max(dynamic, 0), most_dynamic), carveout)


def _possible(
    capability: Capability, drawn: list[Shape], most: int
) -> tuple[list[Shape], _Expected]:
    """The first ``most`` that launch, with what is expected of them."""
    import numpy as np

    found = _expected(capability, drawn)
    kept = np.flatnonzero(found.hardware > 0)[:most]
    return [drawn[i] for i in kept], _Expected(
        found.hardware[kept], found.driver[kept], found.apart[kept], found.shared[kept]
    )


def _expected(capability: Capability, shapes: Sequence[Shape]) -> _Expected:
    import numpy as np

    columns = ("threads", "smem_bytes", "carveout")
    threads, smem, carveout = (
        np.array([getattr(shape, name) for shape in shapes]) for name in columns
    )
    regs = np.array([shape.function.registers for shape in shapes])
    hardware, driver = (
        blocks_per_sm(capability, threads, regs, smem, carveout, rule=rule).astype(np.int64)
        for rule in ("hardware", "driver")
    )
    warps = -(-threads // capability.limits.warp_size)
    by_registers = register_limit(capability.registers, warps, regs, halves=1, ops=np)
    apart = (threads <= _SMALL_THREADS) & (by_registers <= hardware)
    shared = hardware < blocks_per_sm(capability, threads, regs, 0)
    return _Expected(hardware, driver, apart, shared)


def _counted(
    counter: Counter, sm_count: int, shapes: list[Shape], expected: _Expected
) -> NDArray[np.uint32]:
    """Blocks by launch and SM; again with more time where it may matter."""
    import numpy as np

    most = np.maximum(expected.hardware, expected.driver) + _SPARE
    asked = [(shape, sm_count * int(blocks)) for shape, blocks in zip(shapes, most, strict=True)]
    counts, last = counter.counts(asked, ns=_STAY_NS)
    as_expected = (counts == expected.hardware[:, None]) | (counts == 0)
    doubtful = np.flatnonzero((last > _SETTLED) | ~as_expected.all(axis=1))[:_MOST_REPEATED]
    if len(doubtful):
        again, last = counter.counts([asked[i] for i in doubtful], ns=_STAY_LONGER_NS)
        counts[doubtful] = again
    return counts


def _judge(
    ledger: Ledger, shape: Shape, expected: list[int], sms: NDArray[np.uint32], sm_count: int
) -> None:
    """One launch: every SM counts."""
    hardware, driver, apart, shared = expected
    least, most = (int(sms.min()), int(sms.max())) if len(sms) == sm_count else (0, int(sms.max()))
    shown = str(least) if least == most else f"{least} to {most}"
    if apart:
        ledger.add("1 or 2 warps, limited by registers")
        ledger.add("of these an SM below theory", int(least < hardware))
        share = float(ledger.figures.get("least share of theory there", 1.0))
        ledger.figures["least share of theory there"] = round(min(share, least / hardware), 3)
        pair = Pair(
            what="blocks per SM, small blocks that registers limit",
            predicted=hardware,
            measured=most,
            relation="at most",
        )
        ledger.compare(f"at most {hardware}", shown, str(shape), agrees=most <= hardware, pair=pair)
        return
    ledger.add("limited by shared memory alone", shared)
    ledger.add("exact on every SM", int(least == most == hardware))
    ledger.add('where rule="driver" says otherwise', int(driver != hardware))
    # of an SM that differs, if one does
    pair = Pair(
        what="blocks per SM", predicted=hardware, measured=most if least == hardware else least
    )
    ledger.compare(hardware, shown, str(shape), agrees=least == most == hardware, pair=pair)
