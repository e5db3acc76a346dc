"""``analysis.validation`` -> document and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.environment import Environment
from perfkit.analysis.validation import (
    CardReport,
    Check,
    Figure,
    Status,
    ValidationReport,
)
from perfkit.report.document import Cell, Column, Document, Table

_CARD: Final = Column("device", "card")
_CHECKS: Final = (
    Column("name", "check"),
    Column("status", "outcome"),
    Column("compared", "compared", "count"),
    Column("differing", "differ", "count"),
    Column("scope", "rests on"),
    Column("predicted", "prediction"),
    Column("measured", "held against"),
    Column("seconds", "time", "seconds"),
    Column("sm_clock_hz", "SM clock", "hertz"),
)
#: numbers stand to the right, with their thousands apart
_NUMBERS: Final = {"compared", "differing"}
_FLAT: Final = (
    *(Column(key, key) for key in ("device", "name", "status", "compared", "differing", "scope")),
    *(Column(key, key) for key in ("predicted", "measured", "seconds", "sm_clock_hz", "reason")),
)
_DIFFERENCES: Final = (
    Column("name", "check"),
    Column("configuration", "configuration"),
    Column("predicted", "predicted"),
    Column("measured", "measured"),
)
_FIGURES: Final = (Column("name", "check"), Column("figure", "figure"), Column("value", "value"))
_ABOUT: Final = (Column("what", "what"), Column("value", "value"))
_SCOPES: Final = {
    "stated": "stated: NVIDIA's documents, header or driver say so",
    "measured": "measured: found on GPUs of this compute capability",
    "assumed": "assumed: found on 9.0 and carried over, so a difference is news about this GPU",
    "general": "general: follows from clocks, units and the work to be done",
}


def document(report: ValidationReport) -> Document:
    """All checks, what differed, the figures beside them, and where it was measured."""
    several = len(report.cards) > 1
    return Document(
        summary=_summary(report),
        tables=(
            _checks(report, several=several),
            _rows("Differences", _DIFFERENCES, report, _differences, several=several),
            _rows("Figures", _FIGURES, report, _figures, several=several),
            *(_about(card, several=several) for card in report.cards),
        ),
        notes=tuple(_notes(report)),
        flat=Table(columns=_FLAT, rows=tuple(_flat(report))),
    )


def _summary(report: ValidationReport) -> str:
    found = Counter(check.status for check in report.checks)
    counts = ", ".join(f"{found[status]} {status}" for status in Status if found[status])
    about = report.cards[0].environment if report.cards else None
    if about is None:
        return "no card"
    cards = f"{len(report.cards)} cards" if len(report.cards) > 1 else _name(about)
    return (
        f"{cards}, driver {about.driver or 'unknown'}, {about.date}: {counts} "
        f"(seed {report.seed}{', quick' if report.quick else ''})"
    )


def _name(about: Environment) -> str:
    return about.device + (f" ({about.product})" if about.product else "")


def _card(card: CardReport) -> str:
    return f"{card.environment.device} {card.environment.uuid[:12]}"


def number(value: Figure) -> str:
    """A figure as people read it.

    >>> number(21000), number(0.51), number("9.4 GB/s")
    ('21,000', '0.51', '9.4 GB/s')
    """
    return f"{value:,}" if isinstance(value, int) else str(value)


def _checks(report: ValidationReport, *, several: bool) -> Table:
    rows = []
    for card in report.cards:
        for check in card.checks:
            values = asdict(check)
            row = [
                Cell(values[column.key], number(values[column.key]))
                if column.key in _NUMBERS
                else values[column.key]
                for column in _CHECKS
            ]
            rows.append((_card(card), *row) if several else tuple(row))
    columns = (_CARD, *_CHECKS) if several else _CHECKS
    return Table(columns=columns, rows=tuple(rows)).without_empty_columns()


def _rows(title: str, columns: Any, report: ValidationReport, of: Any, *, several: bool) -> Table:
    rows = [
        (*((_card(card),) if several else ()), check.name, *row)
        for card in report.cards
        for check in card.checks
        for row in of(check)
    ]
    shown = (_CARD, *columns) if several else columns
    return Table(title=title, columns=shown, rows=tuple(rows))


def _differences(check: Check) -> Iterator[tuple[Any, ...]]:
    for one in check.differences:
        yield one.configuration, one.predicted, one.measured


def _figures(check: Check) -> Iterator[tuple[Any, ...]]:
    for name, value in check.figures.items():
        yield name, Cell(value, number(value))


def _about(card: CardReport, *, several: bool) -> Table:
    about = card.environment
    clock = about.max_sm_clock_hz
    packages = ", ".join(f"{name} {version}" for name, version in about.packages.items())
    rows = (
        ("card", f"{_name(about)}, {about.compute_capability}, {about.sm_count} SMs"),
        ("driver", f"{about.driver or 'unknown'}, speaks CUDA {about.cuda}"),
        ("NVRTC", about.toolkit or "none"),
        ("highest SM clock", f"{clock / 1e6:g} MHz" if clock else "unknown"),
        ("ECC, MIG", f"{_flag(about.ecc)}, {_flag(about.mig)}"),
        ("perfkit, Python", f"{about.perfkit}, {about.python}"),
        ("packages", packages),
    )
    title = f"Where it was measured: {_card(card)}" if several else "Where it was measured"
    return Table(title=title, columns=_ABOUT, rows=rows, collapsed=True)


def _flag(value: bool | None) -> str:  # noqa: FBT001
    return "unknown" if value is None else "on" if value else "off"


def _notes(report: ValidationReport) -> Iterator[str]:
    for card in report.cards:
        for check in card.checks:
            if check.reason is not None:
                hint = f" ({check.hint})" if check.hint else ""
                yield f"{check.name} {_OUTCOME[check.status]}: {check.reason}{hint}"
            if check.throttles:
                yield f"{check.name}: clocks were held down: {', '.join(check.throttles)}"
        yield from card.environment.notes
        if card.interrupted:
            yield "interrupted: the checks after that did not run"
    used = {check.scope for check in report.checks}
    yield from (text for scope, text in _SCOPES.items() if scope in used)
    quick = " --quick" if report.quick else ""
    yield f"--seed {report.seed}{quick} makes the same configurations again"


_OUTCOME: Final = {
    Status.PASS: "passed, but",
    Status.FAIL: "failed, and",
    Status.SKIPPED: "skipped",
    Status.UNFINISHED: "did not finish",
}


def _flat(report: ValidationReport) -> Iterator[tuple[Any, ...]]:
    for card in report.cards:
        for check in card.checks:
            values = {"device": card.environment.device, **asdict(check)}
            yield tuple(values[column.key] for column in _FLAT)


def content(report: ValidationReport) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "seed": report.seed,
        "quick": report.quick,
        "status": overall(report),
        "cards": [
            {
                "environment": asdict(card.environment),
                "interrupted": card.interrupted,
                "checks": [asdict(check) for check in card.checks],
            }
            for card in report.cards
        ],
    }


def overall(report: ValidationReport) -> str:
    """``fail`` if one failed, ``unfinished`` if one did not finish, ``pass`` if one passed."""
    found = {check.status for check in report.checks}
    for status in (Status.FAIL, Status.UNFINISHED, Status.PASS):
        if status in found:
            return str(status)
    return str(Status.SKIPPED)
