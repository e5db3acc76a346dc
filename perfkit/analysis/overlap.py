"""A pipeline from what people know (bytes, a link, the kernel's time) to what it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perfkit.errors import UsageError
from perfkit.models.engines import Plan, Stage, Times
from perfkit.models.latency import positive
from perfkit.models.links import NVLINK_C2C, PAGEABLE_BYTES_PER_S, Link
from perfkit.models.overlap import (
    COPY_OVERHEAD_S,
    HANDOFF_S,
    LAUNCH_OVERHEAD_S,
    PipelineSchedule,
    Work,
    best,
    fewest_streams,
    schedule,
)
from perfkit.record import record

#: chunk counts that are shown beside the one in question
COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)


@record
class OverlapQuestion:
    """What is copied and computed, over which link, and how it is issued."""

    h2d_bytes: int = 0
    d2h_bytes: int = 0
    kernel_s: float = 0.0
    link: Link | None = None
    h2d_bytes_per_s: float | None = None  #: in place of the link's
    d2h_bytes_per_s: float | None = None
    duplex_share: float | None = None
    copy_overhead_s: float = COPY_OVERHEAD_S
    launch_overhead_s: float = LAUNCH_OVERHEAD_S
    handoff_s: float = HANDOFF_S
    plan: Plan
    most_chunks: int | None = None  #: look for the best count up to this one; None: take the plan's


@record
class Row:
    """One chunk count."""

    chunks: int
    makespan_s: float
    speedup: float


@record
class Overlap:
    """What a pipeline takes, and what would be better."""

    question: OverlapQuestion
    h2d_bytes_per_s: float | None  #: None: nothing to copy that way
    d2h_bytes_per_s: float | None
    work: Work
    schedule: PipelineSchedule
    is_best: bool  #: of all counts up to ``question.most_chunks``
    enough_chunks: int | None  #: smallest count within 1 % of the best; None: not looked for
    streams_needed: int  #: the fewest that take no longer
    counts: tuple[Row, ...]

    @property
    def bound_by(self) -> Stage:
        """The stage that takes longest in all: no number of chunks beats it."""
        times = self.work.whole_s.by_stage()
        return max(times, key=times.__getitem__)

    @property
    def limit_speedup(self) -> float:
        """Of ever smaller chunks without overhead."""
        whole = self.work.whole_s
        short, long = sorted((whole.h2d, whole.d2h))
        if self.question.plan.copy_engines == 1:
            copies = short + long
        else:  # slower while both go, then the rest of the longer one alone
            copies = short / self.work.duplex_share + long - short
        return self.schedule.serial_s / max(whole.kernel, copies)


def overlap(question: OverlapQuestion) -> Overlap:
    """The pipeline of ``question``.

    Raises:
        UsageError: no rate for a direction with bytes, negative or infinite numbers, nothing to do.
    """
    h2d = _rate(question, Stage.H2D, question.h2d_bytes, question.h2d_bytes_per_s)
    d2h = _rate(question, Stage.D2H, question.d2h_bytes, question.d2h_bytes_per_s)
    whole = Times(
        question.h2d_bytes / h2d if h2d else 0.0,
        question.kernel_s,
        question.d2h_bytes / d2h if d2h else 0.0,
    )
    work = Work(
        whole_s=whole,
        copy_overhead_s=question.copy_overhead_s,
        launch_overhead_s=question.launch_overhead_s,
        handoff_s=question.handoff_s,
        duplex_share=_duplex(question),
    )
    enough: int | None = None
    if question.most_chunks is None:
        found = schedule(work, question.plan)
    else:
        found, enough = best(work, question.plan, most=question.most_chunks)
    counts = sorted({*COUNTS, found.plan.chunks})
    return Overlap(
        question=question,
        h2d_bytes_per_s=h2d,
        d2h_bytes_per_s=d2h,
        work=work,
        schedule=found,
        is_best=question.most_chunks is not None,
        enough_chunks=enough,
        streams_needed=fewest_streams(work, found.plan, found.makespan_s),
        counts=tuple(_row(work, found.plan, count) for count in counts),
    )


def _row(work: Work, plan: Plan, chunks: int) -> Row:
    found = schedule(work, replace(plan, chunks=chunks))
    return Row(chunks=chunks, makespan_s=found.makespan_s, speedup=found.speedup)


def _rate(question: OverlapQuestion, stage: Stage, size: int, given: float | None) -> float | None:
    """Bytes/s in one direction; None where there is nothing to copy."""
    if size < 0:
        raise UsageError(f"{stage} bytes = {size}: must not be negative")
    if size == 0:
        return None
    if given is not None:
        return positive(f"{stage} rate", given)
    if question.link is None:
        raise UsageError(
            f"no rate for copies {'to' if stage is Stage.H2D else 'from'} the GPU",
            hint=f"write --link pcie4x16, or --{stage}-gb-per-s with what was measured",
        )
    link = question.link
    if link is NVLINK_C2C and not question.plan.pinned:
        raise UsageError(
            f"how fast copies of pageable memory are over {link.name} is not known: the GPU reads "
            "it in place there, so that the figure of copies through a staging buffer says nothing",
            hint=f"write --{stage}-gb-per-s with what was measured",
        )
    rate = link.h2d_bytes_per_s if stage is Stage.H2D else link.d2h_bytes_per_s
    return rate if question.plan.pinned else min(rate, PAGEABLE_BYTES_PER_S)


def _duplex(question: OverlapQuestion) -> float:
    if question.duplex_share is not None:
        return question.duplex_share
    # pageable copies leave most of the link idle
    if question.link is None or not question.plan.pinned:
        return 1.0
    return question.link.duplex_share
