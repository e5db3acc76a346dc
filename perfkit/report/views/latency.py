"""``analysis.latency`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from perfkit.analysis.latency import MEMORIES, Hiding
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.units import format_count

Field = tuple[Column, Callable[[Hiding], Any]]

_IDENTITY: Final[tuple[Field, ...]] = (
    (Column("target", "GPU"), lambda h: h.target.label),
    (Column("compute_capability", "CC"), lambda h: str(h.target.capability.compute_capability)),
)
_INPUTS: Final[tuple[Field, ...]] = (
    (Column("level", "level"), lambda h: h.question.level.value),
    (Column("latency_s", "latency", "seconds"), lambda h: h.latency_s),
    (Column("latency_cycles", "latency in cycles", "count"), lambda h: h.latency_cycles),
    (Column("latency_source", "latency from"), lambda h: h.latency_source),
    (
        Column("width_bytes", "width", "bytes"),
        lambda h: h.question.width_bytes if _is_memory(h) else None,
    ),
    (Column("ilp", "ILP", "count"), lambda h: h.question.ilp),
    (Column("sm_bytes_per_s", "rate of an SM", "bandwidth"), lambda h: h.bytes_per_s),
    (Column("sm_per_clock", "per clock", "count"), lambda h: h.per_clock),
)
_ANSWER: Final[tuple[Field, ...]] = (
    (Column("needed_per_sm", "under way per SM"), lambda h: h.concurrency.needed),
    (Column("per_warp", "per warp"), lambda h: h.concurrency.per_warp),
    (Column("warps_needed", "warps needed", "count"), lambda h: h.concurrency.warps_needed),
    (Column("max_warps_per_sm", "an SM holds", "count"), lambda h: h.max_warps),
)
_LAUNCH: Final[tuple[Field, ...]] = (
    (Column("warps_per_sm", "warps there", "count"), lambda h: h.concurrency.resident_warps),
    (Column("share_of_peak", "of the peak rate", "ratio"), lambda h: h.concurrency.share),
    (Column("ilp_needed", "ILP that is enough", "count"), lambda h: h.ilp_needed),
)
_FIELDS: Final = (*_IDENTITY, *_INPUTS, *_ANSWER, *_LAUNCH)

_WIDTHS: Final = (4, 8, 16)
_ILPS: Final = (1, 2, 4, 8)


def _is_memory(h: Hiding) -> bool:
    return h.question.level in MEMORIES


def _amount(h: Hiding, value: float) -> Cell:
    """Bytes, or instructions."""
    if _is_memory(h):
        return Cell(value, f"{value:.0f} B" if value < 10_000 else format_count(value, "B"))
    return Cell(value, f"{value:.4g} instr.")


def _cells(h: Hiding, fields: Sequence[Field]) -> tuple[Any, ...]:
    amounts = {"needed_per_sm", "per_warp"}
    found = ((column, get(h)) for column, get in fields)
    return tuple(
        _amount(h, value)
        if column.key in amounts
        else Cell(value, f"{value:.4g}")
        if isinstance(value, float) and column.unit == "count"
        else value
        for column, value in found
    )


def document(found: Sequence[Hiding]) -> Document:
    """One row for each target; for one target also other widths and ILP."""
    elsewhere = {"level", "width_bytes", "ilp", "latency_source"}
    shown = [f for f in _FIELDS if f[0].key not in elsewhere]
    tables = [
        Table(
            title=_heading(found[0]),
            columns=tuple(column for column, _ in shown),
            rows=tuple(_cells(h, shown) for h in found),
        ).without_empty_columns()
    ]
    if len(found) == 1 and _is_memory(found[0]):
        tables.append(_other_accesses(found[0]))
    flat = Table(
        columns=tuple(column for column, _ in _FIELDS),
        rows=tuple(tuple(get(h) for _, get in _FIELDS) for h in found),
    )
    notes = tuple(dict.fromkeys(note for h in found for note in _notes(h)))
    return Document(tables=tuple(tables), notes=notes, flat=flat)


def _heading(h: Hiding) -> str:
    q = h.question
    each = f"accesses of {q.width_bytes} bytes" if _is_memory(h) else "instructions"
    return f"{q.level}: {each} per thread, {q.ilp} under way"


def _other_accesses(h: Hiding) -> Table:
    return Table(
        title="Warps needed per SM by width of an access and accesses under way in a thread",
        columns=(
            Column("width_bytes", "width", "bytes"),
            *(Column(f"ilp_{ilp}", f"{ilp} under way", "count") for ilp in _ILPS),
        ),
        rows=tuple(
            (width, *(h.warps_needed(width_bytes=width, ilp=ilp) for ilp in _ILPS))
            for width in _WIDTHS
        ),
    )


def _notes(h: Hiding) -> list[str]:
    found = []
    if h.latency_source is not None:
        found.append(f"{h.target.label}: {h.latency_source}")
    if h.occupancy_needed > 1:
        found.append(
            f"{h.target.label}: {h.concurrency.warps_needed} warps are more than an SM holds "
            f"({h.max_warps}): only wider accesses or more of them under way in a thread help"
        )
    elif h.occupancy is not None and (h.concurrency.share or 0) >= 1:
        found.append(
            f"{h.target.label}: the warps that are there are enough: more occupancy would hide "
            "nothing more"
        )
    if _is_memory(h):
        found.append(
            "a latency measured alone grows under load, so these warps are the least that can be "
            "enough: loads on one H200 reached 85 to 95% of what the law allows"
        )
    return found


def content(found: Sequence[Hiding]) -> dict[str, Any]:
    return {"results": [_result(h) for h in found]}


def _result(h: Hiding) -> dict[str, Any]:
    raw = {column.key: get(h) for column, get in _FIELDS}
    return {
        **raw,
        "unit": "bytes" if _is_memory(h) else "warp instructions",
        "occupancy_needed": h.occupancy_needed,
        "blocks_per_sm": h.occupancy.blocks_per_sm if h.occupancy else None,
        "notes": _notes(h),
    }
