"""``analysis.gemm_rank`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.gemm import GemmEstimate
from perfkit.analysis.gemm_rank import Ranking
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.gemm_content import result
from perfkit.report.views.gemm_notes import notes
from perfkit.report.views.roofline_notes import merged

_COLUMNS: Final[tuple[tuple[Column, Callable[[GemmEstimate], Any]], ...]] = (
    (Column("tile", "tile"), lambda e: e.tiling.tile),
    (Column("warp", "warp tile"), lambda e: e.tiling.warp),
    (Column("instruction", "instruction"), lambda e: e.block.instruction.shape),
    (Column("stages", "stages", "count"), lambda e: e.tiling.stages),
    (Column("cluster", "cluster"), lambda e: e.tiling.cluster if e.cluster else None),
    (Column("schedule", "schedule"), lambda e: e.tiling.schedule),
    (Column("threads", "threads", "count"), lambda e: e.block.threads),
    (Column("registers_per_thread", "registers", "count"), lambda e: e.block.registers),
    (Column("shared_bytes_per_block", "shared", "bytes"), lambda e: e.block.shared_bytes),
    (
        Column("blocks_per_sm", "blocks/SM", "count"),
        lambda e: e.block.driver.blocks_per_sm,
    ),
    (
        Column("wave_efficiency", "busy SMs", "ratio"),
        lambda e: e.schedule.grid.wave_efficiency if e.schedule else None,
    ),
    (
        Column("l2_bytes", "L2", "traffic"),
        lambda e: e.schedule.traffic.l2_bytes if e.schedule else None,
    ),
    (
        Column("time_s", "least time", "seconds"),
        lambda e: e.schedule.bound.time_s if e.schedule else None,
    ),
    (
        Column("expected_s", "expected", "seconds"),
        lambda e: e.schedule.expected_s if e.schedule else None,
    ),
    (Column("share_of_peak", "of the peak", "ratio"), lambda e: e.share_of_peak),
    (
        Column("limited_by", "limited by", "names"),
        lambda e: e.schedule.bound.limited_by if e.schedule else None,
    ),
)


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
