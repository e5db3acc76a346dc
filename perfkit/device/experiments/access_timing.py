"""Wavefronts of shared accesses by the clock: for where no counters can be read.

A block of as many warps as it may have does nothing but access shared memory at one pattern, so
that the SM's path to it, one wavefront per cycle, is the only limit: cycles per access are the
wavefronts. The registers take and give 128 bytes per cycle, however few wavefronts bring them: what
takes fewer than that shows in no time, and is only held not to take longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.validation import Pair
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.access_counters import SOURCE, table
from perfkit.device.experiments.patterns import LANES, MAX_BYTES, Pattern, pattern
from perfkit.device.experiments.trial import Ledger
from perfkit.device.program import build
from perfkit.models.banks import shared_access

if TYPE_CHECKING:
    from perfkit.analysis.validation import Relation, Tally
    from perfkit.device.backend import Card, Function, Memory
    from perfkit.device.experiments.trial import Trial

_WIDTHS: Final = (4, 8, 16)
_WARPS: Final = 32
_ROUNDS: Final = 32
_ACCESSES: Final = _ROUNDS * 8 * _WARPS
_REPEATS: Final = 3
_BYTES_PER_CYCLE: Final = 128  #: between shared memory and the registers of an SM
#: of the cycles; loop and barriers cost a little
_TOLERANCE: Final = 0.12
_BATCH: Final = 100


class _Clock:
    """Times patterns with one kernel."""

    def __init__(self, card: Card, function: Function) -> None:
        self._card, self._function = card, function
        self._cycles: Memory = card.allocate(16)
        self._out: Memory = card.allocate(4 * LANES * _WARPS)

    def cycles(self, one: Pattern) -> Any:
        """Per access: of loads and of stores."""
        import numpy as np

        launch = launch_1d(1, LANES * _WARPS, MAX_BYTES)
        values = (self._cycles, np.int32(0), self._out, np.int32(_ROUNDS), table([one]))
        rows = []
        for _ in range(_REPEATS):
            self._card.launch(self._function, launch, values)
            found = np.zeros(2, np.int64)
            self._card.read(self._cycles, found)
            rows.append(found / _ACCESSES)
        return np.min(rows, axis=0)


def access_timing(trial: Trial) -> Iterator[Tally]:
    """Loads and stores of 4, 8 and 16 bytes per lane."""
    ledger = Ledger()
    functions = build(trial.card, SOURCE, [f"timed_{width}" for width in _WIDTHS])
    for width, function in zip(_WIDTHS, functions, strict=True):
        clock = _Clock(trial.card, function)
        plain = Pattern(
            kind="plain", width=width, offsets=tuple(width * lane for lane in range(LANES))
        )
        for what, cycles in zip(("load", "store"), clock.cycles(plain), strict=True):
            name = f"cycles of a {what} of {width} bytes without conflicts"
            ledger.figures[name] = round(float(cycles), 3)
        for number in range(trial.count(200, 40)):
            one = pattern(trial.chance, width)
            for store, cycles in enumerate(clock.cycles(one)):
                _judge(ledger, one, float(cycles), store=bool(store))
            if number % _BATCH == _BATCH - 1:
                yield ledger.tally()
    yield ledger.tally()


def _judge(ledger: Ledger, one: Pattern, cycles: float, *, store: bool) -> None:
    expected = shared_access(one.width, one.offsets, store=store).wavefronts
    text = f"cycles of a {'store' if store else 'load'}, {one}"
    least = one.width * LANES // _BYTES_PER_CYCLE
    if expected <= least:
        ledger.add("too few wavefronts to show in the time")
        most = (1 + _TOLERANCE) * least
        pair = _pair(least, cycles, relation="at most")
        ledger.compare(f"at most {least}", f"{cycles:.2f}", text, agrees=cycles <= most, pair=pair)
        return
    off = abs(cycles / expected - 1)
    worst = float(ledger.figures.get("largest deviation", 0.0))
    ledger.figures["largest deviation"] = round(max(worst, off), 3)
    pair = _pair(expected, cycles)
    ledger.compare(expected, f"{cycles:.2f}", text, agrees=off <= _TOLERANCE, pair=pair)


def _pair(expected: int, cycles: float, relation: Relation = "equal") -> Pair:
    what = "cycles of an access" + ("" if relation == "equal" else " of few wavefronts")
    return Pair(what=what, predicted=expected, measured=round(cycles, 2), relation=relation)
