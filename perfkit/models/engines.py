"""The engines of a GPU at work on a pipeline: which operation runs when, one by one.

* An operation is ready when the one before it in its stream has ended, ``handoff_s`` ago where that
  was on another engine, and the host has issued it.
* An engine does one thing at a time and takes what has been ready longest (``queue="ready"``), or
  strictly what was issued first (``queue="in-order"``, as before Hyper-Q).
* Copies go at ``duplex_share`` of their rate while the link is in use in both directions.
* The host issues at once, except that it waits for the end of every pageable copy.

Formula:
    start = max(end before it in its stream [+ handoff], issued, end before it on its engine)
    end   = start + duration [/ duplex_share while copies go both ways]

Units: seconds.

Source: S. Rennich, CUDA C/C++ Streams and Concurrency (NVIDIA, 2011) for engines and queues; CUDA
C++ Best Practices Guide, Asynchronous and Overlapping Transfers, for pinned memory; one H200 for
``ready`` queues, handing over and both directions at once, see docs/validation. The example is the
blog's for a card with one copy engine: issued breadth-first the copies back wait for all others.

Valid: where the kernel of one chunk fills the GPU, so that kernels of two streams do not share it.

>>> from perfkit.models.engines import Plan, Simulation, Times
>>> plan = Plan(chunks=4, copy_engines=1, order="breadth-first", queue="in-order")
>>> spans = list(Simulation(Times(1.0, 1.0, 1.0), plan, handoff_s=0.0, duplex_share=1.0).run())
>>> max(span.end_s for span in spans)
8.0
"""

from __future__ import annotations

import heapq
from collections import deque
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

Order = Literal["depth-first", "breadth-first"]
Queue = Literal["ready", "in-order"]

#: the engine that copies in both directions
COPY: Final = "copy"


class Stage(StrEnum):
    """What happens to a chunk, in this order."""

    H2D = "h2d"
    KERNEL = "kernel"
    D2H = "d2h"


class Times(NamedTuple):
    """Seconds by stage; 0 leaves a stage out."""

    h2d: float
    kernel: float
    d2h: float

    def by_stage(self) -> dict[Stage, float]:
        return {stage: time for stage, time in zip(Stage, self, strict=True) if time > 0}


@record
class Plan:
    """How the work is issued, and to what."""

    chunks: int = 1
    streams: int | None = None  #: None: one for each chunk
    copy_engines: int = 2
    pinned: bool = True
    order: Order = "depth-first"
    queue: Queue = "ready"


class Span(NamedTuple):
    """One operation on one engine."""

    chunk: int
    stage: Stage
    engine: str  #: h2d, kernel, d2h, or copy where one engine has both directions
    start_s: float
    end_s: float


class _Operation(NamedTuple):
    number: int  #: in the order of the host's calls
    chunk: int
    stage: Stage
    stream: int
    engine: str
    duration_s: float


class Call(NamedTuple):
    """One thing that the host issues."""

    chunk: int
    stage: Stage
    stream: int


def calls(plan: Plan) -> list[Call]:
    """All of them, in the order in which the host issues them.

    >>> [f"{call.chunk} {call.stage}" for call in calls(Plan(chunks=2, order="breadth-first"))]
    ['0 h2d', '1 h2d', '0 kernel', '1 kernel', '0 d2h', '1 d2h']
    """
    streams = min(plan.streams or plan.chunks, plan.chunks)
    chunks = range(plan.chunks)
    if plan.order == "depth-first":
        pairs = [(chunk, stage) for chunk in chunks for stage in Stage]
    else:  # stage by stage, for as many chunks as there are streams
        rounds = [chunks[first : first + streams] for first in chunks[::streams]]
        pairs = [(chunk, stage) for some in rounds for stage in Stage for chunk in some]
    return [Call(chunk, stage, chunk % streams) for chunk, stage in pairs]


def _operations(part: Times, plan: Plan) -> Iterator[_Operation]:
    """Those calls that take time, with their engines."""
    times = part.by_stage()
    timed = [call for call in calls(plan) if call.stage in times]
    for number, (chunk, stage, stream) in enumerate(timed):
        shared = plan.copy_engines == 1 and stage is not Stage.KERNEL
        engine = COPY if shared else stage.value
        yield _Operation(number, chunk, stage, stream, engine, times[stage])


