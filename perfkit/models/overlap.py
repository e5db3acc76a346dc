"""Copies and kernels in chunks: how long, how busy each engine is, and how many chunks are best.

``chunks`` equal parts each go to the GPU, through a kernel and back, each in one stream. With an
engine for each direction of copies and pinned memory the time is that of an ideal pipeline; with
anything else it is worked out operation by operation, by the rules of ``models.engines``.

Formula:
    part of a stage = overhead + whole / chunks
    makespan        = sum of one part's stages + (chunks - 1) * the longest of them
    speed-up        = time of the whole in one chunk / makespan

Units: seconds; bytes/s are turned into seconds before.

Source: M. Harris, How to Overlap Data Transfers in CUDA C/C++ (NVIDIA Developer Blog, 2012), whose
timelines come out; 150 pipelines on one H200: half less than 0.3 % off, nine of ten 3 %, see
docs/validation.

Valid: where a part of the kernel takes its share of the whole kernel's time, so still fills the
GPU.

>>> from perfkit.models.engines import Plan, Times
>>> from perfkit.models.overlap import Work, schedule
>>> found = schedule(Work(whole_s=Times(4.0, 4.0, 4.0)), Plan(chunks=4))
>>> found.makespan_s, found.speedup
(6.0, 2.0)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError
from perfkit.models.engines import COPY, Plan, Simulation, Span, Stage, Times
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

#: what one H200 takes beside the work itself, see docs/validation
COPY_OVERHEAD_S: Final = 2.7e-6
LAUNCH_OVERHEAD_S: Final = 1.7e-6
HANDOFF_S: Final = 4.7e-6

#: more parts than anybody wants
MAX_CHUNKS: Final = 4096
#: trying every count up to this one takes a second
MAX_TRIED: Final = 512


@record
class Work:
    """What is to be done in all."""

    whole_s: Times  #: of all bytes at the rate of the link, and of the kernel on all data
    copy_overhead_s: float = 0.0  #: of every copy, however small
    launch_overhead_s: float = 0.0  #: of every kernel
    handoff_s: float = 0.0  #: from the end on one engine to the start on the next, in a stream
    duplex_share: float = 1.0  #: of its rate that a copy keeps while one goes the other way

    def part(self, chunks: int) -> Times:
        """The stages of one of ``chunks`` equal parts."""
        fixed = (self.copy_overhead_s, self.launch_overhead_s, self.copy_overhead_s)
        both = zip(self.whole_s, fixed, strict=True)
        return Times(*(whole / chunks + once if whole > 0 else 0.0 for whole, once in both))


@record
class PipelineSchedule:
    """When every operation runs."""

    plan: Plan
    spans: tuple[Span, ...]
    makespan_s: float
    serial_s: float  #: the whole as one chunk, nothing at the same time
    lower_bound_s: float  #: of every schedule of these parts on these engines

    @property
    def speedup(self) -> float:
        return self.serial_s / self.makespan_s

    def busy_s(self) -> dict[str, float]:
        """Seconds that each engine works, in the order in which data pass them."""
        found: dict[str, float] = {}
        for span in self.spans:
            found[span.engine] = found.get(span.engine, 0.0) + span.end_s - span.start_s
        order = [COPY, *Stage]
        return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def schedule(work: Work, plan: Plan) -> PipelineSchedule:
    """When everything happens.

    Raises:
        UsageError: negative or infinite times, nothing to do, or a plan that cannot be.

    Four equal parts whose stages take 1 s each, as 3 + 3 * 1:

    >>> times = Work(whole_s=Times(4.0, 4.0, 4.0))
    >>> schedule(times, Plan(chunks=4)).makespan_s
    6.0
    """
    _check(work, plan)
    spans = tuple(_spans(work, plan))
    whole = work.part(1)
    return PipelineSchedule(
        plan=plan,
        spans=spans,
        makespan_s=max(span.end_s for span in spans),
        serial_s=sum(whole) + work.handoff_s * (len(whole.by_stage()) - 1),
        lower_bound_s=_lower_bound(work.part(plan.chunks), plan),
    )


def _spans(work: Work, plan: Plan) -> Iterator[Span]:
    simulation = Simulation(
        work.part(plan.chunks), plan, handoff_s=work.handoff_s, duplex_share=work.duplex_share
    )
    return simulation.run()


def best(work: Work, plan: Plan, *, most: int = 128) -> tuple[PipelineSchedule, int]:
    """The chunk count with the least time, at most ``most``; of equals the smallest.

    Returns:
        The schedule, and the smallest count that takes at most 1 % longer.
    """
    if not 1 <= most <= MAX_TRIED:
        raise UsageError(f"chunks = {most}: 1 to {MAX_TRIED} can be tried")
    _check(work, plan)
    counts = range(1, most + 1)
    times = {n: max(span.end_s for span in _spans(work, replace(plan, chunks=n))) for n in counts}
    least = min(counts, key=times.__getitem__)
    enough = next(n for n in counts if times[n] <= 1.01 * times[least])
    return schedule(work, replace(plan, chunks=least)), enough


def fewest_streams(work: Work, plan: Plan, makespan_s: float) -> int:
    """The smallest number of streams that does not make ``plan`` slower than ``makespan_s``.

    Three engines need no more than three streams; what takes more than 32 is not looked for.
    """
    for streams in range(1, min(plan.chunks, 33)):
        if schedule(work, replace(plan, streams=streams)).makespan_s <= makespan_s * (1 + 1e-9):
            return streams
    return plan.chunks


def _check(work: Work, plan: Plan) -> None:
    times = {
        **{f"{stage} time": time for stage, time in zip(Stage, work.whole_s, strict=True)},
        "copy overhead": work.copy_overhead_s,
        "launch overhead": work.launch_overhead_s,
        "time to hand over": work.handoff_s,
    }
    for name, time in times.items():
        if not 0 <= time <= 1e9:  # NaN fails as well
            raise UsageError(f"{name} = {time:g} s: must be finite and not negative")
    if not 0 < work.duplex_share <= 1:
        raise UsageError(f"duplex share = {work.duplex_share}: must be above 0 and at most 1")
    if not any(time > 0 for time in work.whole_s):
        raise UsageError("nothing to do: no bytes to copy and no kernel")
    for name, value, most in (
        ("chunks", plan.chunks, MAX_CHUNKS),
        ("streams", 1 if plan.streams is None else plan.streams, MAX_CHUNKS),
        ("copy engines", plan.copy_engines, 2),
    ):
        if not 1 <= value <= most:
            raise UsageError(f"{name} = {value}: must be 1 to {most}")


def _lower_bound(part: Times, plan: Plan) -> float:
    """No engine does its work faster, and none starts before data reach it."""
    times = part.by_stage()
    if plan.copy_engines == 1:
        copies = sum(time for stage, time in times.items() if stage is not Stage.KERNEL)
        bounds = [plan.chunks * copies, plan.chunks * part.kernel + copies]
    else:
        bounds = [sum(part) + (plan.chunks - 1) * longest for longest in part]
    return max(sum(part), *bounds)
