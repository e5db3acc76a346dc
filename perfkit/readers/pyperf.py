"""Results of pyperf, ``-o FILE`` of a script or of ``python -m pyperf timeit|command``.

Each of its runs is a process, whose values are samples. Runs that only look for the number of
loops, and warm-ups, are no results. What all benchmarks of a file share, the name of the only one
among it, stands once for the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from perfkit.errors import InputError
from perfkit.readers.checks import amounts, checked, mapping, sequence, text
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("time",)

#: pyperf's names of units -> metric and unit
_UNITS: Final = {
    "second": ("time", Unit.SECONDS),
    "byte": ("memory", Unit.BYTES),
    "integer": ("value", Unit.COUNT),
}


def knows(document: object) -> bool:
    """Benchmarks that are lists of runs."""
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        return False
    entries = document["benchmarks"]
    if not entries:
        return "version" in document and "metadata" in document
    return isinstance(entries[0], dict) and isinstance(entries[0].get("runs"), list)


def read(document: dict[str, Any], origin: str) -> ResultFile:
    """A run of every process of every benchmark that measured something.

    Raises:
        InputError: not the structure, or a value that is no number; ``where`` is its path.
    """
    shared = mapping(document.get("metadata") or {}, f"{origin}: metadata")
    runs: list[Run] = []
    dates: list[str] = []
    for i, item in enumerate(sequence(document["benchmarks"], f"{origin}: benchmarks")):
        where = f"{origin}: benchmarks[{i}]"
        benchmark = mapping(item, where)
        own = mapping(benchmark.get("metadata") or {}, f"{where}.metadata")
        runs += _runs(benchmark, {**shared, **own}, where, dates)
    found = {"host": shared.get("hostname"), "date": min(dates, default=None)}
    return ResultFile(
        kind="pyperf",
        origin=origin,
        runs=tuple(runs),
        environment={key: str(value) for key, value in found.items() if value},
    )


def _runs(
    benchmark: dict[str, Any], about: dict[str, Any], where: str, dates: list[str]
) -> Iterator[Run]:
    """``about`` is said of all its runs; when they began is added to ``dates``."""
    name = text(about.get("name", "pyperf"), f"{where}.metadata.name")
    spelled = about.get("unit", "second")
    metric, unit = _UNITS.get(str(spelled), ("", Unit.COUNT))
    if not metric:
        raise InputError(f"unknown unit {spelled!r}", where=f"{where}.metadata.unit")
    number = 0
    for i, item in enumerate(sequence(benchmark.get("runs"), f"{where}.runs")):
        place = f"{where}.runs[{i}]"
        run = mapping(item, place)
        values = amounts(sequence(run.get("values"), f"{place}.values"), f"{place}.values")
        if not values:
            continue
        number += 1
        date = mapping(run.get("metadata") or {}, f"{place}.metadata").get("date")
        dates += [date] if isinstance(date, str) else []
        yield checked(
            Run(
                benchmark=name,
                values=values,
                unit=unit,
                run=str(number),
                metric=metric,
                source=place,
            )
        )
    if not number:
        yield checked(Run(benchmark=name, values=(), unit=unit, metric=metric, source=where))
