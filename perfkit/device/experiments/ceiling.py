"""How a ceiling is found: the best of all ways to drive one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.timing import Sampling, Stopwatch, Timing
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.backend import Card


class Way(NamedTuple):
    """One way to drive something: a name, the work, and how much it moves or computes."""

    how: str
    work: Callable[[], None]
    amount: float


@record
class Bench:
    """What an experiment works with."""

    card: Card
    stopwatch: Stopwatch
    quick: bool = False


_FIRST_LOOK = Sampling(samples=5, cold=False, warmup_s=0.005, most_seconds=1)
_FINAL = Sampling(samples=25, cold=False, warmup_s=0.05, most_seconds=2)
#: a loop of milliseconds that draws all the power there is
_RESTED = Sampling(samples=9, cold=False, warmup_s=0.05, most_seconds=2, rest_s=0.1)
_FINALISTS = 3


def best(bench: Bench, ways: Iterable[Way], long: Sampling = _FINAL) -> tuple[Way, Timing, int]:
    """The way with the highest rate: a short look at each, then a long one at the best three."""
    looked = []
    for way in ways:
        timing = bench.stopwatch.time(way.work, _FIRST_LOOK)
        looked.append((way.amount / timing.median_s, way))
    looked.sort(key=lambda pair: -pair[0])
    final = [(way, bench.stopwatch.time(way.work, long)) for _, way in looked[:_FINALISTS]]
    way, timing = max(final, key=lambda pair: pair[0].amount / pair[1].median_s)
    return way, timing, len(looked)


def rate(
    bench: Bench,
    group: str,
    name: str,
    unit: str,
    ways: Iterable[Way],
    *,
    dtype: str | None = None,
    accumulate: str | None = None,
    compute_unit: str | None = None,
    rests: bool = False,
) -> Ceiling:
    """The best rate over all ways, in ``unit``; with ``rests`` of a card that has rested."""
    way, timing, tried = best(bench, ways, _RESTED if rests else _FINAL)
    rested = f", bursts after {_RESTED.rest_s:g} s of rest" if rests else ""
    return Ceiling(
        group=group,
        name=name,
        value=way.amount / timing.median_s,
        unit=unit,
        how=way.how + rested,
        tried=tried,
        median_of=len(timing.samples_s),
        sm_clock_hz=timing.sm_clock_hz,
        throttles=timing.throttles,
        dtype=dtype,
        accumulate=accumulate,
        compute_unit=compute_unit,
    )
