"""Results of Google Benchmark, ``--benchmark_format=json``, with the schema of any version.

Repetitions are samples of one run: one process took them. Rows of aggregates (mean, median,
stddev, cv) are no times; they are used only where a file has nothing else for a benchmark.
"""

from __future__ import annotations

from typing import Any, Final

from perfkit.errors import InputError
from perfkit.readers.checks import amount, checked, mapping, sequence, text
from perfkit.readers.quantities import quantity, scaled
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("time",)

_TIMES: Final = {"real_time": "time", "cpu_time": "cpu_time"}
_RATES: Final = {
    "bytes_per_second": Unit.BYTES_PER_SECOND,
    "items_per_second": Unit.PER_SECOND,
}
#: keys of an entry that are no counters of the user
_KNOWN: Final = frozenset(
    {
        "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
        "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
        "error_occurred", "error_message", "skipped", "skip_message", "aggregate_name",
        "aggregate_unit", "cpu_coefficient", "real_coefficient", "big_o", "rms",
        "allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth",
    }
)  # fmt: skip
_STATISTICS: Final = ("mean", "median", "stddev", "cv")


class _Series:
    """What the entries of one benchmark say, by metric."""

    __slots__ = ("aggregates", "failure", "indices", "values", "where")

    def __init__(self, where: str) -> None:
        self.where = where
        self.values: dict[str, tuple[Unit, list[float]]] = {}
        self.aggregates: dict[str, dict[str, Any]] = {}
        self.indices: list[int] = []
        self.failure: str | None = None


def knows(document: object) -> bool:
    """Benchmarks with real and processor time, or a context and no benchmark."""
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        return False
    entries = document["benchmarks"]
    if not entries:
        return "context" in document
    first = entries[0]
    return isinstance(first, dict) and bool({"real_time", "run_type", "run_name"} & first.keys())


def read(document: dict[str, Any], origin: str) -> ResultFile:
    """One run of every benchmark, and of each of its metrics.

    Raises:
        InputError: not the structure, or a value that is no number; ``where`` is its path.
    """
    notes: list[str] = []
    entries = sequence(document.get("benchmarks"), f"{origin}: benchmarks")
    series: dict[str, _Series] = {}
    told = (entry.get("name") for entry in entries if isinstance(entry, dict))
    names = {name for name in told if isinstance(name, str)}
    for i, item in enumerate(entries):
        where = f"{origin}: benchmarks[{i}]"
        entry = mapping(item, where)
        name = text(entry.get("name"), f"{where}.name")
        kind = _aggregate(entry, name, names)
        if kind is None:
            if (one := series.get(name)) is None:
                one = series[name] = _Series(where)
            _add(one, entry, where)
        elif kind in _STATISTICS:  # a complexity (BigO, RMS) is of other benchmarks
            key = str(entry.get("run_name") or name.removesuffix(f"_{kind}"))
            series.setdefault(key, _Series(where)).aggregates[kind] = entry
    runs: list[Run] = []
    for name, one in series.items():
        runs += _runs(name, one)
        if len(set(one.indices)) < len(one.indices):
            notes.append(f"{one.where}: {name} was measured more often than it was repeated")
    environment = _context(document, f"{origin}: context", notes)
    return ResultFile(
        kind="google-benchmark",
        origin=origin,
        runs=tuple(runs),
        environment=environment,
        notes=tuple(notes),
    )


def _aggregate(entry: dict[str, Any], name: str, names: set[str]) -> str | None:
    """Which statistic of the repetitions the entry is; None: one of them."""
    kind = entry.get("run_type")
    if kind == "aggregate":
        return str(entry.get("aggregate_name") or "?")
    if kind is not None:
        return None
    # before version 1.5 the name says it
    if "big_o" in entry or "rms" in entry:
        return "complexity"
    base, _, last = name.rpartition("_")
    return last if last in _STATISTICS and base in names else None


def _add(series: _Series, entry: dict[str, Any], where: str) -> None:
    if entry.get("error_occurred") or entry.get("skipped"):
        message = entry.get("error_message") or entry.get("skip_message") or "no message"
        series.failure = str(message)
        return
    index = entry.get("repetition_index")
    if isinstance(index, int):
        series.indices.append(index)
    a_second = _a_second(entry, where)
    values = series.values
    for key, metric in _TIMES.items():
        if key not in entry:
            continue
        value = entry[key]
        number = value if type(value) is float else amount(value, f"{where}.{key}")
        seconds = scaled(number, per=a_second)
        if metric in values:
            values[metric][1].append(seconds)
        else:
            values[metric] = (Unit.SECONDS, [seconds])
    for key, value in entry.items():
        if key in _KNOWN:
            continue
        if key in _RATES or (isinstance(value, int | float) and not isinstance(value, bool)):
            unit = _RATES.get(key, Unit.COUNT)
            values.setdefault(key, (unit, []))[1].append(amount(value, f"{where}.{key}"))


def _a_second(entry: dict[str, Any], where: str) -> float:
    """How many units of the entry's times are a second."""
    unit = entry.get("time_unit", "ns")
    found = quantity(unit) if isinstance(unit, str) else None
    if found is None or found.unit is not Unit.SECONDS:
        raise InputError(f"{unit!r} is no unit of time", where=f"{where}.time_unit")
    return found.per


def _runs(name: str, series: _Series) -> list[Run]:
    where = series.where
    if series.failure is not None:
        failed = Run(
            benchmark=name, values=(), unit=Unit.SECONDS, failure=series.failure, source=where
        )
        return [failed]
    if not series.values:
        return [_summary(name, series)]
    return [
        checked(Run(benchmark=name, values=tuple(values), unit=unit, metric=metric, source=where))
        for metric, (unit, values) in series.values.items()
    ]


def _summary(name: str, series: _Series) -> Run:
    """What aggregates say of a benchmark without repetitions: ``…_report_aggregates_only``."""
    where = series.where
    centre = series.aggregates.get("median") or series.aggregates.get("mean")
    values: tuple[float, ...] = ()
    samples = None
    if centre is not None and "real_time" in centre:
        time = amount(centre["real_time"], f"{where}.real_time")
        values = (scaled(time, per=_a_second(centre, where)),)
        samples = centre.get("repetitions")
    spread = series.aggregates.get("cv", {}).get("real_time")
    return checked(
        Run(
            benchmark=name,
            values=values,
            unit=Unit.SECONDS,
            spread=None if spread is None else amount(spread, f"{where} cv"),
            samples=samples if isinstance(samples, int) else None,
            source=where,
        )
    )


def _context(document: dict[str, Any], where: str, notes: list[str]) -> dict[str, str]:
    context = mapping(document.get("context") or {}, where)
    if context.get("library_build_type") == "debug":
        notes.append(f"{where}: the benchmark library is a debug build; its overhead is measured")
    keys = {"host_name": "host", "date": "date", "executable": "command"}
    return {name: str(context[key]) for key, name in keys.items() if context.get(key)}
