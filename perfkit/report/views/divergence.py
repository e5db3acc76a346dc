"""``analysis.divergence`` -> document and JSON content."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from perfkit.analysis.divergence import Divergence
from perfkit.models.divergence import Branch, Loop
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views import lanes
from perfkit.units import format_ratio

_PICTURES: Final = {
    "condition": "lanes 0 to 31 (# true, . false)",
    "switch": "lanes 0 to 31 (number of the path)",
    "trips": "lanes 0 to 31 (9: the longest)",
}

_COLUMNS: Final = (
    Column("warp", "warps"),
    Column("threads", "threads", "count"),
    Column("active_lanes", "lanes where true", "count"),
    Column("path_count", "paths", "count"),
    Column("iterations", "iterations", "count"),
    Column("mean_iterations", "mean of its lanes", "count"),
    Column("serial_factor", "serial factor", "count"),
    Column("idle_share", "lane slots idle", "ratio"),
    Column("idle_share_without_else", "idle without else", "ratio"),
)


def document(found: Divergence) -> Document:
    """One row for consecutive warps that do the same."""
    table = Table(
        columns=(*_COLUMNS, Column("picture", _PICTURES[found.kind])),
        rows=tuple(_row(found, numbers) for numbers in _alike(found)),
    ).without_empty_columns()
    keys = [key for key in _result(found, 0) if key not in {"paths", "values"}]
    return Document(
        tables=(table,),
        notes=tuple(_notes(found)),
        summary=f"{found.text}: {len(found.diverging)} of {len(found.warps)} warps diverge, "
        f"{format_ratio(found.idle_share)} of the lane slots idle",
        flat=Table(
            columns=tuple(Column(key, key) for key in keys),
            rows=tuple(
                tuple(_result(found, number)[key] for key in keys)
                for number in range(len(found.warps))
            ),
        ),
    )


def _alike(found: Divergence) -> list[list[int]]:
    groups = groupby(range(len(found.warps)), key=lambda n: (found.warps[n], found.values[n]))
    return [list(group) for _, group in groups]


def _row(found: Divergence, numbers: list[int]) -> tuple[Any, ...]:
    row = _result(found, numbers[0])
    row["warp"] = Cell(numbers[0], lanes.ranges(numbers))
    for key in ("mean_iterations", "serial_factor"):
        row[key] = None if row[key] is None else round(row[key], 2)
    return (
        *(row[column.key] for column in _COLUMNS),
        lanes.outcomes(found.values[numbers[0]], found.kind),
    )


def _notes(found: Divergence) -> list[str]:
    notes = []
    if found.kind != "trips" and found.diverging:
        notes.append("the serial factor is for paths that are equally long")
    if any(
        warp.threads < len(lanes_) for warp, lanes_ in zip(found.warps, found.values, strict=True)
    ):
        notes.append("the last warp is not full: its missing threads count as idle")
    return notes


def content(found: Divergence) -> dict[str, Any]:
    return {
        "expression": found.text,
        "kind": found.kind,
        "warps": len(found.warps),
        "diverging_warps": list(found.diverging),
        "idle_share": found.idle_share,
        "results": [_result(found, number) for number in range(len(found.warps))],
    }


def _result(found: Divergence, number: int) -> dict[str, Any]:
    warp = found.warps[number]
    branch = warp if isinstance(warp, Branch) else None
    loop = warp if isinstance(warp, Loop) else None
    condition = branch if found.kind == "condition" else None
    taken = [lane for lane, value in enumerate(found.values[number]) if value]
    return {
        "warp": number,
        "threads": warp.threads,
        "active_lanes": condition and condition.taken,
        "active_mask": condition and lanes.mask(taken),
        "path_count": branch and len(branch.paths),
        "paths": branch
        and [
            {"value": path.value, "lanes": len(path.lanes), "mask": lanes.mask(path.lanes)}
            for path in branch.paths
        ],
        "iterations": loop and loop.iterations,
        "mean_iterations": loop and loop.lane_iterations / loop.threads,
        "serial_factor": warp.serial_factor,
        "diverges": warp.diverges,
        "idle_share": warp.idle_share,
        "idle_share_without_else": condition and condition.idle_share_without_else,
        "values": list(found.values[number]),
    }
