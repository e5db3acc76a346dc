"""What the views of coalescing and of banks have in common: ``analysis.access`` in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from perfkit.analysis.access import Banking, Coalescing
from perfkit.analysis.structs import Struct
from perfkit.report.document import Cell, Column, Table

#: pictures are for a look, not for a book
MOST_PICTURES: Final = 4

#: an array of structs, or one array per member
LAYOUTS: Final = {"aos": "AoS", "soa": "SoA"}

#: lists that CSV has no room for
_NESTED: Final = frozenset({"addresses", "passes"})


def label(found: Coalescing | Banking) -> Cell:
    return Cell(found.access.label, f"{found.access.label}, {found.access.width_bytes} B")


def layout(found: Coalescing | Banking) -> str | None:
    return LAYOUTS.get(found.access.layout or "")


def name(found: Coalescing | Banking) -> str:
    return ", ".join(filter(None, (found.access.label, layout(found))))


def of_block(found: Coalescing | Banking, value: Any) -> Any:
    """``value``, unless the block is one warp and it says nothing new."""
    return value if len(found.access.warps) > 1 else None


def title(found: Sequence[Coalescing] | Sequence[Banking]) -> str | None:
    last = max(len(one.access.warps) for one in found) - 1
    return f"Warp {found[0].warp} of 0 to {last}" if last else None


def idle_notes(found: Sequence[Coalescing] | Sequence[Banking]) -> list[str]:
    """Accesses of which the numbers are those of nothing at all."""
    return [
        f"{name(one)}: no lane of warp {one.warp} takes part, so that nothing is moved"
        for one in found
        if one.detail.lanes == 0
    ]


def flat(rows: Sequence[dict[str, Any]]) -> Table:
    keys = [key for key in rows[0] if key not in _NESTED]
    return Table(
        columns=tuple(Column(key, key) for key in keys),
        rows=tuple(tuple(row[key] for key in keys) for row in rows),
    )


def struct_tables(struct: Struct | None) -> list[Table]:
    if struct is None:
        return []
    return [
        Table(
            title=f"The struct: {struct.size_bytes} B, {struct.padding_bytes} B of them padding, "
            f"aligned to {struct.alignment_bytes} B",
            columns=(
                Column("member", "member"),
                Column("type", "type"),
                Column("offset_bytes", "offset", "count"),
                Column("size_bytes", "bytes", "count"),
                Column("padding_bytes", "padding after", "count"),
            ),
            rows=tuple(
                (f.name, f.type, f.offset_bytes, f.size_bytes, f.padding_bytes)
                for f in struct.fields
            ),
        )
    ]


def access_content(found: Coalescing | Banking) -> dict[str, Any]:
    return {
        "pattern": found.access.label,
        "layout": found.access.layout,
        "width_bytes": found.access.width_bytes,
        "warp": found.warp,
        "lanes": found.detail.lanes,
    }


def struct_content(struct: Struct | None) -> dict[str, Any] | None:
    if struct is None:
        return None
    keys = ("name", "type", "offset_bytes", "size_bytes", "padding_bytes")
    return {
        "size_bytes": struct.size_bytes,
        "alignment_bytes": struct.alignment_bytes,
        "padding_bytes": struct.padding_bytes,
        "members": [{key: getattr(field, key) for key in keys} for field in struct.fields],
    }
