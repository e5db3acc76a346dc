"""Sectors and wavefronts of warp accesses, counted by the hardware, against the models.

Four patterns share a launch of one warp: they run 1, 33, 33² and 33³ times. A pattern takes
at most 32 wavefronts or sectors, so the digits of the sum to the base of 33 are the counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from perfkit.analysis.validation import Pair, Tally
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.patterns import LANES, MAX_BYTES, WIDTHS, Pattern, some
from perfkit.device.experiments.trial import Ledger
from perfkit.device.profiler import profiled, same_number, value
from perfkit.device.program import build
from perfkit.errors import Unavailable
from perfkit.models.banks import shared_access
from perfkit.models.coalescing import sectors

if TYPE_CHECKING:
    from perfkit.device.experiments.trial import Trial
    from perfkit.readers.ncu import Profile

SOURCE: Final = "access.cu"
TOGETHER: Final = 4  #: patterns in a launch
BASE: Final = 33
_REPEATS: Final = sum(BASE**k for k in range(TOGETHER))
#: what is counted -> the metric of Nsight Compute
COUNTS: Final = {
    "wavefronts of shared loads": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "wavefronts of shared stores": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "sectors of global loads": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "sectors of global stores": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
#: each must be ``_REPEATS``: the compiler neither dropped nor split an access
EXECUTED: Final = tuple(
    f"smsp__inst_executed_op_{space}_{op}.sum"
    for space in ("shared", "global")
    for op in ("ld", "st")
)
_WIDE: Final = (8, 16)


def listed(trial: Trial) -> list[Pattern]:
    """The same in the process that launches and in the one that compares."""
    return some(trial.chance, trial.count(800, 100), TOGETHER)


def table(patterns: Sequence[Pattern]) -> bytes:
    """The kernels' table of offsets: up to four patterns."""
    import numpy as np

    numbers = np.full((TOGETHER, LANES), -1, np.int32)
    for row, pattern in enumerate(patterns):
        numbers[row] = [-1 if offset is None else offset for offset in pattern.offsets]
    return numbers.tobytes()


def launch(trial: Trial) -> int:
    """Run the patterns, for a profiler to watch; how many launches."""
    import numpy as np

    card, patterns = trial.card, listed(trial)
    functions = dict(
        zip(WIDTHS, build(card, SOURCE, [f"access_{width}" for width in WIDTHS]), strict=True)
    )
    memory = card.allocate(MAX_BYTES)
    card.fill(memory, 1)
    for first in range(0, len(patterns), TOGETHER):
        four = patterns[first : first + TOGETHER]
        arguments = (memory, np.int32(0), memory, table(four))
        card.launch(functions[four[0].width], launch_1d(1, LANES, MAX_BYTES), arguments)
        card.wait()
    return len(patterns) // TOGETHER


def access_counters(trial: Trial) -> Iterator[Tally]:
    """Launch under the profiler and compare."""
    metrics = (*COUNTS.values(), *EXECUTED)
    profiles = profiled("launch", trial.arguments(), kernels="access_", metrics=metrics)
    yield held(listed(trial), profiles)


def predicted(one: Pattern) -> dict[str, int]:
    """By the names of ``COUNTS``."""
    moved = sectors(one.width, one.offsets)
    load, store = (
        shared_access(one.width, one.offsets, store=store).wavefronts for store in (False, True)
    )
    return dict(zip(COUNTS, (load, store, moved, moved), strict=True))


def held(patterns: Sequence[Pattern], profiles: Sequence[Profile]) -> Tally:
    """What the hardware counted against what is predicted.

    Raises:
        Unavailable: the profiler saw other launches, or other instructions than were written.
    """
    same_number(len(patterns) // TOGETHER, profiles)
    ledger = Ledger()
    for number, one in enumerate(patterns):
        profile = profiles[number // TOGETHER]
        if number % TOGETHER == 0:
            _executed(profile, one)
        ledger.add("patterns")
        ledger.add("of these 8 or 16 bytes per lane", int(one.width in _WIDE))
        for what, expected in predicted(one).items():
            found = round(value(profile, COUNTS[what])) // BASE ** (number % TOGETHER) % BASE
            pair = Pair(what=what, predicted=expected, measured=found)
            ledger.compare(expected, found, f"{what}, {one}", pair=pair)
    return ledger.tally()


def _executed(profile: Profile, one: Pattern) -> None:
    if profile.kernel.partition("(")[0] != f"access_{one.width}":
        raise Unavailable(f"ncu saw {profile.kernel} where access_{one.width} was launched")
    for metric in EXECUTED:
        if (found := value(profile, metric)) != _REPEATS:
            raise Unavailable(
                f"{metric} is {found:g}, not {_REPEATS}: the compiler changed the code"
            )
