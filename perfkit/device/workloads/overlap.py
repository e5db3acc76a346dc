"""Copies that hide behind kernels: pinned memory, streams and chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import launch_1d, part
from perfkit.device.streams import Turns
from perfkit.device.workload import (
    Array,
    Arrays,
    Case,
    Code,
    Program,
    Role,
    Sizes,
    Staged,
    Workload,
)
from perfkit.errors import UsageError
from perfkit.models.engines import Plan, Times
from perfkit.models.overlap import HANDOFF_S, Work, schedule

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Function, Memory


_BLOCKS: Final = 4096
_MOST_STREAMS: Final = 32


def _chunked(sizes: Sizes) -> Case:
    n, chunks, streams, steps = (sizes[name] for name in ("n", "chunks", "streams", "steps"))
    if n % chunks or n // chunks >= 2**31:
        raise UsageError(f"n, chunks = {n}, {chunks}: takes equal chunks of less than 2**31")
    if streams > _MOST_STREAMS:
        raise UsageError(f"streams = {streams}: at most {_MOST_STREAMS}")
    launch = launch_1d(min(_BLOCKS, -(-n // chunks // sizes["threads"])), sizes["threads"])

    moved = 4 * n
    return Case(
        code=Code(kernel="chunk_steps", file="overlap.cu"),
        launch=launch,
        arrays=(
            Array(name="from", dtype="f32", count=n),
            Array(name="in", dtype="f32", count=n, role=Role.INOUT),
            Array(name="out", dtype="f32", count=n, role=Role.INOUT),
            Array(name="to", dtype="f32", count=n, role=Role.OUT),
        ),
        arguments=(),
        demand=Demand(
            # the copies read and write DRAM as well
            read_bytes=2 * moved,
            write_bytes=2 * moved,
            flow=Flow(flops=2 * n * steps),
        ),
        reference=partial(_right, steps),
        tolerance=1e-5,
        staged=Staged(
            program=_pipeline(n, chunks, streams, steps, launch),
            stages=_stages(n, chunks, steps, launch),
            predict=partial(_predicted, chunks, streams),
            least=_least,
            pinned=("from", "to"),
        ),
    )


def _right(steps: int, given: Arrays) -> Arrays:
    import numpy as np

    v = given["from"].astype(np.float64)
    for _ in range(steps):
        v = v * np.float64(np.float32(0.999)) + 2.0**-6
    return {"to": v}


def _predicted(chunks: int, streams: int, alone: Mapping[str, float]) -> float:
    """The pipeline of the stages as each took alone, its fixed costs included."""
    there, back = alone["to card"], alone["from card"]
    work = Work(
        whole_s=Times(there, alone["kernel"], back),
        handoff_s=HANDOFF_S,
        duplex_share=min(1.0, max(there, back) / alone["both ways"]),
    )
    return schedule(work, Plan(chunks=chunks, streams=min(streams, chunks))).makespan_s


def _least(alone: Mapping[str, float]) -> float:
    """No stage is faster among others than alone."""
    return max(alone[name] for name in ("to card", "kernel", "from card"))


def _chunk(n: int, chunks: int, number: int) -> tuple[int, int]:
    """Where a chunk begins and how long it is, in bytes."""
    size = 4 * (n // chunks)
    return number * size, size


def _launch(
    card: Card, function: Function, launch: Any, places: tuple[Any, Any], steps: int, stream: Any
) -> None:
    import numpy as np

    source, to = places
    values = (source, to, np.int32(source.size_bytes // 4), np.int32(steps))
    card.launch(function, launch, values, stream)


def _pipeline(n: int, chunks: int, streams: int, steps: int, launch: Any) -> Program:
    """Each chunk goes there, through the kernel and back, in one of the streams."""

    def program(card: Card, function: Function, memory: Mapping[str, Memory]) -> Callable[[], None]:
        lanes, turns = [card.stream() for _ in range(min(streams, chunks))], Turns(card)

        def work() -> None:
            turns.let_go(lanes, card.mark())
            for number in range(chunks):
                lane = lanes[number % len(lanes)]
                at = {name: part(one, *_chunk(n, chunks, number)) for name, one in memory.items()}
                card.copy(at["in"], at["from"], at["in"].size_bytes, lane)
                _launch(card, function, launch, (at["in"], at["out"]), steps, lane)
                card.copy(at["to"], at["out"], at["to"].size_bytes, lane)
            for lane in lanes:
                card.follow(None, card.mark(lane))

        return work

    return program


def _copies(n: int, chunks: int, *ways: tuple[str, str]) -> Program:
    """Chunks from the second array of each way to the first, the ways at the same time."""

    def program(card: Card, _: Function, memory: Mapping[str, Memory]) -> Callable[[], None]:
        lanes = [card.stream() for _ in ways[1:]]

        def work() -> None:
            start = card.mark()
            for lane in lanes:
                card.follow(lane, start)
            for number in range(chunks):
                for lane, (to, source) in zip([None, *lanes], ways, strict=True):
                    begin, size = _chunk(n, chunks, number)
                    here = part(memory[source], begin, size)
                    card.copy(part(memory[to], begin, size), here, size, lane)
            for lane in lanes:
                card.follow(None, card.mark(lane))

        return work

    return program


def _stages(n: int, chunks: int, steps: int, launch: Any) -> Mapping[str, Program]:
    """The stages alone, chunk by chunk, so that what each chunk costs is in them."""

    def kernels(card: Card, function: Function, memory: Mapping[str, Memory]) -> Callable[[], None]:
        def work() -> None:
            for number in range(chunks):
                begin, size = _chunk(n, chunks, number)
                source, to = (part(memory[name], begin, size) for name in ("in", "out"))
                _launch(card, function, launch, (source, to), steps, None)

        return work

    return {
        "to card": _copies(n, chunks, _THERE),
        "kernel": kernels,
        "from card": _copies(n, chunks, _BACK),
        "both ways": _copies(n, chunks, _THERE, _BACK),
    }


_THERE: Final = ("in", "from")
_BACK: Final = ("to", "out")

WORKLOADS: Final = (
    Workload(
        name="overlap",
        group="overlap",
        summary="copies in chunks that hide behind a kernel",
        sizes={"n": 2**25, "chunks": 8, "streams": 3, "steps": 2048, "threads": 256},
        size="n",
        checks=({"n": 2**16, "chunks": 4, "steps": 5},),
        build=_chunked,
    ),
)
