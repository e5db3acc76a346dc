"""Checks on several cards: the cards beside each other, and sums over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.validation import QUESTIONS
from perfkit.report.document import Cell, Column, Table
from perfkit.report.views import cards

if TYPE_CHECKING:
    from perfkit.analysis.validation import Check, ValidationReport

#: of a check, on one card or on several together
COLUMNS: Final = (
    Column("compared", "compared", "count"),
    Column("differing", "differ", "count"),
    Column("scope", "rests on"),
    Column("predicted", "prediction"),
    Column("measured", "held against"),
)
_SUMS: Final = (*COLUMNS, Column("seconds", "longest", "seconds"))


def checks(report: ValidationReport) -> Table:
    """A row for each check: its outcome on each card, and what was compared on all together."""
    rows = []
    for name, those in _by_check(report).items():
        done = [check for check in those if check is not None]
        compared, differing = (
            sum(getattr(check, key) for check in done) for key in ("compared", "differing")
        )
        rows.append(
            (
                name,
                *(check.status if check else None for check in those),
                Cell(compared, f"{compared:,}"),
                Cell(differing, f"{differing:,}"),
                ", ".join(dict.fromkeys(check.scope for check in done)),
                done[0].predicted,
                done[0].measured,
                max(check.seconds for check in done),
            )
        )
    columns = (Column("name", "check"), *_outcomes(report), *_SUMS)
    return Table(columns=columns, rows=tuple(rows)).without_empty_columns()


def _outcomes(report: ValidationReport) -> Iterator[Column]:
    return cards.columns([card.environment for card in report.cards])


def _by_check(report: ValidationReport) -> dict[str, list[Check | None]]:
    """Each check that ran anywhere, by card; None: not on this one."""
    found = [{check.name: check for check in card.checks} for card in report.cards]
    known = [question.name for question in QUESTIONS]
    names = dict.fromkeys(name for card in found for name in card)
    ordered = sorted(names, key=lambda name: known.index(name) if name in known else 0)
    return {name: [card.get(name) for card in found] for name in ordered}


def figures(report: ValidationReport, text: Any) -> Table:
    """A row for each figure; ``text`` writes a value."""
    rows = []
    for name, those in _by_check(report).items():
        for figure in dict.fromkeys(key for check in those if check for key in check.figures):
            values = [check.figures.get(figure) if check else None for check in those]
            cells = (None if value is None else Cell(value, text(value)) for value in values)
            rows.append((name, figure, *cells))
    columns = (Column("name", "check"), Column("figure", "figure"), *_outcomes(report))
    return Table(title="Figures", columns=columns, rows=tuple(rows))
