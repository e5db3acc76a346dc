"""The engines of a GPU at work on a pipeline: which operation runs when, one by one.

* An operation is ready when the one before it in its stream has ended and the host has issued it.
* An engine does one thing at a time and takes what has been ready longest (``queue="ready"``), or
  strictly what was issued first (``queue="in-order"``, as before Hyper-Q).
* The host issues at once, except that it waits for the end of every pageable copy.

Source: S. Rennich, CUDA C/C++ Streams and Concurrency (NVIDIA, 2011) for engines and queues; CUDA
C++ Best Practices Guide, Asynchronous and Overlapping Transfers, for pinned memory. Valid where a
kernel of one chunk fills the GPU, so that kernels of two streams do not share it.
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
    """How the work is issued."""

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


def _calls(part: Times, plan: Plan) -> Iterator[_Operation]:
    """All operations in the order in which the host issues them."""
    streams = min(plan.streams or plan.chunks, plan.chunks)
    chunks = range(plan.chunks)
    if plan.order == "depth-first":
        pairs = [(chunk, stage) for chunk in chunks for stage in Stage]
    else:  # stage by stage, for as many chunks as there are streams
        rounds = [chunks[first : first + streams] for first in chunks[::streams]]
        pairs = [(chunk, stage) for some in rounds for stage in Stage for chunk in some]
    times = part.by_stage()
    for number, (chunk, stage) in enumerate(pair for pair in pairs if pair[1] in times):
        shared = plan.copy_engines == 1 and stage is not Stage.KERNEL
        engine = COPY if shared else stage.value
        yield _Operation(number, chunk, stage, chunk % streams, engine, times[stage])


class _Engine:
    """What waits for an engine, what it takes first on top, and when it is free."""

    __slots__ = ("free_s", "issued", "started", "waiting")

    def __init__(self) -> None:
        self.free_s = 0.0
        self.issued = self.started = 0
        self.waiting: list[tuple[float, _Operation, float]] = []  #: turn, operation, ready_s


class _Stream:
    """What is issued to a stream and has not ended, with the time of the call."""

    __slots__ = ("free_s", "queue")

    def __init__(self) -> None:
        self.free_s = 0.0
        self.queue: deque[tuple[_Operation, int, float]] = deque()  #: operation, turn, issued_s


class Machine:
    """Engines, streams and the host, from one start of an operation to the next.

    The operation that can start earliest is always settled next: what becomes ready later does so
    at the end of an operation that starts no earlier.
    """

    def __init__(self, part: Times, plan: Plan) -> None:
        self._plan = plan
        operations = list(_calls(part, plan))
        self._calls = iter(operations)
        self._engines = {operation.engine: _Engine() for operation in operations}
        self._streams = {operation.stream: _Stream() for operation in operations}

    def run(self) -> Iterator[Span]:
        """The operations in the order in which they start."""
        self._issue(0.0)
        while (found := self._first()) is not None:
            start, operation = found
            end = start + operation.duration_s
            engine = self._engines[operation.engine]
            heapq.heappop(engine.waiting)
            engine.started += 1
            engine.free_s = end
            stream = self._streams[operation.stream]
            stream.queue.popleft()
            stream.free_s = end
            self._enter(stream)
            if self._keeps_host(operation):
                self._issue(end)
            yield Span(operation.chunk, operation.stage, operation.engine, start, end)

    def _keeps_host(self, operation: _Operation) -> bool:
        return not self._plan.pinned and operation.stage is not Stage.KERNEL

    def _issue(self, now_s: float) -> None:
        """The host's calls, up to the next one that keeps it waiting."""
        for operation in self._calls:
            engine, stream = self._engines[operation.engine], self._streams[operation.stream]
            stream.queue.append((operation, engine.issued, now_s))
            engine.issued += 1
            if len(stream.queue) == 1:
                self._enter(stream)
            if self._keeps_host(operation):
                return

    def _enter(self, stream: _Stream) -> None:
        """Let the first operation of a stream wait for its engine."""
        if stream.queue:
            operation, issue, issued_s = stream.queue[0]
            ready_s = max(issued_s, stream.free_s)
            turn = issue if self._plan.queue == "in-order" else ready_s
            heapq.heappush(self._engines[operation.engine].waiting, (turn, operation, ready_s))

    def _first(self) -> tuple[float, _Operation] | None:
        """What can start earliest, and when."""
        found = []
        for engine in self._engines.values():
            if engine.waiting:
                turn, operation, ready_s = engine.waiting[0]
                if self._plan.queue == "ready" or turn == engine.started:
                    found.append((max(engine.free_s, ready_s), operation))
        return min(found, default=None)
