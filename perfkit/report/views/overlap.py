"""``analysis.overlap`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits
from typing import Any, Final

from perfkit.analysis.overlap import Overlap
from perfkit.models.engines import Span, Stage
from perfkit.report.document import Column, Document, Table
from perfkit.units import format_count, format_seconds

#: characters of a timeline
_WIDTH: Final = 64
_IDLE: Final = "."
_PARTLY: Final = ","  #: at work less than half of the time
#: of a chunk in a timeline; they come round
_MARKS: Final = digits + ascii_letters

#: what an engine does
STAGES: Final = {"h2d": "copy to GPU", "kernel": "kernel", "d2h": "copy back", "copy": "copies"}

_SUMMARY: Final = (
    Column("chunks", "chunks", "count"),
    Column("streams", "streams", "count"),
    Column("makespan_s", "time", "seconds"),
    Column("serial_s", "without overlap", "seconds"),
    Column("speedup", "speed-up"),
    Column("limit_speedup", "limit"),
    Column("lower_bound_s", "lower bound", "seconds"),
    Column("bound_by", "bound by"),
)


def document(found: Overlap) -> Document:
    """The time, the engines over time, and other chunk counts."""
    return Document(
        tables=(_summary(found), _engines(found), _counts(found)),
        notes=tuple(notes(found)),
        flat=Table(
            columns=(
                Column("chunks", "chunks", "count"),
                Column("makespan_s", "time", "seconds"),
                Column("speedup", "speed-up", "count"),
            ),
            rows=tuple((row.chunks, row.makespan_s, row.speedup) for row in found.counts),
        ),
    )


def _summary(found: Overlap) -> Table:
    done, plan = found.schedule, found.schedule.plan
    streams = min(plan.streams or plan.chunks, plan.chunks)
    row = (
        plan.chunks,
        streams,
        done.makespan_s,
        done.serial_s,
        f"{done.speedup:.2f}x",
        f"{found.limit_speedup:.2f}x",
        done.lower_bound_s,
        STAGES[found.bound_by],
    )
    memory = "pinned" if plan.pinned else "pageable"
    link = found.question.link
    title = f"{f'{link.name}, ' if link else ''}{memory} memory, issued {plan.order}"
    return Table(title=title, columns=_SUMMARY, rows=(row,))


def _engines(found: Overlap) -> Table:
    done = found.schedule
    rows = tuple(
        (
            STAGES[engine],
            timeline([span for span in done.spans if span.engine == engine], done.makespan_s),
            busy,
            busy / done.makespan_s,
        )
        for engine, busy in done.busy_s().items()
    )
    return Table(
        title=f"Engines over time, {format_seconds(done.makespan_s / _WIDTH)} a character",
        columns=(
            Column("engine", "engine"),
            Column("timeline", "chunks 0, 1, 2, ..."),
            Column("busy_s", "busy", "seconds"),
            Column("utilisation", "share", "ratio"),
        ),
        rows=rows,
    )


def timeline(spans: Sequence[Span], makespan_s: float, width: int = _WIDTH) -> str:
    """One character for each ``1 / width`` of the time: the chunk that has most of it.

    >>> from perfkit.models.engines import Span, Stage
    >>> timeline([Span(0, Stage.KERNEL, "kernel", 1.0, 2.2)], 4.0, width=8)
    '..00,...'
    """
    cell = makespan_s / width
    busy: list[dict[int, float]] = [{} for _ in range(width)]
    for span in spans:
        for i in range(int(span.start_s / cell), min(int(span.end_s / cell) + 1, width)):
            time = min(span.end_s, (i + 1) * cell) - max(span.start_s, i * cell)
            if time > 1e-9 * cell:
                busy[i][span.chunk] = busy[i].get(span.chunk, 0.0) + time
    return "".join(_mark(times, cell) for times in busy)


def _mark(times: dict[int, float], cell: float) -> str:
    if not times:
        return _IDLE
    if sum(times.values()) < 0.5 * cell:
        return _PARTLY
    return _MARKS[max(times, key=times.__getitem__) % len(_MARKS)]


def _counts(found: Overlap) -> Table:
    return Table(
        title="By number of chunks",
        columns=(
            Column("chunks", "chunks", "count"),
            Column("makespan_s", "time", "seconds"),
            Column("speedup", "speed-up"),
        ),
        rows=tuple((row.chunks, row.makespan_s, f"{row.speedup:.2f}x") for row in found.counts),
    )


def notes(found: Overlap) -> list[str]:
    plan, question = found.schedule.plan, found.question
    notes = [*_rates(found)]
    if found.is_best:
        notes.append(
            f"{plan.chunks} is the best number of chunks up to {question.most_chunks}; "
            f"{found.enough_chunks} are at most 1% slower"
        )
    if found.streams_needed < min(plan.streams or plan.chunks, plan.chunks):
        notes.append(f"{found.streams_needed} streams are enough: more change nothing")
    if not plan.pinned:
        notes.append(
            "a copy of pageable memory keeps the host until it is done: pinned memory "
            "(cudaMallocHost, cudaHostRegister) is what makes copies overlap"
        )
    if question.kernel_s and plan.chunks > 1:
        notes.append(
            "assumes that the kernel of one chunk still fills the GPU and takes its share of the "
            "whole kernel's time"
        )
    notes.append(
        f"beside its work each copy takes {format_seconds(question.copy_overhead_s)}, each kernel "
        f"{format_seconds(question.launch_overhead_s)}, the way from one to the other "
        f"{format_seconds(question.handoff_s)}; measured on one H200 unless given"
    )
    return notes


def _rates(found: Overlap) -> list[str]:
    question, link = found.question, found.question.link
    sides = (
        ("to the GPU", found.h2d_bytes_per_s, question.h2d_bytes_per_s),
        ("back", found.d2h_bytes_per_s, question.d2h_bytes_per_s),
    )
    used = [
        f"{format_count(rate, 'B/s')} {way}{' as given' if given is not None else ''}"
        for way, rate, given in sides
        if rate is not None
    ]
    if not used:
        return []
    share = found.work.duplex_share
    both = f", {share:.0%} of that while both go" if share < 1 and len(used) == 2 else ""
    text = f"copies at {' and '.join(used)}{both}"
    if link is not None and any(rate and given is None for _, rate, given in sides):
        paper = format_count(link.peak_bytes_per_s, "B/s")
        source = link.source if question.plan.pinned else "pageable memory, limited by the CPU"
        text += f" ({source}; on paper {paper})"
    return [text]


def content(found: Overlap) -> dict[str, Any]:
    done, plan, question = found.schedule, found.schedule.plan, found.question
    return {
        "h2d_bytes": question.h2d_bytes,
        "d2h_bytes": question.d2h_bytes,
        "kernel_s": question.kernel_s,
        "link": question.link.name if question.link else None,
        "link_peak_bytes_per_s": question.link.peak_bytes_per_s if question.link else None,
        "h2d_bytes_per_s": found.h2d_bytes_per_s,
        "d2h_bytes_per_s": found.d2h_bytes_per_s,
        "duplex_share": found.work.duplex_share,
        "copy_overhead_s": question.copy_overhead_s,
        "launch_overhead_s": question.launch_overhead_s,
        "handoff_s": question.handoff_s,
        "pinned": plan.pinned,
        "copy_engines": plan.copy_engines,
        "order": plan.order,
        "queue": plan.queue,
        "chunks": plan.chunks,
        "streams": min(plan.streams or plan.chunks, plan.chunks),
        "streams_needed": found.streams_needed,
        "makespan_s": done.makespan_s,
        "serial_s": done.serial_s,
        "speedup": done.speedup,
        "limit_speedup": found.limit_speedup,
        "lower_bound_s": done.lower_bound_s,
        "bound_by": found.bound_by.value,
        "best": found.is_best,
        "enough_chunks": found.enough_chunks,
        "engines": [
            {"engine": engine, "busy_s": busy, "utilisation": busy / done.makespan_s}
            for engine, busy in done.busy_s().items()
        ],
        "counts": [
            {"chunks": row.chunks, "makespan_s": row.makespan_s, "speedup": row.speedup}
            for row in found.counts
        ],
        "spans": [_span(span) for span in sorted(done.spans, key=lambda s: (s.start_s, s.engine))],
        "notes": notes(found),
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "chunk": span.chunk,
        "stage": Stage(span.stage).value,
        "engine": span.engine,
        "start_s": span.start_s,
        "end_s": span.end_s,
    }
