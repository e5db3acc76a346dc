"""``analysis.gemm_rank`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.gemm_rank import Ranking
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.gemm import FIELDS
from perfkit.report.views.gemm_content import result
from perfkit.report.views.gemm_notes import notes
from perfkit.report.views.roofline_notes import merged

#: the figures of an estimate that ranked ones are shown with
_KEYS: Final = (
    *("tile", "warp", "instruction", "stages", "cluster", "schedule"),
    *("threads", "registers_per_thread", "shared_bytes_per_block", "blocks_per_sm"),
    *("wave_efficiency", "l2_bytes", "time_s", "expected_s", "share_of_peak", "limited_by"),
)
_BY_KEY: Final = {column.key: (column, get) for column, get in FIELDS}
_COLUMNS: Final = tuple(_BY_KEY[key] for key in _KEYS)


def document(found: Sequence[Ranking], left_out: Mapping[str, str]) -> Document:
    """A table for each product; CSV has them in one."""
    rows = [(r.target.label, place, e) for r in found for place, e in enumerate(r.best, 1)]
    flat = Table(
        columns=(
            Column("target", "GPU"),
            Column("place", "place", "count"),
            *(column for column, _ in _COLUMNS),
        ),
        rows=tuple((label, place, *(get(e) for _, get in _COLUMNS)) for label, place, e in rows),
    )
    return Document(
        tables=tuple(_table(r) for r in found),
        notes=merged([(r.target.label, _notes(r)) for r in found], left_out),
        flat=flat,
    )


def _table(r: Ranking) -> Table:
    p = r.best[0].problem
    return Table(
        title=f"{r.target.label}: gemm {p.m}x{p.n}x{p.k} in {p.dtype}/{p.accumulate}, "
        f"{len(r.best)} of {r.tied} tilings that are tied with the best",
        columns=tuple(column for column, _ in _COLUMNS),
        rows=tuple(tuple(get(e) for _, get in _COLUMNS) for e in r.best),
    ).without_empty_columns()


def _notes(r: Ranking) -> list[str]:
    own = (
        f"{r.compared} tilings compared, {r.launchable} launch, {r.tied} are within 5% of the "
        "least time expected and tied: only a measurement tells them apart"
    )
    return [own, *dict.fromkeys(note for e in r.best for note in notes(e))]


def content(found: Sequence[Ranking], left_out: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rankings": [
            {
                "target": r.target.label,
                "compared": r.compared,
                "launchable": r.launchable,
                "tied": r.tied,
                "best": [result(e) for e in r.best],
            }
            for r in found
        ],
        "left_out": [{"target": label, "reason": why} for label, why in left_out.items()],
    }
