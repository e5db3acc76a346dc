"""``analysis.access.Coalescing`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from perfkit.analysis.access import Coalescing
from perfkit.analysis.structs import Struct
from perfkit.models.coalescing import SECTOR_BYTES
from perfkit.models.l2 import turns
from perfkit.record import record
from perfkit.report.document import Column, Document, Table
from perfkit.report.views import access as words
from perfkit.report.views import lanes

_MOST_LINES: Final = 8  #: of a picture
_SECTORS: Final = (
    "a transaction, as the Best Practices Guide calls it, is the access to one sector of 32 bytes; "
    "four sectors make a cache line of 128 bytes, of which only those that are touched move"
)


_TURNS: Final = (
    "store turns: what a store takes of L2, by the counters of an H200: a turn for each sector and "
    "one more for each line with a sector that is written in part; 1.5 for each line at least"
)


@record
class Totals:
    """All accesses of one layout together, for the warp shown."""

    layout: str | None
    requests: int
    sectors: int
    distinct_sectors: int | None  #: None: the accesses are to arrays of unknown place
    used_bytes: int
    moved_bytes: int


_COLUMNS: Final[tuple[tuple[Column, Callable[[Coalescing], Any]], ...]] = (
    (Column("pattern", "access"), words.label),
    (Column("layout", "layout"), words.layout),
    (Column("lanes", "lanes", "count"), lambda f: f.detail.lanes),
    (Column("sectors", "sectors (transactions)", "count"), lambda f: f.detail.sectors),
    (
        Column("fewest_sectors", "fewest", "count"),
        lambda f: -(-f.detail.used_bytes // SECTOR_BYTES),
    ),
    (Column("lines", "lines", "count"), lambda f: f.detail.lines),
    (Column("asked_bytes", "asked", "bytes"), lambda f: f.detail.asked_bytes),
    (Column("moved_bytes", "moved", "bytes"), lambda f: f.detail.moved_bytes),
    (Column("efficiency", "efficiency", "ratio"), lambda f: f.detail.efficiency),
    (Column("l2_store_turns", "store turns", "count"), lambda f: turns(stores=[f.detail])),
    (
        Column("block_sectors", "block sectors", "count"),
        lambda f: words.of_block(f, f.block_sectors),
    ),
    (
        Column("block_efficiency", "block efficiency", "ratio"),
        lambda f: words.of_block(f, f.block_efficiency),
    ),
)


def document(found: Sequence[Coalescing], struct: Struct | None = None) -> Document:
    """The accesses, the struct, all accesses together, and pictures of the sectors."""
    main = Table(
        title=words.title(found),
        columns=tuple(column for column, _ in _COLUMNS),
        rows=tuple(tuple(get(one) for _, get in _COLUMNS) for one in found),
    ).without_empty_columns()
    tables = [main, *words.struct_tables(struct)]
    if len(found) > 1:
        tables.append(_totals_table(totals(found)))
    shown = found if len(found) <= words.MOST_PICTURES else ()
    tables += [_sectors_picture(one) for one in shown]
    return Document(
        tables=tuple(tables),
        notes=tuple(_notes(found)),
        flat=words.flat(content(found)["results"]),
    )


def totals(found: Sequence[Coalescing]) -> tuple[Totals, ...]:
    """All accesses of each layout together."""
    rows = []
    for layout in dict.fromkeys(one.access.layout for one in found):
        mine = [one for one in found if one.access.layout == layout]
        touched = {
            address // SECTOR_BYTES
            for one in mine
            for address in one.access.warps[one.warp]
            if address is not None
        }
        sectors = sum(one.detail.sectors for one in mine)
        rows.append(
            Totals(
                layout=layout,
                requests=len(mine),
                sectors=sectors,
                distinct_sectors={"aos": len(touched), "soa": sectors}.get(layout or ""),
                used_bytes=sum(one.detail.used_bytes for one in mine),
                moved_bytes=sum(one.detail.moved_bytes for one in mine),
            )
        )
    return tuple(rows)


def _totals_table(rows: Sequence[Totals]) -> Table:
    return Table(
        title="All accesses together",
        columns=(
            Column("layout", "layout"),
            Column("requests", "requests", "count"),
            Column("sectors", "sectors", "count"),
            Column("sectors_per_request", "per request", "count"),
            Column("distinct_sectors", "distinct sectors", "count"),
            Column("efficiency", "efficiency", "ratio"),
        ),
        rows=tuple(
            (
                words.LAYOUTS.get(row.layout or ""),
                row.requests,
                row.sectors,
                round(row.sectors / row.requests, 3),
                row.distinct_sectors,
                row.used_bytes / row.moved_bytes if row.moved_bytes else None,
            )
            for row in rows
        ),
    ).without_empty_columns()


def _sectors_picture(found: Coalescing) -> Table:
    rows = lanes.lines(found.access.width_bytes, found.access.warps[found.warp])
    more = f", the first {_MOST_LINES} of {len(rows)} lines" if len(rows) > _MOST_LINES else ""
    return Table(
        title=f"{words.name(found)}: sectors of 32 bytes "
        f"(# used, + in part, . moved for nothing){more}",
        columns=(
            Column("line", "line at byte", "count"),
            Column("sectors", "sector 0 to 3, 4 bytes per character"),
        ),
        rows=tuple(rows[:_MOST_LINES]),
    )


def _notes(found: Sequence[Coalescing]) -> list[str]:
    notes = words.idle_notes(found)
    for one in found:
        detail = one.detail
        if detail.aligned_sectors < detail.sectors:
            notes.append(
                f"{one.access.label}: the first byte is {detail.misaligned_bytes} bytes into a "
                f"sector; from the start of one it would be {detail.aligned_sectors} sectors, not "
                f"{detail.sectors}"
            )
        if detail.used_bytes < detail.asked_bytes:
            notes.append(
                f"{one.access.label}: lanes share addresses; {detail.asked_bytes} B asked for are "
                f"{detail.used_bytes} B of memory"
            )
    notes.append(_SECTORS)
    if any(one.detail.lanes for one in found):
        notes.append(_TURNS)
    notes.append("efficiency: bytes used over bytes moved, in sectors of 32 bytes")
    notes.append("byte 0 is the start of the array, taken as aligned (cudaMalloc gives 256 bytes)")
    return list(dict.fromkeys(notes))


def content(found: Sequence[Coalescing], struct: Struct | None = None) -> dict[str, Any]:
    return {
        "results": [
            {
                **words.access_content(one),
                "sectors": one.detail.sectors,
                "transactions": one.detail.sectors,
                "fewest_sectors": -(-one.detail.used_bytes // SECTOR_BYTES),
                "lines": one.detail.lines,
                "asked_bytes": one.detail.asked_bytes,
                "used_bytes": one.detail.used_bytes,
                "moved_bytes": one.detail.moved_bytes,
                "efficiency": one.detail.efficiency,
                "l2_load_turns": turns(loads=[one.detail]),
                "l2_store_turns": turns(stores=[one.detail]),
                "misaligned_bytes": one.detail.misaligned_bytes,
                "aligned_sectors": one.detail.aligned_sectors,
                "block_requests": one.requests,
                "block_sectors": one.block_sectors,
                "block_efficiency": one.block_efficiency,
                "addresses": list(one.access.warps[one.warp]),
            }
            for one in found
        ],
        "totals": [
            {
                "layout": row.layout,
                "requests": row.requests,
                "sectors": row.sectors,
                "sectors_per_request": row.sectors / row.requests,
                "distinct_sectors": row.distinct_sectors,
                "efficiency": row.used_bytes / row.moved_bytes if row.moved_bytes else 1.0,
            }
            for row in totals(found)
        ],
        "struct": words.struct_content(struct),
    }
