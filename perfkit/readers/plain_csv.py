"""Results in the plain CSV of perfkit, for programs that nothing else reads.

``benchmark,value,unit`` are needed. Rows of one benchmark are samples of one run, unless ``run``
says which process took them; ``pair`` names the neighbour on the other side. Further columns:
``metric`` (if not given time, or the unit of anything else), ``noise`` or ``spread`` (relative),
``clock_mhz``, ``higher_is_better``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from perfkit.errors import InputError
from perfkit.readers import table
from perfkit.readers.checks import checked
from perfkit.readers.numerals import Mark
from perfkit.readers.quantities import quantity, scaled
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ()

_NEEDED: Final = ("benchmark", "value", "unit")
_FURTHER: Final = ("run", "pair", "metric", "noise", "spread", "clock_mhz", "higher_is_better")
#: how a text says whether higher is better
TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_DELIMITERS: Final = (",", ";", "\t")
#: what counts is how runs repeat: ten processes taken for one say nothing of that
_ONE_RUN: Final = (
    "a CSV file without a column run is one run, and rows of one benchmark are its samples: where "
    "each row is a process of its own, number them in such a column"
)
#: units that do not tell which way is better: a hit rate, a share of stalls
_EITHER_WAY: Final = {Unit.RATIO, Unit.COUNT}


class _Further:
    """What the columns that most files do not have say of one run."""

    __slots__ = ("better", "clocks", "noise", "pair")

    def __init__(self) -> None:
        self.pair = ""
        self.noise: float | None = None
        self.clocks: list[float] = []
        self.better: bool | None = None


_Key = tuple[str, str, str]  #: benchmark, run, metric
_NOTHING: Final = _Further()


def header(line: str) -> tuple[list[str], str] | None:
    """The columns and the delimiter, where ``line`` is the header of such a file."""
    for delimiter in _DELIMITERS:
        names = [name.strip().strip('"').strip().lower() for name in line.split(delimiter)]
        if "benchmark" in names and "value" in names:
            return names, delimiter
    return None


def read(lines: Sequence[str], first: int, origin: str, mark: Mark | None = None) -> ResultFile:
    """One run of every benchmark, metric and ``run``.

    Args:
        lines: of the whole file.
        first: the header's index.
        origin: the file, for messages.
        mark: the decimal mark. A point where nothing in the file says otherwise, unless
            semicolons separate its columns.

    Raises:
        InputError: an unknown column or unit, a row that is too long or too short, a value that is
            no number: each with its line.
    """
    found = header(lines[first])
    names, delimiter = found or ([], ",")
    columns = _columns(names, f"{origin}:{first + 1}")
    rows = [
        (line, cells)
        for line, cells in table.rows(lines, first + 1, origin, delimiter)
        if cells and any(map(str.strip, cells))
    ]
    for line, cells in rows:
        if len(cells) != len(names):
            message = f"{len(cells)} cells in {len(names)} columns"
            raise InputError(message, where=f"{origin}:{line}")
    if not rows:
        raise InputError("a header and no row", where=origin)
    place = columns["value"]
    numbers = [columns[name] for name in ("value", "noise", "clock_mhz") if name in columns]
    commas = delimiter != "," or any("," in cells[place] for _, cells in rows)
    texts = (cells[i].strip().removesuffix("%") for i in numbers for _, cells in rows)
    otherwise: Mark | None = None if delimiter == ";" else "."
    decided = table.mark_of(texts, origin, given=mark, otherwise=otherwise) if commas else mark
    runs = _runs(rows, columns, origin, decided or ".")
    notes = ["numbers are read with a decimal comma"] if decided == "," else []
    if any(run.unit in _EITHER_WAY and run.higher_is_better is None for run in runs):
        notes.append(
            f"{origin}: shares and counts are taken to be better when lower; a column "
            "higher_is_better says otherwise"
        )
    if "run" not in columns and any(len(run.values) > 1 for run in runs):
        notes.append(_ONE_RUN)
    return ResultFile(kind="csv", origin=origin, runs=runs, notes=tuple(notes))


def _columns(names: list[str], where: str) -> dict[str, int]:
    for name in names:
        if name not in {*_NEEDED, *_FURTHER}:
            known = ", ".join((*_NEEDED, *_FURTHER))
            raise InputError(f"unknown column {name!r}", where=where, hint=f"columns are {known}")
        if names.count(name) > 1:
            raise InputError(f"column {name!r} is there twice", where=where)
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise InputError(f"column {missing[0]!r} is missing", where=where)
    if {"noise", "spread"} <= set(names):
        raise InputError("noise and spread are the same; write one of them", where=where)
    return {("noise" if name == "spread" else name): i for i, name in enumerate(names)}


def _runs(
    rows: list[tuple[int, list[str]]], columns: dict[str, int], origin: str, mark: Mark
) -> tuple[Run, ...]:
    name_at, value_at, unit_at = (columns[name] for name in _NEEDED)
    run_at, metric_at = columns.get("run"), columns.get("metric")
    samples: dict[_Key, list[float]] = {}
    lines: dict[_Key, int] = {}
    units: dict[tuple[str, str], Unit] = {}
    further: dict[_Key, _Further] = {}
    has_further = bool(columns.keys() - {*_NEEDED, "run", "metric"})
    for line, cells in rows:
        unit = quantity(cells[unit_at])
        if unit is None:
            raise InputError(f"unknown unit {cells[unit_at]!r}", where=f"{origin}:{line}")
        run = cells[run_at].strip() if run_at is not None else ""
        typed = cells[metric_at].strip() if metric_at is not None else ""
        metric = typed or ("time" if unit.unit is Unit.SECONDS else str(unit.unit))
        name = cells[name_at]
        if not name.strip():
            raise InputError("a row without the name of its benchmark", where=f"{origin}:{line}")
        text = cells[value_at]
        try:  # nearly all are plain numbers, and there may be many
            value = float(text if mark == "." and "_" not in text else "no")
        except ValueError:
            value = table.cell(text, mark, f"{origin}:{line}")
        key = (name, run, metric)
        known = samples.get(key)
        if known is None:
            samples[key] = known = []
            lines[key] = line
        known.append(scaled(value, unit.times, unit.per))
        for label in (metric,) if typed else (metric, ""):  # rows without one are one series
            if units.setdefault((name, label), unit.unit) is not unit.unit:
                message = f"{name!r} is in {unit.unit} here, in {units[name, label]} before"
                raise InputError(message, where=f"{origin}:{line}")
        if has_further:
            one = further.setdefault(key, _Further())
            _further(one, cells, columns, f"{origin}:{line}", mark)
    return tuple(
        _run(key, values, units[key[0], key[2]], further.get(key, _NOTHING), f"{origin}:{line}")
        for (key, values), line in zip(samples.items(), lines.values(), strict=True)
    )


def _run(key: _Key, values: list[float], unit: Unit, further: _Further, where: str) -> Run:
    clocks = further.clocks
    return checked(
        Run(
            benchmark=key[0],
            values=tuple(values),
            unit=unit,
            run=key[1] or None,
            pair=further.pair or None,
            metric=key[2],
            higher_is_better=further.better,
            spread=further.noise,
            clock_hz=sum(clocks) / len(clocks) if clocks else None,
            source=where,
        )
    )


def _further(
    series: _Further, cells: list[str], columns: dict[str, int], where: str, mark: Mark
) -> None:
    """Take them from one row; a run has one pair and one direction."""

    def text(name: str) -> str:
        return cells[columns[name]].strip() if name in columns else ""

    if pair := text("pair"):
        if series.pair not in {"", pair}:
            raise InputError(f"pair {pair!r} and {series.pair!r} of one run", where=where)
        series.pair = pair
    if noise := text("noise"):
        share = table.cell(noise.removesuffix("%"), mark, where)
        series.noise = scaled(share, per=100) if noise.endswith("%") else share
    if clock := text("clock_mhz"):
        hertz = scaled(table.cell(clock, mark, where), 1e6)
        if not 0 < hertz < math.inf:
            raise InputError(f"a clock of {clock} MHz", where=where)
        series.clocks.append(hertz)
    if truth := text("higher_is_better"):
        better = TRUTHS.get(truth.lower())
        if better is None:
            raise InputError(f"higher_is_better is {truth!r}: write true or false", where=where)
        if series.better not in {None, better}:
            raise InputError("higher_is_better is true and false for one run", where=where)
        series.better = better
