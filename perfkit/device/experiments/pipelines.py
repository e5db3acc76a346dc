"""Copies and kernels on the card, issued as pipelines are and timed by its events.

All work of a measurement is issued behind a kernel that spins, so that the time of the calls does
not count; memory of the host is pinned, as pageable copies take what the CPU gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.device.backend import launch_1d, part
from perfkit.device.program import build
from perfkit.device.streams import Turns
from perfkit.models.engines import Plan, Stage, calls

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Mark, Stream

MIB: Final = 1 << 20
WHOLE: Final = 256 * MIB  #: of a pipeline, in each direction
GATE_NS: Final = 5_000_000  #: longer than it takes to issue a pipeline
_LINK: Final = 64 * MIB  #: to measure the link with, in each direction
_PARTS: Final = 4  #: of them, copied both ways at once
#: what the link's rates may differ by and be the same
_STEADY: Final = 0.05


class Costs(NamedTuple):
    """What copies and kernels take beside their work, in seconds."""

    copy_s: float
    kernel_s: float
    handoff_s: float


class Link(NamedTuple):
    """The link at the time of a pipeline."""

    h2d_bytes_per_s: float
    d2h_bytes_per_s: float
    duplex_share: float

    def is_like(self, other: Link) -> bool:
        return all(abs(a / b - 1) <= _STEADY for a, b in zip(self, other, strict=True))


class Bench:
    """Streams, buffers and a kernel that spins."""

    def __init__(self, card: Card, *, streams: int, repeats: int) -> None:
        self._card, self._repeats = card, repeats
        self.streams = [card.stream() for _ in range(streams)]
        self._gate, self._turns = card.stream(), Turns(card)
        self._device = card.allocate(WHOLE)
        self._inwards, self._outwards = card.allocate_pinned(WHOLE), card.allocate_pinned(WHOLE)
        (self._hold,) = build(card, "between.cu", ["hold"])

    def spin(self, ns: float, stream: Stream) -> None:
        """A kernel that fills the GPU, so that no other runs beside it."""
        import numpy as np

        launch = launch_1d(2 * self._card.device.sm_count, 1024)
        self._card.launch(self._hold, launch, (np.uint64(int(ns)),), stream)

    def copy(self, stage: Stage, start: int, size: int, stream: Stream) -> None:
        """Some bytes to the card or back."""
        host = self._inwards if stage is Stage.H2D else self._outwards
        ends = [part(memory, start, size) for memory in (self._device, host)]
        to, source = ends if stage is Stage.H2D else reversed(ends)
        self._card.copy(to, source, size, stream)

    def timed(
        self,
        issue: Callable[[], None],
        used: int,
        *,
        until: Stream | None = None,
        repeats: int | None = None,
        in_turn: bool = False,
    ) -> float:
        """Seconds from the end of a spinning kernel to the end of all that ``issue`` issues.

        With ``until`` only to the end of that stream's part of it; ``in_turn`` streams begin one
        after the other, at once otherwise.
        """
        found = []
        for _ in range(repeats or self._repeats):
            self._card.wait()
            self.spin(GATE_NS, self._gate)
            start = self._card.mark(self._gate)
            let_go = self._turns.let_go if in_turn else self._at_once
            let_go(self.streams[:used], start)
            issue()
            last = self.streams[:used] if until is None else [until]
            ends = [self._card.mark(stream) for stream in last]
            found.append(max(self._card.seconds(start, end) for end in ends))
        return median(found)

    def _at_once(self, streams: Sequence[Stream], start: Mark) -> None:
        for stream in streams:
            self._card.follow(stream, start)


def link(bench: Bench, costs: Costs) -> Link:
    """The rates of the link now."""
    first, second = bench.streams[:2]
    size = _LINK // _PARTS

    def one_way(stage: Stage) -> float:
        seconds = bench.timed(lambda: bench.copy(stage, 0, _LINK, first), 1, repeats=3)
        return _LINK / (seconds - costs.copy_s)

    def both() -> None:
        for number in range(_PARTS):
            bench.copy(Stage.H2D, number * size, size, first)
            bench.copy(Stage.D2H, _LINK + number * size, size, second)

    there, back = one_way(Stage.H2D), one_way(Stage.D2H)
    together = _LINK / (bench.timed(both, 2, repeats=3) - _PARTS * costs.copy_s)
    return Link(there, back, together / min(there, back))


def costs(bench: Bench) -> Costs:
    kernel_s, handoff_s = _kernels(bench)
    return Costs(copy_s=_copy_cost(bench), kernel_s=kernel_s, handoff_s=handoff_s)


def _copy_cost(bench: Bench) -> float:
    """What a copy takes beside its bytes, from copies of many sizes."""
    sizes = [4096, *(MIB << shift for shift in range(9))]
    stream, times = bench.streams[0], []
    for size in sizes:
        count = max(1, min(16, 64 * MIB // size))

        def issue(size: int = size, count: int = count) -> None:
            for _ in range(count):
                bench.copy(Stage.H2D, 0, size, stream)

        times.append(bench.timed(issue, 1) / count)
    return max(_intercept(sizes, times), 0.0)


def _intercept(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Of a line, by least squares of relative errors."""
    import numpy as np

    x, y = np.array(xs, float), np.array(ys)
    design: Any = np.stack([1 / y, x / y], axis=1)
    (fixed, _), *_ = np.linalg.lstsq(design, np.ones_like(y), rcond=None)
    return float(fixed)


def _kernels(bench: Bench) -> tuple[float, float]:
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


def pipeline(bench: Bench, plan: Plan, kernel_s: float) -> float:
    """The measured time of one plan over ``WHOLE`` bytes in each direction."""
    issued = calls(plan)
    size = WHOLE // plan.chunks

    def issue() -> None:
        for chunk, stage, number in issued:
            stream = bench.streams[number]
            if stage is Stage.KERNEL:
                bench.spin(kernel_s / plan.chunks * 1e9, stream)
            else:
                bench.copy(stage, chunk * size, size, stream)

    return bench.timed(issue, 1 + max(call.stream for call in issued), in_turn=True)
