"""Launches in a CSV export of Nsight Compute: ``ncu --csv``, page ``details`` or ``raw``.

The details page has a row for each metric and rule, the raw page a column for each metric and the
units in its second row. ``--print-summary per-kernel`` has rows, too, with averages over all
launches of a kernel with one shape, which count as one launch here. Output of the program itself
and ``==PROF==`` lines may stand before and between; rows may be shorter than the header. Numbers
come in the locale of the machine.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from perfkit import files
from perfkit.errors import InputError
from perfkit.readers import ncu_text
from perfkit.readers.numerals import Mark, MixedNumeralsError, decimal_mark, number
from perfkit.readers.quantities import scaled
from perfkit.record import record

#: how the first line of an export begins, and that of a summary of launches; spreadsheets leave the
#: quotes out and put other separators in, logs put times in front
_START: Final = re.compile(
    r'(?P<before>[^"]*?)(?P<quote>"?)(?P<launch>ID"?[,;\t]"?)?Process ID"?(?P<delimiter>[,;\t])'
)
_LEAST: Final = 5
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MOST_BYTES: Final = 256 * 2**20
HINT: Final = "write it with ncu --csv --page details (or raw), of a report: ncu --import R --csv"


class Value(NamedTuple):
    """One metric: its name as in the file, and its value in SI units."""

    name: str
    kind: str  #: s, hz, byte, byte/s, ratio (0..1), or "" for anything that is counted
    amount: float | None  #: None: no number
    text: str


@record
class Profile:
    """One launch."""

    number: int  #: the ID in the file
    kernel: str
    capability: str | None
    block: tuple[int, int, int] | None
    grid: tuple[int, int, int] | None
    values: tuple[Value, ...]
    rules: tuple[str, ...]  #: names of the rules that had something to say
    process: str = ""  #: its number, as in the file


@record
class Profiles:
    """What a file holds."""

    profiles: tuple[Profile, ...]
    notes: tuple[str, ...]


class _Shape(NamedTuple):
    """How the rows of an export are written."""

    before: re.Pattern[str]  #: what stands in front of each
    begins: tuple[str, ...]
    delimiter: str
    least: int  #: separators in a row


def is_header(line: str) -> bool:
    """Whether an export begins with ``line``."""
    return _shape(line) is not None


def _shape(line: str) -> _Shape | None:
    match = _START.match(line)
    if match is None or not (match["launch"] or ("Metric Name" in line and "Average" in line)):
        return None
    # an index, a time or a line's number is another one in each row
    parts = map(re.escape, re.split(r"\d+", match["before"]))
    before = r"\d*" + r"\d+".join(parts) if match["before"] else ""
    delimiter = match["delimiter"]
    return _Shape(
        before=re.compile(before, re.ASCII),
        begins=('"',) if match["quote"] else ('"', delimiter, *"0123456789", "ID", "Process ID"),
        delimiter=delimiter,
        least=0 if match["quote"] else _LEAST,
    )


def read(path: Path, *, mark: Mark | None = None) -> Profiles:
    """The launches of an export.

    Args:
        path: the file.
        mark: the decimal mark, where the file does not show it.

    Raises:
        InputError: no such export, broken, without any launch, or numbers that cannot be read.
    """
    return parse(_text(path), str(path), mark=mark)


def parse(text: str, origin: str, *, mark: Mark | None = None) -> Profiles:
    """As ``read``, of a text that is read already; ``origin`` is what errors name."""
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    lines = plain.removeprefix("\ufeff").splitlines()
    start = next((i for i, line in enumerate(lines) if is_header(line)), None)
    if start is None:
        raw = [*ncu_text.launches(lines)]
        if not raw:
            raise InputError("no CSV export of Nsight Compute", where=origin, hint=HINT)
    else:
        header, rows = _rows(origin, lines, start)
        raw = [*(_details(rows) if "Metric Name" in header else _wide(header, rows))]
    if not raw:
        raise InputError("the export holds no launch", where=origin, hint=HINT)
    found = mark or _mark(origin, [cell for _, cells, _ in raw for _, _, cell in cells])
    profiles = tuple(_profile(row, cells, rules, found) for row, cells, rules in raw)
    return Profiles(profiles=profiles, notes=tuple(_notes(profiles, found)))


def _text(path: Path) -> str:
    content = files.read(path, _MOST_BYTES, "an export of Nsight Compute")
    if content.startswith(b"NVR\0"):
        raise InputError("a report, not its CSV export", where=str(path), hint=HINT)
    encoding = "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    return content.decode(encoding, errors="replace")


Row = dict[str, str]
#: what tells launches apart, and the kernels of a summary
_LAUNCH: Final = ("ID", "Process ID")
_KERNEL: Final = ("Process ID", "Kernel Name", "Block Size", "Grid Size", "Device", "Context")
_Cells = list[tuple[str, str, str]]  # metric, unit, text


def _rows(origin: str, lines: Sequence[str], start: int) -> tuple[list[str], list[Row]]:
    """Header and rows; talk of the profiler between them is left out."""
    shape = _shape(lines[start])
    wanted = (*_written(lines[start:], shape),) if shape else ()
    reader = csv.reader(wanted, strict=True, delimiter=shape.delimiter if shape else ",")
    header: list[str] = []
    rows: list[Row] = []
    try:
        for cells in reader:
            if not header:
                header = cells
            elif cells != header:  # several runs, one after another
                rows.append(dict(zip(header, cells, strict=False)))
    except csv.Error as error:
        where = f"{origin}:{start + reader.line_num}"
        raise InputError(f"broken CSV: {error}", where=where) from None
    return header, rows


def _written(lines: Iterable[str], shape: _Shape) -> Iterator[str]:
    for line in lines:
        match = shape.before.match(line)
        row = line[match.end() :] if match else ""
        # what a program prints between them may begin with a number
        if row.startswith(shape.begins) and row.count(shape.delimiter) >= shape.least:
            yield row


def _details(rows: list[Row]) -> Iterator[tuple[Row, _Cells, list[str]]]:
    """One entry per launch; an ID belongs to one process. A summary has none: its kernels do."""
    launches: dict[tuple[str, ...], tuple[Row, _Cells, list[str]]] = {}
    for row in rows:
        words = _LAUNCH if "ID" in row else _KERNEL
        key = tuple(row.get(word, "") for word in words)
        row.setdefault("ID", str(len(launches)))
        _, cells, rules = launches.setdefault(key, (row, [], []))
        if name := row.get("Metric Name"):
            value = row.get("Metric Value", row.get("Average", ""))
            cells.append((name, row.get("Metric Unit", ""), value))
        elif rule := row.get("Rule Name"):
            rules.append(rule)
    yield from launches.values()


def _wide(header: list[str], rows: list[Row]) -> Iterator[tuple[Row, _Cells, list[str]]]:
    """One row per launch, after the row of units."""
    units: Row = {}
    metrics = [name for name in header if name not in _COLUMNS]
    for row in rows:
        if not row.get("ID"):
            units = row
            continue
        cells = [(name, units.get(name, ""), row[name]) for name in metrics if row.get(name)]
        yield row, cells, []


_COLUMNS: Final = frozenset(
    {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
     "Stream", "Block Size", "Grid Size", "Device", "CC", "Section Name", "Rule Name"}
)  # fmt: skip


def _mark(origin: str, texts: list[str]) -> Mark:
    try:
        found = decimal_mark(texts)
    except MixedNumeralsError as error:
        raise InputError(f"numbers in two notations: {error}", where=origin) from None
    if found is None:
        example = next(text for text in texts if "." in text)
        raise InputError(
            f"{example!r} can be read in two ways, and nothing in the file says which",
            where=origin,
            hint="write --decimal point or --decimal comma",
        )
    return found


def _profile(row: Row, cells: _Cells, rules: list[str], mark: Mark) -> Profile:
    identity = row.get("ID", "")
    return Profile(
        number=int(identity) if identity.isascii() and identity.isdigit() else -1,
        process=row.get("Process ID", ""),
        kernel=row.get("Kernel Name", ""),
        capability=row.get("CC") or None,
        block=_dimensions(row.get("Block Size", "")),
        grid=_dimensions(row.get("Grid Size", "")),
        values=tuple(_value(name, unit, text, mark) for name, unit, text in cells),
        rules=tuple(dict.fromkeys(rules)),
    )


def _dimensions(text: str) -> tuple[int, int, int] | None:
    match = re.fullmatch(r"\((\d{1,10}), (\d{1,10}), (\d{1,10})\)", text.strip(), re.ASCII)
    if match is None:
        return None
    x, y, z = map(int, match.groups())
    return x, y, z


#: unit of the export -> kind and factor; what is not here is counted as it stands
_PREFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_TIMES: Final = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}


def _units() -> Mapping[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {"%": ("ratio", 0.01)}
    for prefix, factor in _PREFIXES.items():
        table[f"{prefix}byte"] = table[f"{prefix}byte/block"] = ("byte", factor)
        table[f"{prefix}byte/second"] = table[f"{prefix}byte/s"] = ("byte/s", factor)
        table[f"{prefix}hz"] = table[f"{prefix}Hz"] = ("hz", factor)
    for prefix, factor in _TIMES.items():
        table[f"{prefix}s"] = table[f"{prefix}second"] = ("s", factor)
        table[f"cycle/{prefix}second"] = ("hz", float(round(1 / factor)))
        table[f"byte/{prefix}second"] = ("byte/s", float(round(1 / factor)))
    table["sec"] = ("s", 1.0)
    return table


_UNITS: Final = _units()


def _value(name: str, unit: str, text: str, mark: Mark) -> Value:
    kind, factor = _UNITS.get(unit, ("", 1.0))
    amount = number(text, mark)
    return Value(name, kind, None if amount is None else scaled(amount, factor), text)


def _notes(profiles: Sequence[Profile], mark: Mark) -> Iterator[str]:
    if mark == ",":
        yield "numbers are read with a decimal comma"
    for one in profiles:
        sizes = {v.amount for v in one.values if v.name in {"launch__block_size", "Block Size"}}
        column = None if one.block is None else one.block[0] * one.block[1] * one.block[2]
        if column is not None and sizes - {None, column}:
            other = next(size for size in sizes if size != column)
            yield (
                f"launch {one.number}, {one.kernel}: the column says blocks of {column} threads, "
                f"the metric {other:g}"
            )
