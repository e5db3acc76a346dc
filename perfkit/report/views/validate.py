"""``analysis.validation`` -> document and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.environment import Environment, label, told, whose
from perfkit.analysis.validation import (
    CardReport,
    Figure,
    Status,
    ValidationReport,
)
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views import cards, validate_cards

_CARD: Final = Column("device", "card")
_CHECKS: Final = (
    Column("name", "check"),
    Column("status", "outcome"),
    *validate_cards.COLUMNS,
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
            validate_cards.checks(report) if several else _checks(report),
            _differing(report, several=several),
            validate_cards.figures(report, number) if several else _figures(report),
            *((cards.table([card.environment for card in report.cards]),) if several else ()),
            *(_about(card.environment, several=several) for card in report.cards[:1]),
        ),
        notes=tuple(_notes(report)),
        flat=_flat(report, several=several),
    )


def _summary(report: ValidationReport) -> str:
    if not report.cards:
        return "no card"
    counts = ", ".join(_count(report, status) for status in Status if _having(report, status))
    abouts = [card.environment for card in report.cards]
    driver = abouts[0].driver or "unknown"
    return (
        f"{cards.title(abouts)}, driver {driver}, {abouts[0].date}: {counts} "
        f"(seed {report.seed}{', quick' if report.quick else ''})"
    )


def _having(report: ValidationReport, status: Status) -> list[tuple[CardReport, int]]:
    found = [(card, sum(one.status is status for one in card.checks)) for card in report.cards]
    return [(card, count) for card, count in found if count]


def _count(report: ValidationReport, status: Status) -> str:
    """``13 pass``; where not all is well on some of several cards, on which."""
    found = _having(report, status)
    text = f"{sum(count for _, count in found)} {status}"
    if status is Status.PASS or len(found) == len(report.cards):
        return text
    return (
        f"{text} ({whose([card.environment.index for card, _ in found], len(report.cards))[:-2]})"
    )


def number(value: Figure) -> str:
    """A figure as people read it.

    >>> number(21000), number(0.51), number("9.4 GB/s")
    ('21,000', '0.51', '9.4 GB/s')
    """
    return f"{value:,}" if isinstance(value, int) else str(value)


def _checks(report: ValidationReport) -> Table:
    rows = []
    for check in report.checks:
        values = asdict(check)
        rows.append(
            tuple(
                Cell(values[column.key], number(values[column.key]))
                if column.key in _NUMBERS
                else values[column.key]
                for column in _CHECKS
            )
        )
    return Table(columns=_CHECKS, rows=tuple(rows)).without_empty_columns()


def _differing(report: ValidationReport, *, several: bool) -> Table:
    rows = [
        (
            *((label(card.environment.index),) if several else ()),
            *(check.name, one.configuration, one.predicted, one.measured),
        )
        for card in report.cards
        for check in card.checks
        for one in check.differences
    ]
    columns = (_CARD, *_DIFFERENCES) if several else _DIFFERENCES
    return Table(title="Differences", columns=columns, rows=tuple(rows))


def _figures(report: ValidationReport) -> Table:
    rows = [
        (check.name, name, Cell(value, number(value)))
        for check in report.checks
        for name, value in check.figures.items()
    ]
    return Table(title="Figures", columns=_FIGURES, rows=tuple(rows))


def _about(about: Environment, *, several: bool) -> Table:
    """Where it was measured; what is said of each of several cards stands in their own table."""
    clock = about.max_sm_clock_hz
    packages = ", ".join(f"{name} {version}" for name, version in about.packages.items())
    card = (
        ("card", f"{about.titled}, {about.compute_capability}, {about.sm_count} SMs"),
        ("highest SM clock", f"{clock / 1e6:g} MHz" if clock else "unknown"),
        ("ECC, MIG", f"{_flag(about.ecc)}, {_flag(about.mig)}"),
    )
    rows = (
        *(() if several else card[:1]),
        ("driver", f"{about.driver or 'unknown'}, speaks CUDA {about.cuda}"),
        ("NVRTC", about.toolkit or "none"),
        *(() if several else card[1:]),
        ("perfkit, Python", f"{about.perfkit}, {about.python}"),
        ("packages", packages),
    )
    return Table(title="Where it was measured", columns=_ABOUT, rows=rows, collapsed=True)


def _flag(value: bool | None) -> str:  # noqa: FBT001
    return "unknown" if value is None else "on" if value else "off"


def _notes(report: ValidationReport) -> Iterator[str]:
    yield from told([(card.environment, _of_card(card)) for card in report.cards])
    used = {check.scope for check in report.checks}
    yield from (text for scope, text in _SCOPES.items() if scope in used)
    quick = " --quick" if report.quick else ""
    yield f"--seed {report.seed}{quick} makes the same configurations again"


def _of_card(card: CardReport) -> Iterator[str]:
    for check in card.checks:
        if check.reason is not None:
            hint = f" ({check.hint})" if check.hint else ""
            yield f"{check.name} {_OUTCOME[check.status]}: {check.reason}{hint}"
        if check.throttles:
            yield f"{check.name}: clocks were held down: {', '.join(check.throttles)}"
    yield from card.environment.notes
    if card.interrupted:
        yield "interrupted: the checks after that did not run"


_OUTCOME: Final = {
    Status.PASS: "passed, but",
    Status.FAIL: "failed, and",
    Status.SKIPPED: "skipped",
    Status.UNFINISHED: "did not finish",
}


def _flat(report: ValidationReport, *, several: bool) -> Table:
    columns = (Column("index", "index"), *_FLAT) if several else _FLAT
    rows = []
    for card in report.cards:
        about = card.environment
        for check in card.checks:
            values = {"index": about.index, "device": about.device, **asdict(check)}
            rows.append(tuple(values[column.key] for column in columns))
    return Table(columns=columns, rows=tuple(rows))


def content(report: ValidationReport) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "seed": report.seed,
        "quick": report.quick,
        "status": overall(report),
        "cards": [
            {
                "environment": card.environment.content,
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
