"""Python code that launches work on the card, timed: torch, cupy, numba, triton, cuBLAS, cuDNN."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perfkit.device.backend import Card
    from perfkit.device.timing import Sampling, Stopwatch

#: by the host's clock it takes this much longer than by marks: the work went elsewhere
_ELSEWHERE: Final = 1.5
_HOST_SLACK_S: Final = 1e-4
_TRIALS: Final = 5


def time_callable(
    card: Card, stopwatch: Stopwatch, work: Callable[[], Any], sampling: Sampling
) -> dict[str, Any]:
    """One run of ``work``, by marks in the legacy default stream.

    Work in streams that do not wait for that one, or that is not of this card, would go unseen:
    where the host waits much longer than the marks say, the host's clock counts.

    Args:
        card: opened with ``legacy``.
        stopwatch: of that card.
        work: enqueues something; may wait for it or not.
        sampling: as for a kernel.
    """
    work()
    card.wait()
    timing = stopwatch.time(_silent(work), sampling)
    by_host = median(_by_host(card, work) for _ in range(_TRIALS))
    elsewhere = by_host > _ELSEWHERE * timing.median_s + _HOST_SLACK_S
    if elsewhere:
        count = max(3, min(sampling.samples, int(sampling.most_seconds / by_host)))
        samples = []
        for _ in range(count):
            if sampling.rest_s:
                stopwatch.rest(sampling.rest_s, timing.before.sm_clock_hz)
                work()
            if sampling.cold:
                stopwatch.flush()
            samples.append(_by_host(card, work))
        timing = replace(timing, samples_s=tuple(samples))
    return {**asdict(timing), "by_host": elsewhere}


def _silent(work: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        work()

    return run


def _by_host(card: Card, work: Callable[[], Any]) -> float:
    card.wait()
    start = time.perf_counter()
    work()
    card.wait()
    return time.perf_counter() - start
