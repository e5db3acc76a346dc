"""Copies between host and card, and what a launch takes by itself.

Pageable copies go through the driver's own buffers and hold the calling thread, so they are timed
by the host's clock; everything else by events of the card.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Final

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.ceiling import Bench, Way, rate
from perfkit.device.experiments.issue import SOURCE
from perfkit.device.program import build
from perfkit.device.timing import Sampling

_BYTES: Final = 256 * 2**20
_REPEATS: Final = 9
_LAUNCHES: Final = 1000


def transfer(bench: Bench) -> Iterator[Ceiling]:
    """Both directions, pinned and pageable, and both at once."""
    import numpy as np

    card = bench.card
    there, back = card.allocate(_BYTES), card.allocate(_BYTES)
    pinned, other = card.allocate_pinned(_BYTES), card.allocate_pinned(_BYTES)
    for name, to, source in (("h2d pinned", there, pinned), ("d2h pinned", pinned, there)):
        ways = [
            Way(f"one copy of {size >> 20} MiB", partial(card.copy, to, source, size, None), size)
            for size in (_BYTES // 4, _BYTES)
        ]
        yield rate(bench, "transfer", name, "bytes_per_s", ways)
    inwards, outwards = card.stream(), card.stream()

    def both() -> None:
        start = card.mark()
        for stream, to, source in ((inwards, there, pinned), (outwards, other, back)):
            card.follow(stream, start)
            card.copy(to, source, _BYTES, stream)
            card.join(card.mark(stream))

    way = Way(f"{_BYTES >> 20} MiB each way", both, 2 * _BYTES)
    yield rate(bench, "transfer", "both ways pinned", "bytes_per_s", [way])
    pageable = np.ones(_BYTES, np.uint8)
    for name, work in (
        ("h2d pageable", partial(card.write, there, pageable)),
        ("d2h pageable", partial(card.read, there, pageable)),
    ):
        seconds = _by_host(bench, work)
        yield Ceiling(
            group="transfer",
            name=name,
            value=_BYTES / seconds,
            unit="bytes_per_s",
            how=f"one copy of {_BYTES >> 20} MiB",
            tried=1,
            median_of=_REPEATS,
        )
    for memory in (there, back, pinned, other):
        card.free(memory)


def launch(bench: Bench) -> Iterator[Ceiling]:
    """What an empty kernel takes: on the card, from the call to its end, and of many in a row."""
    card = bench.card
    (nothing,) = build(card, SOURCE, ["nothing"])
    once = card.prepare(nothing, launch_1d(1, 32), ())
    timing = bench.stopwatch.time(once, Sampling(cold=False))
    yield Ceiling(
        group="launch",
        name="empty kernel",
        value=timing.median_s,
        unit="s",
        how="between the marks that time any kernel, the launch in the queue",
        tried=1,
        median_of=len(timing.samples_s),
        sm_clock_hz=timing.sm_clock_hz,
        throttles=timing.throttles,
    )

    def alone() -> None:
        once()
        card.wait()

    def row() -> None:
        for _ in range(_LAUNCHES):
            once()
        card.wait()

    for name, work, count in (("launch and wait", alone, 1), ("launches in a row", row, _LAUNCHES)):
        yield Ceiling(
            group="launch",
            name=name,
            value=_by_host(bench, work) / count,
            unit="s",
            how="an empty kernel, through perfkit's own launcher in Python",
            tried=1,
            median_of=_REPEATS,
        )


def _by_host(bench: Bench, work: Callable[[], None]) -> float:
    """Median seconds of ``work``, which waits for its own end."""
    found = []
    for _ in range(_REPEATS + 1):
        bench.card.wait()
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return median(found[1:])
