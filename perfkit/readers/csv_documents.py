"""CSV of benchmark programs that write JSON too, as that JSON: one reader for both.

``nvbench --csv``, ``--benchmark_format=csv`` of Google Benchmark, ``pytest-benchmark compare
--csv`` and ``hyperfine --export-csv``. They have less in them: all but Google Benchmark's only a
summary of the samples. Places in messages are those of the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from perfkit.errors import InputError
from perfkit.readers import table

Row = dict[str, str]

#: nvbench's columns -> tag of the summary; that of a scatter stands right of its time
_TAGS: Final = {
    "CPU Time (sec)": ("nv/cold/time/cpu/mean", "nv/cold/time/cpu/stdev/relative"),
    "GPU Time (sec)": ("nv/cold/time/gpu/mean", "nv/cold/time/gpu/stdev/relative"),
    "Batch GPU (sec)": ("nv/batch/time/gpu/mean", ""),
    "Elem/s (elem/sec)": ("nv/cold/bw/item_rate", ""),
    "GlobalMem BW (bytes/sec)": ("nv/cold/bw/global/bytes_per_second", ""),
}
_NOISE: Final = "Noise (%)"
_SAMPLES: Final = "Samples"
_POWER: Final = " (pow2)"  #: the column of an axis beside that of its plain values
_NO_AXIS: Final = frozenset({"Benchmark", "Device", "Device Name", "Skipped", "Batch", _SAMPLES})
_MEASURED: Final = re.compile(r".* \((?:sec|%|bytes|bytes/sec|elem/sec|Hz)\)")
_PARAMETER: Final = "parameter_"


class _Program(NamedTuple):
    kind: str  #: as of its JSON
    columns: frozenset[str]  #: that no file of it lacks
    document: Callable[[list[str], list[list[str]]], dict[str, Any]]


def kind(line: str) -> str | None:
    """Which program's header ``line`` is.

    >>> kind("command,mean,stddev,median,user,system,min,max"), kind("benchmark,value,unit")
    ('hyperfine', None)
    """
    program = _program(_cells(line))
    return program.kind if program else None


def read(lines: Sequence[str], first: int, origin: str) -> dict[str, Any]:
    """What the program would have written as JSON.

    Args:
        lines: of the whole file.
        first: the header's index.
        origin: the file, for messages.

    Raises:
        InputError: a row that is too long or too short, or no row: with its line.
    """
    header = _cells(lines[first])
    program = _program(header)
    rows: list[list[str]] = []
    for line, cells in table.rows(lines, first + 1, origin, ","):
        if not cells or (len(cells) == 1 and len(header) > 1):  # what the program says afterwards
            break
        if len(cells) != len(header):
            message = f"{len(cells)} cells in {len(header)} columns"
            raise InputError(message, where=f"{origin}:{line}")
        rows.append([cell.strip() for cell in cells])
    if not rows or program is None:
        raise InputError("a header and no row", where=f"{origin}:{first + 1}")
    return program.document(header, rows)


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(",")]


def _program(header: list[str]) -> _Program | None:
    return next((one for one in _PROGRAMS if one.columns <= set(header)), None)


def _google_benchmark(header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [
        {k: v for k, v in zip(header, cells, strict=True) if v} for cells in rows
    ]
    names = {entry.get("name", "") for entry in entries}
    for entry in entries:
        if entry.get("error_occurred") != "true":
            entry.pop("error_occurred", None)
        base, _, last = entry.get("name", "").rpartition("_")
        # only the names tell statistics from repetitions; some files have no repetitions
        if last in {"mean", "median", "stddev", "cv"} and f"{base}_stddev" in names:
            entry |= {"run_type": "aggregate", "aggregate_name": last, "run_name": base}
    return {"benchmarks": entries}


def _pytest_benchmark(header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    for cells in rows:
        stats = {k: v for k, v in zip(header, cells, strict=True) if v}
        entries.append({"fullname": stats.pop("name", ""), "stats": stats})
    return {"machine_info": {}, "benchmarks": entries}


def _hyperfine(header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    for cells in rows:
        entry = {k: v for k, v in zip(header, cells, strict=True) if v}
        parameters = {
            key.removeprefix(_PARAMETER): value
            for key, value in entry.items()
            if key.startswith(_PARAMETER)
        }
        results.append({**entry, "parameters": parameters})
    return {"results": results}


def _nvbench(header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    benchmarks: dict[str, list[dict[str, Any]]] = {}
    devices: dict[str, str] = {}
    for cells in rows:
        row = dict(zip(header, cells, strict=True))
        device = row["Device"]
        if device:
            devices[device] = row["Device Name"]
        axes = " ".join(_axes(header, row))
        label = f"Device={device} {axes}" if device else axes
        benchmarks.setdefault(row["Benchmark"], []).append(
            {
                "name": label.strip(),
                "device": device,
                "is_skipped": row.get("Skipped") == "Yes",
                "summaries": [*_summaries(header, cells)],
            }
        )
    return {
        "devices": [{"id": key, "name": name} for key, name in devices.items()],
        "benchmarks": [{"name": name, "states": states} for name, states in benchmarks.items()],
    }


def _axes(header: list[str], row: Row) -> Iterator[str]:
    """``Elements=2^16``, as the names of states have it."""
    for name in header:
        if name in _NO_AXIS or _MEASURED.fullmatch(name) or name.endswith(_POWER):
            continue
        value = row.get(name + _POWER) or row[name]
        if value:
            yield f"{name}={value}"


def _summaries(header: list[str], cells: list[str]) -> Iterator[dict[str, Any]]:
    scatter = ""
    if _SAMPLES in header and (count := cells[header.index(_SAMPLES)]):
        yield _summary("nv/cold/sample_size", count)
    for name, value in zip(header, cells, strict=True):
        tag, after = _TAGS.get(name, ("", ""))
        if name == _NOISE:
            tag = scatter
        scatter = after
        if tag and value:
            yield _summary(tag, value)


def _summary(tag: str, value: str) -> dict[str, Any]:
    return {"tag": tag, "data": [{"name": "value", "value": value}]}


_PROGRAMS: Final = (
    _Program("nvbench", frozenset({"Benchmark", "Device", "Device Name", "Skipped"}), _nvbench),
    _Program(
        "google-benchmark",
        frozenset({"name", "iterations", "real_time", "cpu_time", "time_unit"}),
        _google_benchmark,
    ),
    _Program(
        "pytest-benchmark",
        frozenset({"name", "mean", "stddev", "median", "rounds", "iterations"}),
        _pytest_benchmark,
    ),
    _Program("hyperfine", frozenset({"command", "mean", "stddev", "median"}), _hyperfine),
)
