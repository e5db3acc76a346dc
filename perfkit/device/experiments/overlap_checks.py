"""Pipelines of copies and kernels on the card, against ``perfkit.models.overlap``.

What the model takes as given is measured before each third of the pipelines: the rate of each
direction, what a copy and a kernel take beside their work, and what it takes from one engine to the
next. Pipelines have many shapes. All work of a measurement is issued behind a kernel that spins, so
that the time of the calls does not count; memory of the host is pinned, as pageable copies take
what the CPU gives them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.analysis.validation import Pair
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.trial import Ledger
from perfkit.device.program import build
from perfkit.device.streams import let_go
from perfkit.models.engines import Order, Plan, Stage, Times
from perfkit.models.overlap import Work, schedule
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.validation import Tally
    from perfkit.device.backend import Card, Memory, Stream
    from perfkit.device.experiments.trial import Trial

_MIB: Final = 1 << 20
_WHOLE: Final = 256 * _MIB  #: in each direction
_CHUNKS: Final = (1, 2, 4, 8, 16, 32, 64)
_STREAMS: Final = (1, 2, 3, None)
_KERNELS_S: Final = (1e-3, 5e-3, 20e-3)
_ORDERS: Final[tuple[Order, ...]] = ("depth-first", "breadth-first")
_PARTS: Final = 16  #: of all bytes, copied both ways at once
_GATE_NS: Final = 5_000_000  #: longer than it takes to issue a pipeline
#: one pipeline
_MOST_OFF: Final = 0.15
#: half, and nine of ten, of all pipelines; the second only of the full mode, the quick one has few
_MEDIAN_OFF: Final = 0.02
_TENTH_OFF: Final = 0.05


@record
class Part:
    """Some bytes within a buffer."""

    address: int
    size_bytes: int


class Given(NamedTuple):
    """What the model takes as given, measured."""

    h2d_bytes_per_s: float
    d2h_bytes_per_s: float
    copy_overhead_s: float
    kernel_overhead_s: float
    handoff_s: float
    duplex_share: float


class _Bench:
    """Streams, buffers and a kernel that spins."""

    def __init__(self, card: Card, repeats: int) -> None:
        self._card, self._repeats = card, repeats
        self.streams = [card.stream() for _ in range(max(_CHUNKS))]
        self._gate = card.stream()
        self._device = card.allocate(_WHOLE)
        self._inwards, self._outwards = card.allocate_pinned(_WHOLE), card.allocate_pinned(_WHOLE)
        (self._hold,) = build(card, "between.cu", ["hold"])

    def spin(self, ns: float, stream: Stream) -> None:
        """A kernel that fills the GPU, so that no other runs beside it."""
        import numpy as np

        launch = launch_1d(2 * self._card.device.sm_count, 1024)
        self._card.launch(self._hold, launch, (np.uint64(int(ns)),), stream)

    def copy(self, stage: Stage, start: int, size: int, stream: Stream) -> None:
        """Some bytes to the card or back."""
        host = self._inwards if stage is Stage.H2D else self._outwards
        ends = [_part(memory, start, size) for memory in (self._device, host)]
        to, source = ends if stage is Stage.H2D else reversed(ends)
        self._card.copy(to, source, size, stream)

    def timed(self, issue: Callable[[], None], used: int, *, until: Stream | None = None) -> float:
        """Seconds from the end of a spinning kernel to the end of all that ``issue`` issues.

        With ``until`` only to the end of that stream's part of it.
        """
        found = []
        for _ in range(self._repeats):
            self._card.wait()
            self.spin(_GATE_NS, self._gate)
            start = self._card.mark(self._gate)
            let_go(self._card, self.streams[:used], start)
            issue()
            last = self.streams[:used] if until is None else [until]
            ends = [self._card.mark(stream) for stream in last]
            found.append(max(self._card.seconds(start, end) for end in ends))
        return median(found)


def _part(memory: Memory, start: int, size: int) -> Part:
    return Part(address=memory.address + start, size_bytes=size)


def overlap(trial: Trial) -> Iterator[Tally]:
    """Measure what is given, then pipelines."""
    bench = _Bench(trial.card, repeats=trial.count(5, 3))
    ledger = Ledger()
    _ready_first(ledger, bench)
    every: list[Given] = []
    engines = trial.card.device.attributes.get("ASYNC_ENGINE_COUNT", 2)
    off: list[float] = []
    for kernel_s in _KERNELS_S:
        given = _given(bench)
        every.append(given)
        for plan in _plans(engines)[:: trial.count(1, 5)]:
            expected = schedule(_work(given, kernel_s), plan).makespan_s
            found = _pipeline(bench, plan, kernel_s)
            off.append(abs(expected / found - 1))
            text = (
                f"{plan.chunks} chunks, {plan.streams or plan.chunks} streams, {plan.order}, "
                f"kernel {kernel_s * 1e3:g} ms"
            )
            predicted, measured = (f"{seconds * 1e3:.3f} ms" for seconds in (expected, found))
            pair = Pair(what="time", predicted=expected, measured=found, unit="s")
            ledger.compare(predicted, measured, text, agrees=off[-1] <= _MOST_OFF, pair=pair)
        yield ledger.tally()
    _say_given(ledger, every)
    _together(ledger, off, judge_tenth=not trial.quick)
    ledger.figures["largest deviation"] = f"{max(off):.2%}"
    yield ledger.tally()


def _say_given(ledger: Ledger, every: Sequence[Given]) -> None:
    """What the model took as given: medians of all times that it was measured."""
    middle = Given(*(median(values) for values in zip(*every, strict=True)))
    ledger.figures |= {
        "to the card, GB/s": round(middle.h2d_bytes_per_s / 1e9, 1),
        "back, GB/s": round(middle.d2h_bytes_per_s / 1e9, 1),
        "share of that both ways at once": round(middle.duplex_share, 3),
        "a copy beside its bytes, µs": round(middle.copy_overhead_s * 1e6, 2),
        "a kernel beside its work, µs": round(middle.kernel_overhead_s * 1e6, 2),
        "from one engine to the next, µs": round(middle.handoff_s * 1e6, 2),
    }


def _together(ledger: Ledger, off: Sequence[float], *, judge_tenth: bool) -> None:
    """How far off half, and nine of ten, of the pipelines are."""
    tenth = quantiles(off, n=10)[-1]
    for what, value, most, judged in (
        ("half", median(off), _MEDIAN_OFF, True),
        ("nine of ten", tenth, _TENTH_OFF, judge_tenth),
    ):
        ledger.figures[f"{what} of the pipelines are off by at most"] = f"{value:.2%}"
        if judged:
            ledger.compare(f"at most {most:.0%} off", f"{value:.2%}", what, agrees=value <= most)


def _ready_first(ledger: Ledger, bench: _Bench) -> None:
    """A copy that is issued later but ready earlier goes before one of another stream."""
    first, second = bench.streams[:2]

    def issue() -> None:
        bench.spin(2 * _GATE_NS, first)
        bench.copy(Stage.H2D, 0, _MIB, first)
        bench.copy(Stage.H2D, _MIB, _MIB, second)

    seconds = bench.timed(issue, 2, until=second)
    found = "before" if seconds < _GATE_NS * 1e-9 else "after"
    ledger.compare("before", found, "a copy behind one that waits for another stream's kernel")


def _plans(engines: int) -> list[Plan]:
    return [
        Plan(chunks=chunks, streams=streams, copy_engines=min(engines, 2), order=order)
        for chunks, streams, order in itertools.product(_CHUNKS, _STREAMS, _ORDERS)
        if (streams or 0) <= chunks
    ]


def _work(given: Given, kernel_s: float) -> Work:
    return Work(
        whole_s=Times(_WHOLE / given.h2d_bytes_per_s, kernel_s, _WHOLE / given.d2h_bytes_per_s),
        copy_overhead_s=given.copy_overhead_s,
        launch_overhead_s=given.kernel_overhead_s,
        handoff_s=given.handoff_s,
        duplex_share=min(1.0, given.duplex_share),
    )


def _given(bench: _Bench) -> Given:
    copy_overhead_s, inwards = _copies(bench, Stage.H2D)
    _, outwards = _copies(bench, Stage.D2H)
    part = _WHOLE // _PARTS

    def both() -> None:
        for number in range(2 * _PARTS):
            bench.copy(Stage.H2D, number % _PARTS * part, part, bench.streams[0])
            bench.copy(Stage.D2H, (number + 1) % _PARTS * part, part, bench.streams[1])

    # more than once: an H200 once gave 0.80 of the rate, and 0.92 to the pipelines after that
    together = 2 * _WHOLE / median(bench.timed(both, 2) for _ in range(3))
    kernel_overhead_s, handoff_s = _kernels(bench)
    return Given(
        h2d_bytes_per_s=inwards,
        d2h_bytes_per_s=outwards,
        copy_overhead_s=copy_overhead_s,
        kernel_overhead_s=kernel_overhead_s,
        handoff_s=handoff_s,
        duplex_share=together / inwards,
    )


def _copies(bench: _Bench, stage: Stage) -> tuple[float, float]:
    """What a copy takes beside its bytes, and the rate, from copies of many sizes."""
    sizes = [4096, *(_MIB << shift for shift in range(9))]
    stream, times = bench.streams[0], []
    for size in sizes:
        count = max(1, min(16, 64 * _MIB // size))

        def issue(size: int = size, count: int = count) -> None:
            for _ in range(count):
                bench.copy(stage, 0, size, stream)

        times.append(bench.timed(issue, 1) / count)
    fixed, slope = _line(sizes, times)
    return max(fixed, 0.0), 1 / slope


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Intercept and slope by least squares of relative errors."""
    import numpy as np

    x, y = np.array(xs, float), np.array(ys)
    design: Any = np.stack([1 / y, x / y], axis=1)
    (fixed, slope), *_ = np.linalg.lstsq(design, np.ones_like(y), rcond=None)
    return float(fixed), float(slope)


