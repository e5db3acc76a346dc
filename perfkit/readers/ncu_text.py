"""What Nsight Compute prints for people: its details page, the tables of every launch as text.

A launch begins with its kernel, grid and block; each section has a table whose columns are as wide
as the dashes above it. Older versions name no grid, and give their tables no header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

#: by the columns of the CSV export
Row = dict[str, str]
Cells = list[tuple[str, str, str]]  #: metric, unit, value

_PROCESS: Final = re.compile(r"\s*\[(\d+)\] \S+@\S+\s*", re.ASCII)
_LAUNCH: Final = re.compile(
    r"\s*(?P<kernel>\S.*?)(?: (?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\)))?,"
    r"(?: \d{4}-\w{3}-\d\d \d\d:\d\d:\d\d,)? Context \d+, Stream \d+"
    r"(?:, Device \d+, CC (?P<cc>\d+\.\d+))?\s*",
    re.ASCII,
)
_SECTION: Final = re.compile(r"\s*Section: \S.*")
_DASHES: Final = re.compile(r"\s*(-{5,}) (-{5,}) (-{5,})\s*")
_NAMES: Final = re.compile(r"\s*Metric Name\s+Metric Unit\s+Metric Value\s*")
#: a table with its section, to know such a text
_KNOWN: Final = re.compile(r"^[ \t]*Section: \S.*\n[ \t]*-{5,} -{5,} -{5,}[ \t]*$", re.MULTILINE)


class _Columns(NamedTuple):
    name: int  #: where it begins
    unit: int  #: the name ends
    value: int  #: the unit ends


def knows(text: str) -> bool:
    """Whether a section with its table is in it."""
    return _KNOWN.search(text) is not None


def launches(lines: Sequence[str]) -> Iterator[tuple[Row, Cells, list[str]]]:
    """Every launch that has a table. The rules' texts are left out: they have no names."""
    process, count = "", 0
    row: Row = {}
    cells: Cells = []
    for line, is_cell, columns in _lines(lines):
        if is_cell and columns is not None:
            name, unit, value = (
                part.strip()
                for part in (
                    line[columns.name : columns.unit],
                    line[columns.unit : columns.value],
                    line[columns.value :],
                )
            )
            if name and value:
                cells.append((name, unit, value))
        elif match := _PROCESS.fullmatch(line):
            process = match[1]
        elif match := _LAUNCH.fullmatch(line):
            if cells:
                yield row, cells, []
            row, cells = _row(match, process, count), []
            count += 1
    if cells:
        yield row or {"ID": "0"}, cells, []


def _lines(lines: Sequence[str]) -> Iterator[tuple[str, bool, _Columns | None]]:
    """Each line, and whether it is a row of a table; of which only metrics are looked at."""
    columns: _Columns | None = None
    before = ""
    for i, line in enumerate(lines):
        dashes = _DASHES.fullmatch(line)
        if dashes is None:
            is_cell = columns is not None and bool(line.strip()) and not _NAMES.fullmatch(line)
            yield line, is_cell, columns
            columns = columns if line.strip() else None
        elif columns is not None:
            # below the names of the columns the table goes on, below its rows it ends
            columns = columns if _NAMES.fullmatch(before) else None
        else:
            following = lines[i + 1] if i + 1 < len(lines) else ""
            if _SECTION.fullmatch(before) or _NAMES.fullmatch(following):
                columns = _Columns(dashes.start(1), dashes.end(1), dashes.end(2))
        before = line


def _row(match: re.Match[str], process: str, number: int) -> Row:
    found = {
        "ID": str(number),
        "Process ID": process,
        "Kernel Name": match["kernel"],
        "Block Size": match["block"],
        "Grid Size": match["grid"],
        "CC": match["cc"],
    }
    return {key: value for key, value in found.items() if value}
