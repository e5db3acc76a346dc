"""``gate.baseline`` -> document and JSON: what was recorded, and how much of it is noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from perfkit.gate.baseline import MOST_FLOOR
from perfkit.gate.baseline_format import Entry, to_json
from perfkit.readers.results import Unit
from perfkit.report.document import Cell, Column, Document, Table, printable
from perfkit.units import format_count, format_seconds

_COLUMNS: Final = (
    Column("benchmark", "benchmark"),
    Column("metric", "of"),
    Column("runs", "runs", "count"),
    Column("median", "median", "count"),
    Column("noise", "run to run", "count"),
    Column("interval", "which is"),
    Column("floor", "noise floor", "count"),
    Column("gpu", "GPU"),
)
_FLAT: Final = tuple(
    Column(key, key)
    for key in (
        *("benchmark", "metric", "unit", "runs", "median", "noise", "noise_low", "noise_high"),
        *("noise_floor", "gpu", "compute_capability", "driver", "toolkit", "commit", "date"),
    )
)


def value_text(value: float, unit: str) -> str:
    """A measured value with its unit.

    >>> value_text(2.5e-5, "s"), value_text(4.2e12, "B/s"), value_text(120, "cycles")
    ('25 us', '4.2 TB/s', '120 cycles')
    """
    if unit == Unit.SECONDS:
        return format_seconds(value)
    if unit in {Unit.BYTES_PER_SECOND, Unit.FLOP_PER_SECOND, Unit.PER_SECOND}:
        return format_count(value, unit)
    return f"{value:.6g}" if unit == Unit.RATIO else f"{value:.6g} {unit}"


def share(value: float) -> Cell:
    """A relative figure in two digits."""
    return Cell(value, f"{value * 100:.2g}%")


def document(entries: Sequence[Entry], place: Path | None) -> Document:
    """A row for each entry that was recorded."""
    rows, notes = [], []
    for entry in entries:
        noise = entry.noise
        values = [run.values[0] for run in entry.runs]
        centre = median(values)
        rows.append(
            (
                entry.benchmark,
                entry.metric,
                len(values),
                Cell(centre, value_text(centre, entry.unit)),
                noise and share(noise.relative),
                noise and f"{noise.interval[0] * 100:.2g} to {noise.interval[1] * 100:.2g}%",
                noise and share(noise.floor),
                entry.environment.get("gpu"),
            )
        )
        if noise is None:
            few = "1 run is" if len(values) == 1 else f"{len(values)} runs are"
            notes.append(f"{entry.benchmark}: {few} too few for a noise floor, which takes four")
        else:
            notes += [f"{entry.benchmark}: {note}" for note in noise.notes]
            if noise.floor > MOST_FLOOR:
                notes.append(f"{entry.benchmark}: no threshold suits such a noise floor")
    if entries and not any(entry.environment.get("gpu") for entry in entries):
        notes.append("no GPU is named: runs of any other will be compared with these")
    many = f"{len(entries)} benchmark{'' if len(entries) == 1 else 's'}"
    where = f" in {printable(str(place))}" if place else ""
    return Document(
        tables=(Table(columns=_COLUMNS, rows=tuple(rows)).without_empty_columns(),),
        notes=tuple(notes),
        summary=f"Recorded {many}{where}",
        flat=Table(columns=_FLAT, rows=tuple(_flat(entry) for entry in entries)),
    )


def _flat(entry: Entry) -> tuple[Any, ...]:
    noise, told = entry.noise, {**entry.environment, **entry.about}
    values = [run.values[0] for run in entry.runs]
    figures = (noise.relative, *noise.interval, noise.floor) if noise else (None,) * 4
    names = ("gpu", "compute_capability", "driver", "toolkit", "commit", "date")
    return (
        *(entry.benchmark, entry.metric, entry.unit.value, len(values), median(values)),
        *figures,
        *(told.get(name) for name in names),
    )


def content(entries: Sequence[Entry]) -> dict[str, Any]:
    """The entries as the file has them."""
    return {"entries": [to_json(entry) for entry in entries]}