def _kernels(bench: _Bench) -> tuple[float, float]:
    """What a kernel takes beside its work: after another one, and after a copy."""
    stream, ns, count = bench.streams[0], 50_000, 20

    def kernels() -> None:
        for _ in range(count):
            bench.spin(ns, stream)

    def copies() -> None:
        for _ in range(count):
            bench.copy(Stage.H2D, 0, 4096, stream)

    def chain() -> None:
        for _ in range(count):
            bench.copy(Stage.H2D, 0, 4096, stream)
            bench.spin(ns, stream)

    kernel, copy, both = (bench.timed(work, 1) / count for work in (kernels, copies, chain))
    return max(kernel - ns * 1e-9, 0.0), max((both - copy - kernel) / 2, 0.0)


def _pipeline(bench: _Bench, plan: Plan, kernel_s: float) -> float:
    """The measured time of one plan over ``_WHOLE`` bytes in each direction."""
    streams = min(plan.streams or plan.chunks, plan.chunks)
    size = _WHOLE // plan.chunks
    chunks = range(plan.chunks)
    if plan.order == "depth-first":
        pairs = [(chunk, stage) for chunk in chunks for stage in Stage]
    else:
        rounds = [chunks[first : first + streams] for first in chunks[::streams]]
        pairs = [(chunk, stage) for some in rounds for stage in Stage for chunk in some]

    def issue() -> None:
        for chunk, stage in pairs:
            stream = bench.streams[chunk % streams]
            if stage is Stage.KERNEL:
                bench.spin(kernel_s / plan.chunks * 1e9, stream)
            else:
                bench.copy(stage, chunk * size, size, stream)

    return bench.timed(issue, streams)
