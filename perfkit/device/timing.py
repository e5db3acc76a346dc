"""Timing work on a card: warm-up, samples between marks, cold or warm caches, clocks watched.

Every sample starts with the card busy, so that the launch lies in the queue when its turn comes and
the marks enclose the kernel alone: flushing L2, at work on the sample before, or, where work is too
short for that, holding. SMs that idle while one thread holds begin slower: on an H200 a product on
tensor cores took up to 10 us longer after 60 us of it, so that work follows upon itself where it
can. One call is one run, the unit of evidence: ``measure.py`` takes several, each in a process of
its own.

Work that draws more power than the card may have is slower the longer it goes on. With rests
between its samples it is timed in bursts: the card idles, is woken by a thread that only waits,
which takes hardly any power, does the work once, and is timed for some milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from statistics import median
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from perfkit.device.backend import launch_1d
from perfkit.device.nvml import CardState, Monitor
from perfkit.device.program import build
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Mark

Work = Callable[[], None]

#: L2 is flushed by reading this many times its size: replacement is not strictly by age
_FLUSH_RATIO: Final = 3
_FLUSH_FALLBACK_BYTES: Final = 256 * 2**20  #: where the driver does not tell L2's size
_HOLD_S: Final = 60e-6  #: longer than it takes to enqueue a launch and two marks
_MOST_IN_FLIGHT: Final = 256  #: samples queued before the host waits
_LOOK_S: Final = 0.1  #: of work until the host waits, to look at the clocks and at the time
#: of work after a rest: products of an H200 keep their rate for 30 ms and more
_BURST_S: Final = 0.02
_WAKE_NS: Final = 10_000_000  #: one turn of waking; governors of clocks take milliseconds
_MOST_WAKES: Final = 20
_AWAKE: Final = 0.9  #: of the clock before the first sample: a rested card's is higher than that


@record
class Sampling:
    """How many samples, and in which state of the caches."""

    samples: int = 30
    cold: bool = True  #: L2 flushed before each sample
    warmup_s: float = 0.05  #: of work before the first sample; clocks rise meanwhile
    most_seconds: float = 10.0  #: stop sampling after this long, with what there is (3 at least)
    rest_s: float = 0.0  #: the card idles that long before each burst; 0: samples make one row

    @property
    def most_resting_s(self) -> float:
        """What rests and waking may take, apart from any work.

        >>> Sampling(samples=30).most_resting_s
        0.0
        >>> round(Sampling(samples=30, rest_s=0.25).most_resting_s, 3)
        13.5
        """
        wake_s = _MOST_WAKES * _WAKE_NS * 1e-9
        return self.samples * (self.rest_s + wake_s) if self.rest_s else 0.0


@record
class Timing:
    """One run: samples in seconds, in the order they were taken."""

    samples_s: tuple[float, ...]
    before: CardState
    after: CardState
    throttles: tuple[str, ...]  #: what held the clocks down at any reading
    sm_clock_hz: float | None  #: mean of the readings during the samples

    @property
    def median_s(self) -> float:
        return median(self.samples_s)


class Stopwatch:
    """Times work on one card; keeps the flush buffer between measurements."""

    def __init__(self, card: Card, monitor: Monitor | None = None) -> None:
        import numpy as np

        self._card = card
        self.monitor = monitor or Monitor(card.device.uuid)
        flush, hold = build(card, "between.cu", ("flush_l2", "hold"))
        size = (card.device.l2_bytes or _FLUSH_FALLBACK_BYTES // _FLUSH_RATIO) * _FLUSH_RATIO
        self._buffer = card.allocate(size)
        self._sink = card.allocate(4)
        card.fill(self._buffer, 0)
        blocks = 4 * card.device.sm_count
        flushed = (self._buffer, np.uint64(size // 16), self._sink)
        self._flush_caches = card.prepare(flush, launch_1d(blocks, 256), flushed)
        self._hold = card.prepare(hold, launch_1d(1, 1), (np.uint64(_HOLD_S * 1e9),))
        self._wake = card.prepare(hold, launch_1d(1, 1), (np.uint64(_WAKE_NS),))

    def flush(self) -> None:
        """Leave nothing of earlier work in L2."""
        self._flush_caches()

    def rest(self, seconds: float, clock_hz: float | None) -> None:
        """Leave the card idle for a while, and wake it.

        Args:
            seconds: how long.
            clock_hz: the SM clock while it was awake; None: not known.
        """
        self._card.wait()
        sleep(seconds)
        for _ in range(_MOST_WAKES):
            self._wake()
            self._card.wait()
            now = self.monitor.state().sm_clock_hz
            if now is None or clock_hz is None or now >= _AWAKE * clock_hz:
                break

    def time(self, work: Work, sampling: Sampling | None = None) -> Timing:
        """One run of ``work``, which enqueues launches and returns.

        Raises:
            DeviceError: the work fails on the card.
        """
        sampling = sampling or Sampling()
        estimate = self._warm_up(work, sampling)
        samples: list[float] = []
        states = [self.monitor.state()]
        at_once_s = _BURST_S if sampling.rest_s else _LOOK_S
        in_flight = max(1, min(_MOST_IN_FLIGHT, int(at_once_s / max(estimate, 1e-6))))
        spent = 0.0
        while len(samples) < sampling.samples:
            if sampling.rest_s:
                self.rest(sampling.rest_s, states[0].sm_clock_hz)
            count = min(in_flight, sampling.samples - len(samples))
            before = self.flush if sampling.cold else self._hold if estimate < _HOLD_S else None
            pairs = self._row(work, count, before, leads=in_flight > 1)
            # read while the card works: an idle card says nothing of the clock it had
            states.append(self.monitor.state())
            new = [self._card.seconds(start, end) for start, end in pairs]
            samples += new
            spent += sum(new)
            if spent > sampling.most_seconds and len(samples) >= 3:
                break
        clocks = [s.sm_clock_hz for s in states[1:] if s.sm_clock_hz is not None]
        return Timing(
            samples_s=tuple(samples),
            before=states[0],
            after=states[-1],
            throttles=tuple(dict.fromkeys(text for state in states for text in state.throttles)),
            sm_clock_hz=sum(clocks) / len(clocks) if clocks else None,
        )

    def _row(
        self, work: Work, count: int, before: Work | None, *, leads: bool
    ) -> list[tuple[Mark, Mark]]:
        """Samples in a row; where one ``leads`` that is not timed, it finds what has idled."""
        if leads:
            (before or self._hold)()
            work()
        pairs = []
        for _ in range(count):
            if before is not None:
                before()
            start = self._card.mark()
            work()
            pairs.append((start, self._card.mark()))
        return pairs

    def _warm_up(self, work: Work, sampling: Sampling) -> float:
        """Run until the warm-up is over; seconds of one piece of work, flushes included."""
        spent, count, batch = 0.0, 0, 1
        least_s, began_s = sampling.warmup_s, monotonic()
        if sampling.rest_s:  # the first sample is to find a card that has rested, too
            for _ in range(ceil(least_s / (_WAKE_NS * 1e-9))):
                self._wake()
            least_s = 0.0
        # by the host's clock, too: what Python code does elsewhere the card's marks do not see
        while count < 3 or max(spent, monotonic() - began_s) < least_s:
            start = self._card.mark()
            for _ in range(batch):
                if sampling.cold:
                    self.flush()
                work()
            spent += self._card.seconds(start, self._card.mark())
            count += batch
            batch = min(2 * batch, 64)
            if spent > sampling.most_seconds:
                break
        return spent / count
