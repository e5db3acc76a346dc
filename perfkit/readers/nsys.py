"""Reports of ``nsys stats --format csv``: sums and traces of kernels, copies, API calls and ranges.

Headers changed over the years (``Time(%)`` and ``Average``, then ``Time (%)`` and ``Avg (ns)``,
``Duration(nsec)`` in the first traces) and carry the units. A file may hold several reports, one
after another, with notices between them. The rows of a trace are samples of one run; a sum keeps
the median, or the mean where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from perfkit.errors import InputError
from perfkit.readers import table
from perfkit.readers.checks import checked, mapping
from perfkit.readers.numerals import Mark, is_number
from perfkit.readers.quantities import quantity, scaled
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("gpu_time", "range_time", "host_time")
HINT: Final = "write it with nsys stats --report cuda_gpu_kern_sum --format csv REPORT"

_COLUMN: Final = re.compile(r"\s*([^()]*?)\s*(?:\(([^()]*)\))?\s*")
_NAMES: Final = ("name", "operation", "range", "nvtx range", "kernel name")
_CENTRES: Final = ("med", "median", "avg", "average")
_COUNTS: Final = ("instances", "num calls", "calls", "count", "total instances")
#: columns about kernels in reports of calls, queues and kernels, as other reports call them
_OF_KERNELS: Final = {
    "kavg": "avg", "kmed": "med", "kstddev": "stddev",
    "kernel start": "start", "kernel dur": "duration",
}  # fmt: skip
_DELIMITERS: Final = (",", ";", "\t")
_SHAPES: Final = (("gridxyz", "grid"), ("blockxyz", "block"))


class Report(NamedTuple):
    """Which column of a report is what; indices, and the units of its times."""

    width: int
    name: int
    time: int
    a_second: float  #: units of its times; 0: a report of sizes
    metric: str
    calls: int | None = None
    deviation: tuple[int, float] | None = None
    mean: int | None = None
    shapes: tuple[tuple[int, str], ...] = ()
    delimiter: str = ","  #: a spreadsheet may have put another one in


def header(line: str) -> bool:
    """Whether ``line`` is the header of such a report."""
    return _report(line) is not None


#: a column's name in small letters -> where it is, and its unit
_Columns = dict[str, tuple[int, str]]


def _report(line: str) -> Report | None:
    delimiter = max(_DELIMITERS, key=line.count)
    if delimiter not in line or "(" not in line:
        return None
    cells = [cell.strip().strip('"') for cell in line.split(delimiter)]
    found = _columns(cells)
    name = next((found[key][0] for key in _NAMES if key in found), None)
    if name is None:
        return None
    if (summed := _sum(found, name)) is not None:
        return summed._replace(width=len(cells), delimiter=delimiter)
    duration = found.get("duration") or found.get("projected duration")
    if duration is None or not any("start" in key for key in found):
        return None
    return Report(
        len(cells), name, duration[0], _a_second(duration[1]), _metric(found), delimiter=delimiter
    )


def _columns(cells: Sequence[str]) -> _Columns:
    found: _Columns = {}
    for i, cell in enumerate(cells):
        match = _COLUMN.fullmatch(cell)
        if match is not None:
            found.setdefault(match[1].lower(), (i, match[2] or ""))
    if not found.keys() & _OF_KERNELS.keys():
        return found
    kept = ("kernel name", "count", "gridxyz", "blockxyz")
    of_kernels = {new: found[old] for old, new in _OF_KERNELS.items() if old in found}
    return {key: found[key] for key in kept if key in found} | of_kernels


def _sum(found: _Columns, name: int) -> Report | None:
    """A report of sums; its width is not known here. None: it is none."""
    count = next((found[key][0] for key in _COUNTS if key in found), None)
    centre = next((found[key] for key in _CENTRES if key in found), None)
    total = found.get("total time") or found.get("total")
    if centre is None or count is None or not (total is not None or centre[1]):
        return None
    # old sums give the unit of the total only
    unit = total[1] if total is not None else centre[1]
    scatter = found.get("stddev")
    scale = _a_second(scatter[1] or unit) if scatter else 0.0
    mean = found.get("avg") or found.get("average")
    return Report(
        width=0,
        name=name,
        time=centre[0],
        a_second=_a_second(centre[1] or unit),
        metric=_metric(found),
        calls=count,
        deviation=(scatter[0], scale) if scatter and scale else None,
        mean=mean[0] if mean else None,
        shapes=tuple((found[key][0], label) for key, label in _SHAPES if key in found),
    )


def _a_second(unit: str) -> float:
    """How many of a unit in a header are a second, nanoseconds where there is none; 0: no time."""
    found = quantity(unit or "ns")
    return found.per if found is not None and found.unit is Unit.SECONDS else 0.0


def _metric(columns: _Columns) -> str:
    """Times of the GPU, of marked ranges and of calls on the host are different things."""
    if "range" in columns or "nvtx range" in columns or "lvl" in columns or "style" in columns:
        return "range_time"
    if "num calls" in columns or "calls" in columns or "pid" in columns or "tid" in columns:
        return "host_time"
    return "gpu_time"


def knows(document: object) -> bool:
    """Rows of a report as ``nsys stats --format json`` writes them."""
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return False
    return header(",".join(map(str, document[0])))


def read_list(document: list[Any], origin: str) -> ResultFile:
    """The same of such rows.

    Raises:
        InputError: a row that is none, or a cell that is no number.
    """
    columns = [*document[0]]
    report = _report(",".join(map(str, columns)))
    rows: _Rows = []
    for i, item in enumerate(document):
        row = mapping(item, f"{origin}[{i}]")
        values = [row.get(name) for name in columns]
        rows.append((i, ["" if value is None else str(value) for value in values]))
    found = [] if report is None else [(report, rows)]
    return _result(found, origin, lambda i: f"{origin}[{i}]")


def read(lines: Sequence[str], origin: str, mark: Mark | None = None) -> ResultFile:
    """One run of every name in every report of the file.

    Raises:
        InputError: a cell that is no number, or broken quoting: with its line.
    """
    return _result(_reports(lines, origin), origin, lambda line: f"{origin}:{line}", mark)


_Rows = list[tuple[int, list[str]]]  #: each with its number in the file
_Place = Callable[[int], str]  #: of a row, for messages


def _result(
    found: Iterable[tuple[Report, _Rows]], origin: str, place: _Place, mark: Mark | None = None
) -> ResultFile:
    reports = [(report, rows) for report, rows in found if report.a_second]
    numbers = [
        cells[i]
        for report, rows in reports
        for _, cells in rows
        for i in (report.time, report.mean, report.calls)
        if i is not None
    ]
    decided = table.mark_of(numbers, origin, given=mark, otherwise=".")
    runs: list[Run] = []
    for report, rows in reports:
        runs += (_sums if report.calls is not None else _trace)(report, rows, place, decided)
    if not runs:
        raise InputError("a report without any time", where=origin)
    notes = ("numbers are read with a decimal comma",) if decided == "," else ()
    return ResultFile(kind="nsys", origin=origin, runs=tuple(runs), notes=notes)


def _reports(lines: Sequence[str], origin: str) -> Iterator[tuple[Report, _Rows]]:
    """Every report with its rows, which end at the first line that cannot be one."""
    starts = [(i, found) for i, line in enumerate(lines) if (found := _report(line)) is not None]
    for (start, report), (end, _) in zip(starts, [*starts[1:], (len(lines), None)], strict=True):
        rows: _Rows = []
        for line, cells in table.rows(lines[:end], start + 1, origin, report.delimiter):
            # a notice, between reports or at the end; a number is the rest of a row
            if not cells or (len(cells) == 1 and not is_number(cells[0].strip())):
                break
            if len(cells) != report.width:
                message = f"{len(cells)} cells in {report.width} columns"
                raise InputError(message, where=f"{origin}:{line}")
            rows.append((line, cells))
        yield report, rows


def _sums(report: Report, rows: _Rows, place: _Place, mark: Mark) -> Iterator[Run]:
    for line, cells in rows:
        where = place(line)
        name = cells[report.name]
        for column, label in report.shapes:
            name += f" {label}({', '.join(cells[column].split())})"
        spread = None
        if report.deviation is not None and report.mean is not None:
            column, a_second = report.deviation
            mean = table.cell(cells[report.mean], mark, where) / report.a_second
            deviation = table.cell(cells[column], mark, where) / a_second
            spread = deviation / mean if mean else None
        count = table.cell(cells[report.calls or 0], mark, where)
        yield checked(
            Run(
                benchmark=name,
                values=(scaled(table.cell(cells[report.time], mark, where), per=report.a_second),),
                unit=Unit.SECONDS,
                metric=report.metric,
                spread=spread,
                samples=int(count) if 0 < count < 2**63 else None,
                source=where,
            )
        )


def _trace(report: Report, rows: _Rows, place: _Place, mark: Mark) -> Iterator[Run]:
    samples: dict[str, tuple[int, list[float]]] = {}
    for line, cells in rows:
        typed = table.cell(cells[report.time], mark, place(line))
        seconds = scaled(typed, per=report.a_second)
        samples.setdefault(cells[report.name], (line, []))[1].append(seconds)
    for name, (line, values) in samples.items():
        yield checked(
            Run(
                benchmark=name,
                values=tuple(values),
                unit=Unit.SECONDS,
                metric=report.metric,
                source=place(line),
            )
        )
