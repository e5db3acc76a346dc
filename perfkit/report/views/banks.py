"""``analysis.access.Banking`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.access import Banking
from perfkit.analysis.layouts import Fix
from perfkit.analysis.structs import Struct
from perfkit.models.banks import BANKS
from perfkit.models.layout import Padding, Swizzle
from perfkit.report.document import Column, Document, Table
from perfkit.report.views import access as words
from perfkit.report.views import lanes
from perfkit.units import format_bytes

#: what every capability gives a block; so much needs no look at all their files
_SURE_BYTES: Final = 48 * 1024


def _conflict(way: int) -> str:
    return f"{way}-way" if way > 1 else "none"


def _pairs(found: Banking) -> str | None:
    return f"i, i^{found.detail.paired}" if found.detail.paired else None


_COLUMNS: Final[tuple[tuple[Column, Callable[[Banking], Any]], ...]] = (
    (Column("pattern", "access"), words.label),
    (Column("layout", "layout"), words.layout),
    (Column("lanes", "lanes", "count"), lambda f: f.detail.lanes),
    (Column("wavefronts", "wavefronts", "count"), lambda f: f.detail.wavefronts),
    (
        Column("ideal_wavefronts", "ideal", "count"),
        lambda f: f.detail.ideal_wavefronts,
    ),
    (Column("conflict_way", "conflict"), lambda f: _conflict(f.detail.conflict_way)),
    (
        Column("conflicting_banks", "banks"),
        lambda f: lanes.ranges(f.detail.conflicting_banks) or None,
    ),
    (Column("broadcast", "broadcast", "yes"), lambda f: f.detail.broadcast),
    (Column("paired", "paired"), _pairs),
    (
        Column("block_wavefronts", "block wavefronts", "count"),
        lambda f: words.of_block(f, f.block_wavefronts),
    ),
    (
        Column("block_conflict_way", "worst warp"),
        lambda f: words.of_block(f, _conflict(f.block_conflict_way)),
    ),
)


def document(
    found: Sequence[Banking],
    fixes: Mapping[str, Sequence[Fix]],
    struct: Struct | None = None,
) -> Document:
    """The accesses, what would take their conflicts away, and pictures of the banks.

    Args:
        found: the accesses.
        fixes: better layouts, by the label of the access.
        struct: whose members they are.
    """
    main = Table(
        title=words.title(found),
        columns=tuple(column for column, _ in _COLUMNS),
        rows=tuple(tuple(get(one) for _, get in _COLUMNS) for one in found),
    ).without_empty_columns()
    tables = [main, *words.struct_tables(struct)]
    tables += [_fixes_table(one, fixes.get(one.access.label, ())) for one in found]
    telling = [one for one in found if one.detail.conflict_way > 1 or len(found) == 1]
    tables += [_banks_picture(one) for one in telling[: words.MOST_PICTURES]]
    return Document(
        tables=tuple(tables),
        notes=tuple(dict.fromkeys(_notes(found, fixes))),
        flat=words.flat(content(found, fixes)["results"]),
    )


def _fixes_table(found: Banking, fixes: Sequence[Fix]) -> Table:
    return Table(
        title=f"Layouts with fewer wavefronts for {found.access.label}: "
        f"the block has {found.block_wavefronts}, {found.block_ideal_wavefronts} without conflicts",
        columns=(
            Column("fix", "layout"),
            Column("index", "element i moves to"),
            Column("block_wavefronts", "block wavefronts", "count"),
            Column("removes_all", "free of conflicts", "yes"),
            Column("extra_bytes", "extra memory", "bytes"),
        ),
        rows=tuple(
            (
                _fix_name(fix),
                fix.layout.expression,
                fix.block_wavefronts,
                fix.removes_all,
                fix.extra_bytes,
            )
            for fix in fixes
        ),
    ).without_empty_columns()


def _fix_name(fix: Fix) -> str:
    if isinstance(fix.layout, Padding):
        return f"pitch {fix.layout.pitch} + {fix.layout.elements}"
    return fix.layout.name


def _banks_picture(found: Banking) -> Table:
    return Table(
        title=f"{words.name(found)}: different words per bank "
        "(more than one is a conflict; a is 10, w is 32)",
        columns=(
            Column("lanes", "served together"),
            Column("banks", f"bank 0 to {BANKS - 1}"),
            Column("wavefronts", "wavefronts", "count"),
        ),
        rows=tuple(
            (
                f"lanes {one.first_lane}-{one.last_lane}",
                lanes.banks(one.words_per_bank),
                one.wavefronts,
            )
            for one in found.detail.passes
        ),
    )


def _beyond(found: Sequence[Banking]) -> Iterator[str]:
    """Accesses that leave the shared memory of any block there can be: the count says no more."""
    for one in found:
        ends = (a for lanes in one.access.warps for a in lanes if a is not None)
        end = max(ends, default=0) + one.access.width_bytes
        if end > _SURE_BYTES and end > (most := _largest_block_bytes()):
            yield (
                f"{words.name(one)}: reaches {end:,} bytes into shared memory, and no block of any "
                f"GPU has more than {format_bytes(most)}: this launches nowhere"
            )


def _largest_block_bytes() -> int:
    from perfkit.arch import catalog

    return max(c.shared_memory.max_per_block_optin_bytes for c in catalog.all_capabilities())


def _notes(found: Sequence[Banking], fixes: Mapping[str, Sequence[Fix]]) -> list[str]:
    notes = [*words.idle_notes(found), *_beyond(found)]
    for one in found:
        detail = one.detail
        if detail.paired:
            notes.append(
                f"{one.access.label}: for every lane i, lane i^{detail.paired} wants the same or "
                "nothing, so that twice as many lanes are served together; measured on 9.0, "
                "assumed elsewhere"
            )
        elif detail.conflict_way == 1 and detail.wavefronts > 1:
            notes.append(
                f"{one.access.label}: {detail.wavefronts} wavefronts are the fewest for "
                f"{detail.width_bytes} bytes per lane; a profiler's ratio of {detail.wavefronts} "
                "is no conflict here"
            )
        if detail.conflict_way > 1 and one.access.layout is None and not fixes[one.access.label]:
            notes.append(f"{one.access.label}: no padding and no swizzle takes fewer wavefronts")
    return notes


def content(
    found: Sequence[Banking],
    fixes: Mapping[str, Sequence[Fix]],
    struct: Struct | None = None,
) -> dict[str, Any]:
    return {
        "results": [_result(one) for one in found],
        "fixes": [
            {"pattern": label, **_fix_content(fix)} for label, each in fixes.items() for fix in each
        ],
        "struct": words.struct_content(struct),
    }


def _result(one: Banking) -> dict[str, Any]:
    detail = one.detail
    return {
        **words.access_content(one),
        "wavefronts": detail.wavefronts,
        "ideal_wavefronts": detail.ideal_wavefronts,
        "conflict_way": detail.conflict_way,
        "conflicting_banks": list(detail.conflicting_banks),
        "broadcast": detail.broadcast,
        "paired_lane_bit": detail.paired,
        "block_requests": one.requests,
        "block_wavefronts": one.block_wavefronts,
        "block_ideal_wavefronts": one.block_ideal_wavefronts,
        "block_conflict_way": one.block_conflict_way,
        "store": one.store,
        "passes": [
            {
                "first_lane": each.first_lane,
                "last_lane": each.last_lane,
                "wavefronts": each.wavefronts,
                "words_per_bank": list(each.words_per_bank),
            }
            for each in detail.passes
        ],
        "addresses": list(one.access.warps[one.warp]),
    }


def _fix_content(fix: Fix) -> dict[str, Any]:
    padding = fix.layout if isinstance(fix.layout, Padding) else None
    swizzle = fix.layout if isinstance(fix.layout, Swizzle) else None
    return {
        "kind": "padding" if padding else "swizzle",
        "pitch": padding and padding.pitch,
        "padding": padding and padding.elements,
        "bits": swizzle and swizzle.bits,
        "base": swizzle and swizzle.base,
        "shift": swizzle and swizzle.shift,
        "index": fix.layout.expression,
        "block_wavefronts": fix.block_wavefronts,
        "removes_all": fix.removes_all,
        "extra_bytes": fix.extra_bytes,
    }
