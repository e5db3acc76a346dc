"""Wavefronts of shared accesses by the clock: for where no counters can be read.

A block of as many warps as it may have does nothing but access shared memory at one pattern, so
that the SM's path to it, one wavefront per cycle, is the only limit. Cycles per access, over those
of an access without conflicts, are the wavefronts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from perfkit.device.backend import launch_1d
from perfkit.device.experiments.access_counters import SOURCE, table
from perfkit.device.experiments.patterns import LANES, MAX_BYTES, Pattern, pattern
from perfkit.device.experiments.trial import Ledger
from perfkit.device.program import build
from perfkit.models.banks import shared_access

if TYPE_CHECKING:
    from perfkit.analysis.validation import Tally
    from perfkit.device.backend import Card, Function, Memory
    from perfkit.device.experiments.trial import Trial

_WIDTHS: Final = (4, 8, 16)
_WARPS: Final = 32
_ROUNDS: Final = 32
_ACCESSES: Final = _ROUNDS * 8 * _WARPS
_REPEATS: Final = 3
#: of the wavefronts; loop and barriers cost a little
_TOLERANCE: Final = 0.12
_BATCH: Final = 100


class _Clock:
    """Times patterns of one width."""

    def __init__(self, card: Card, width: int, function: Function) -> None:
        import numpy as np

        self._card, self._function = card, function
        self._cycles: Memory = card.allocate(16)
        self._out: Memory = card.allocate(4 * LANES * _WARPS)
        # every lane its own word, in order: no conflict
        offsets = tuple(lane * width for lane in range(LANES))
        plain = Pattern(kind="plain", width=width, offsets=offsets)
        ideal = np.array([shared_access(width, offsets, store=s).wavefronts for s in (False, True)])
        self.wavefront = self.cycles(plain) / ideal  #: cycles of one, of loads and of stores

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
    worst = 0.0
    for width, function in zip(_WIDTHS, functions, strict=True):
        clock = _Clock(trial.card, width, function)
        for what, cycles in zip(("load", "store"), clock.wavefront, strict=True):
            name = f"cycles of a wavefront, {what} of {width} bytes"
            ledger.figures[name] = round(float(cycles), 3)
        for number in range(trial.count(200, 40)):
            one = pattern(trial.chance, width)
            found = clock.cycles(one) / clock.wavefront
            for store, measured in enumerate(found):
                expected = shared_access(width, one.offsets, store=bool(store)).wavefronts
                off = abs(float(measured) / expected - 1)
                worst = max(worst, off)
                text = f"wavefronts of a {'store' if store else 'load'}, {one}"
                ledger.compare(expected, f"{measured:.2f}", text, agrees=off <= _TOLERANCE)
            if number % _BATCH == _BATCH - 1:
                yield ledger.tally()
    ledger.figures["largest deviation"] = round(worst, 3)
    yield ledger.tally()