class _Engine:
    """What an engine is doing, and what waits for it."""

    __slots__ = ("issued", "left_s", "running", "started", "started_s", "waiting")

    def __init__(self) -> None:
        self.running: _Operation | None = None
        self.started_s = 0.0
        self.left_s = 0.0  #: of what is running, at full rate
        self.issued = self.started = 0
        #: turn, operation, time when it is ready; what is taken first on top
        self.waiting: list[tuple[float, _Operation, float]] = []


class _Stream:
    """What is issued to a stream and has not ended, with its turn and the time of the call."""

    __slots__ = ("free_s", "last", "queue")

    def __init__(self) -> None:
        self.free_s = 0.0
        self.last: str | None = None  #: engine of what ended last
        self.queue: deque[tuple[_Operation, int, float]] = deque()


class Simulation:
    """Engines, streams and the host, from one event to the next."""

    def __init__(self, part: Times, plan: Plan, *, handoff_s: float, duplex_share: float) -> None:
        self._plan = plan
        self._handoff_s = handoff_s
        self._duplex_share = duplex_share
        operations = list(_operations(part, plan))
        self._calls = iter(operations)
        self._engines = {operation.engine: _Engine() for operation in operations}
        self._streams = {operation.stream: _Stream() for operation in operations}

    def run(self) -> Iterator[Span]:
        """The operations in the order in which they end."""
        now = 0.0
        self._issue(now)
        while True:
            self._start(now)
            step = self._until_next(now)
            if step is None:
                return
            now += step
            yield from self._advance(now, step)

    def _keeps_host(self, operation: _Operation) -> bool:
        return not self._plan.pinned and operation.stage is not Stage.KERNEL

    def _issue(self, now: float) -> None:
        """The host's calls, up to the next one that keeps it waiting."""
        for operation in self._calls:
            engine, stream = self._engines[operation.engine], self._streams[operation.stream]
            stream.queue.append((operation, engine.issued, now))
            engine.issued += 1
            if len(stream.queue) == 1:
                self._enter(stream)
            if self._keeps_host(operation):
                return

    def _enter(self, stream: _Stream) -> None:
        """Let the first operation of a stream wait for its engine."""
        operation, issue, issued_s = stream.queue[0]
        handed_over = stream.last not in {None, operation.engine}
        ready_s = max(issued_s, stream.free_s + (self._handoff_s if handed_over else 0.0))
        turn = issue if self._plan.queue == "in-order" else ready_s
        heapq.heappush(self._engines[operation.engine].waiting, (turn, operation, ready_s))

    def _startable(self, engine: _Engine) -> float | None:
        """When an idle engine can start something; None: it works, or waits for its turn."""
        if engine.running is not None or not engine.waiting:
            return None
        turn, _, ready_s = engine.waiting[0]
        in_turn = self._plan.queue == "ready" or turn == engine.started
        return ready_s if in_turn else None

    def _start(self, now: float) -> None:
        for engine in self._engines.values():
            ready_s = self._startable(engine)
            if ready_s is not None and ready_s <= now:
                _, engine.running, _ = heapq.heappop(engine.waiting)
                engine.started += 1
                engine.started_s, engine.left_s = now, engine.running.duration_s

    def _speed(self, name: str) -> float:
        both = (self._engines.get(Stage.H2D), self._engines.get(Stage.D2H))
        slowed = name != Stage.KERNEL and all(one and one.running for one in both)
        return self._duplex_share if slowed else 1.0

    def _until_next(self, now: float) -> float | None:
        """Time to the next end or the next start; None: all is done."""
        ends = [one.left_s / self._speed(k) for k, one in self._engines.items() if one.running]
        ready = [time for one in self._engines.values() if (time := self._startable(one))]
        return min([*ends, *(time - now for time in ready)], default=None)

    def _advance(self, now: float, step: float) -> Iterator[Span]:
        """Let ``step`` pass; what ends makes room in its stream."""
        for name, speed in {name: self._speed(name) for name in self._engines}.items():
            engine, operation = self._engines[name], self._engines[name].running
            if operation is None:
                continue
            engine.left_s -= step * speed
            if engine.left_s > 1e-9 * operation.duration_s:
                continue
            engine.running = None
            yield Span(operation.chunk, operation.stage, name, engine.started_s, now)
            stream = self._streams[operation.stream]
            stream.queue.popleft()
            stream.free_s, stream.last = now, name
            if stream.queue:
                self._enter(stream)
            if self._keeps_host(operation):
                self._issue(now)
