"""The time of one call of a function, by the clock of the host."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: a sample is at least that long, so that the clock does not matter
_SAMPLE_S: Final = 1e-3
_MOST_CALLS: Final = 1_000_000


def seconds_per_call(
    function: Callable[[], object], samples: int, sync: Callable[[], object] | None = None
) -> tuple[float, ...]:
    """So many samples, each of as many calls as a millisecond takes, in seconds per call.

    ``sync`` is called before each reading of the clock.
    """
    function()
    calls = _calls(function, sync)
    return tuple(_sample(function, sync, calls) / calls for _ in range(samples))


def _sample(function: Callable[[], object], sync: Callable[[], object] | None, calls: int) -> float:
    if sync is not None:
        sync()
    start = perf_counter()
    for _ in range(calls):
        function()
    if sync is not None:
        sync()
    return perf_counter() - start


def _calls(function: Callable[[], object], sync: Callable[[], object] | None) -> int:
    """How many calls take about a millisecond."""
    calls = 1
    while calls < _MOST_CALLS:
        taken = _sample(function, sync, calls)
        if taken >= _SAMPLE_S:
            return calls
        calls = min(_MOST_CALLS, max(2 * calls, int(calls * _SAMPLE_S / max(taken, 1e-9))))
    return calls
