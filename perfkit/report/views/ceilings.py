"""``analysis.measured_ceilings`` -> document, and the file that other commands read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.measured_ceilings import LEVELS, Ceiling, CeilingsReport, Compared
from perfkit.report.document import Cell, Column, Document, Table

_TITLES: Final = {
    "dram": "Memory",
    "l2": "Memory",
    "l1": "Memory",
    "shared": "Memory",
    "simt": "Arithmetic",
    "tensor": "Tensor cores",
    "latency": "Latencies",
    "transfer": "Copies to the card and back",
    "launch": "Launches",
}
_COLUMNS: Final = (
    Column("group", "what"),
    Column("name", "how"),
    Column("value", "measured"),
    Column("datasheet", "data sheet"),
    Column("share", "of it", "ratio"),
    Column("share_at_clock", "at the clock held", "ratio"),
    Column("sm_clock_hz", "SM clock", "hertz"),
    Column("shape", "best by"),
)
FLAT: Final = (
    *(Column(key, key) for key in ("group", "name", "value", "unit", "datasheet", "share")),
    *(Column(key, key) for key in ("share_at_clock", "sm_clock_hz", "throttles", "how")),
    *(Column(key, key) for key in ("tried", "median_of")),
)


def amount(value: float | None, unit: str) -> Cell | None:
    """A figure of a ceiling as text.

    >>> amount(4.3e12, "bytes_per_s").text, amount(6.7e-7, "s").text, amount(33.1, "cycles").text
    ('4300 GB/s', '670 ns', '33.1 cycles')
    """
    if value is None:
        return None
    if unit == "bytes_per_s":
        large = value >= 1e13
        return Cell(value, f"{value / 1e12:.4g} TB/s" if large else f"{value / 1e9:.4g} GB/s")
    if unit == "flop_per_s":
        return Cell(value, f"{value / 1e12:.4g} TFLOP/s")
    if unit == "op_per_s":
        return Cell(value, f"{value / 1e12:.4g} T/s")
    if unit == "s":
        return Cell(value, f"{value * 1e9:.3g} ns" if value < 1e-6 else f"{value * 1e6:.3g} µs")
    return Cell(value, f"{value:.4g} cycles")


def document(report: CeilingsReport) -> Document:
    """A table for each kind of figure."""
    tables = [
        _table(of, [one for one in report.ceilings if title(one.ceiling.group) == of])
        for of in dict.fromkeys(title(one.ceiling.group) for one in report.ceilings)
    ]
    return Document(
        summary=_summary(report),
        tables=tuple(tables),
        notes=notes(report),
        flat=Table(columns=FLAT, rows=tuple(map(flat, report.ceilings))),
    )


def title(group: str) -> str:
    """Of the table in which a group stands."""
    return _TITLES.get(group, "")


def _summary(report: CeilingsReport) -> str:
    about = report.environment
    return f"{about.titled}, driver {about.driver or 'unknown'}, {about.date}"


def _table(title: str, found: Sequence[Compared]) -> Table:
    rows = []
    for one in found:
        ceiling = one.ceiling
        rows.append(
            (
                ceiling.group,
                ceiling.name,
                amount(ceiling.value, ceiling.unit),
                amount(one.datasheet, ceiling.unit),
                one.share,
                one.share_at_clock,
                ceiling.sm_clock_hz,
                ceiling.how,
            )
        )
    return Table(title=title, columns=_COLUMNS, rows=tuple(rows)).without_empty_columns()


def flat(one: Compared) -> tuple[Any, ...]:
    """A row of CSV."""
    values = {
        **asdict(one.ceiling),
        "datasheet": one.datasheet,
        "share": one.share,
        "share_at_clock": one.share_at_clock,
    }
    return tuple(values[column.key] for column in FLAT)


def notes(report: CeilingsReport) -> tuple[str, ...]:
    """What disturbed it, held clocks down, or was not measured."""
    found = list(report.environment.notes)
    held: dict[str, list[str]] = {}
    for one in report.ceilings:
        for text in one.ceiling.throttles:
            held.setdefault(text, []).append(f"{one.ceiling.group} {one.ceiling.name}")
    found += [f"{text} while measuring {', '.join(names)}" for text, names in held.items()]
    found += [
        f"{group.group}: {group.message}" + (f" ({group.hint})" if group.hint else "")
        for group in report.unmeasured
    ]
    return tuple(found)


def content(report: CeilingsReport) -> dict[str, Any]:
    """What the file holds; ``perfkit.readers.ceilings`` reads ``memory`` and ``compute``."""
    about = report.environment
    clocks = [c.ceiling.sm_clock_hz for c in report.ceilings if c.ceiling.sm_clock_hz]
    parts: dict[str, list[dict[str, Any]]] = {"memory": [], "compute": [], "others": []}
    for one in report.ceilings:
        part, keys = _keys(one.ceiling)
        parts[part].append({**keys, **_evidence(one)})
    return {
        "gpu": about.product,
        "clock_mhz": max(clocks) / 1e6 if clocks else None,
        **parts,
        "unmeasured": [asdict(one) for one in report.unmeasured],
        "environment": about.content,
    }


def _keys(ceiling: Ceiling) -> tuple[str, dict[str, Any]]:
    """Part of the file that a ceiling belongs to, and what identifies it there."""
    if ceiling.group in LEVELS:
        return "memory", {
            "level": LEVELS[ceiling.group],
            "bytes_per_s": ceiling.value,
            "what": f"{ceiling.group} {ceiling.name}",
        }
    if ceiling.compute_unit is not None:
        return "compute", {
            "dtype": ceiling.dtype,
            "accumulate": ceiling.accumulate,
            "sparsity": "dense",
            "unit": ceiling.compute_unit,
            "flop_per_s": ceiling.value,
            "what": ceiling.name,
        }
    return "others", {
        "group": ceiling.group,
        "what": ceiling.name,
        "value": ceiling.value,
        "unit": ceiling.unit,
    }


def _evidence(one: Compared) -> dict[str, Any]:
    ceiling = one.ceiling
    return {
        "how": ceiling.how,
        "tried": ceiling.tried,
        "median_of": ceiling.median_of,
        "sm_clock_mhz": ceiling.sm_clock_hz / 1e6 if ceiling.sm_clock_hz else None,
        "throttles": list(ceiling.throttles),
        "datasheet": one.datasheet,
        "share": one.share,
        "share_at_clock": one.share_at_clock,
    }
