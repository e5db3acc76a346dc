"""What of many results finds room on one page, and what is said of the rest.

A page is to be sent around, so that its tables may take ``TABLE_BYTES`` together. Where they would
take more, long texts lose their middle first; then rows are left out, of every outcome as many, so
that the few that failed stay in sight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Final

from perfkit.record import record
from perfkit.report.document import Table
from perfkit.report.page import markup

#: of all tables of results; a page has some 700 KB beside them
TABLE_BYTES: Final = 1_100_000
#: letters of a text that is not shown in full: where there is room, and where there is not
LONG: Final = (400, 120)
#: of a list of texts
LIST_BYTES: Final = 60_000
#: rows that tell how large the others are
_SAMPLE: Final = 200


@record
class Shown:
    """A table as it stands on a page."""

    html: str
    note: str | None  #: what of it is not there


def fitted(tables: Mapping[str, Sequence[tuple[Table, str | None]]]) -> dict[str, list[Shown]]:
    """All tables of a page, each with as much room as the others leave it.

    Args:
        tables: by topic, each with the key of the column whose values are outcomes.
    """
    every = [(topic, table, tally) for topic, them in tables.items() for table, tally in them]
    sizes = [_size(table, LONG[0]) for _, table, _ in every]
    rooms, left = [0] * len(every), TABLE_BYTES
    for done, n in enumerate(sorted(range(len(every)), key=sizes.__getitem__)):
        rooms[n] = left // (len(every) - done)
        left -= min(rooms[n], sizes[n])
    found: dict[str, list[Shown]] = {topic: [] for topic in tables}
    for (topic, table, tally), room in zip(every, rooms, strict=True):
        found[topic].append(_shown(table, tally, room))
    return found


def _size(table: Table, longest: int) -> int:
    """Bytes of its rows, about."""
    rows = table.rows[:: -(-len(table.rows) // _SAMPLE) or 1]
    sample = sum(len(markup.row(table, row, longest=longest)) for row in rows)
    return sample * len(table.rows) // max(1, len(rows))


def _shown(table: Table, tally: str | None, room: int) -> Shown:
    longest = LONG[_size(table, LONG[0]) > room]
    rows, size, abridged = dict[int, str](), 0, 0
    for n in _order(table, tally):
        drawn = markup.row(table, table.rows[n], longest=longest)
        size += len(drawn.encode()) + 1
        if size > room:
            break
        rows[n] = drawn
        texts = (column.text(one) for column, one in zip(table.columns, table.rows[n], strict=True))
        abridged += sum(len(text) > longest for text in texts)
    html = markup.table(table, rows=[rows[n] for n in sorted(rows)])
    return Shown(html=html, note=_note(table, tally, len(rows), abridged))


def _order(table: Table, tally: str | None) -> Iterator[int]:
    """Rows by turns from each outcome."""
    column = next((n for n, one in enumerate(table.columns) if one.key == tally), None)
    if column is None:
        return iter(range(len(table.rows)))
    by_outcome: dict[str, list[int]] = {}
    for n, row in enumerate(table.rows):
        by_outcome.setdefault(str(row[column]), []).append(n)
    turns = chain.from_iterable(zip_longest(*by_outcome.values()))
    return (n for n in turns if n is not None)


def _note(table: Table, tally: str | None, shown: int, abridged: int) -> str | None:
    """What is not there, and where it is."""
    parts = []
    if shown < len(table.rows):
        which = "of each outcome as many" if tally else "the first"
        parts.append(f"{shown:,} of {len(table.rows):,} rows are shown, {which}")
    if abridged:
        texts = "1 long text is" if abridged == 1 else f"{abridged:,} long texts are"
        parts.append(f"{texts} shown without the middle")
    if not parts:
        return None
    return (
        f"{'; '.join(parts)}. All of it is in the files: a report of fewer of them, or -f csv of "
        "their commands, shows more."
    )


def listed(values: Sequence[str]) -> tuple[list[str], str | None]:
    """As many texts as there is room for, shortened, and what is said of the others."""
    found: list[str] = []
    size = 0
    for value in values:
        text = markup.abridged(value, LONG[0])
        size += len(text.encode("utf-8", "replace")) + 10
        if size > LIST_BYTES:
            return found, f"{len(values) - len(found):,} more are not shown."
        found.append(text)
    return found, None
