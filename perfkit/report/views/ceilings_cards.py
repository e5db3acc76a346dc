"""Measured ceilings of one card or several: the cards beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.analysis.across_cards import across
from perfkit.analysis.environment import label, told
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views import cards, ceilings

if TYPE_CHECKING:
    from perfkit.analysis.measured_ceilings import CeilingsReport, Compared

#: a card that is behind by less is not named
_NOTABLE: Final = 0.02
_KEY: Final = (Column("group", "what"), Column("name", "how"), Column("datasheet", "data sheet"))
_ENDS: Final = (Column("apart", "apart"), Column("slowest", "slowest"))
_TIMES: Final = ("s", "cycles")
_WHOSE: Final = (Column("index", "index"), Column("device", "device"))


class _Key(NamedTuple):
    """What a figure is. Latencies stand in cycles and in seconds under one name."""

    group: str
    name: str
    unit: str


def document(reports: Sequence[CeilingsReport]) -> Document:
    """Of one card its figures with all that belongs to them; of several a column for each card."""
    if len(reports) == 1:
        return ceilings.document(reports[0])
    abouts = [report.environment for report in reports]
    found = _rows(reports)
    titles = dict.fromkeys(ceilings.title(key.group) for key in found)
    return Document(
        summary=f"{cards.title(abouts)}, driver {abouts[0].driver or 'unknown'}, {abouts[0].date}",
        tables=(
            *(_table(title, found, reports) for title in titles),
            cards.table(abouts),
        ),
        notes=told([(report.environment, ceilings.notes(report)) for report in reports]),
        flat=Table(
            columns=(*_WHOSE, *ceilings.FLAT),
            rows=tuple(
                (report.environment.index, report.environment.device, *ceilings.flat(one))
                for report in reports
                for one in report.ceilings
            ),
        ),
    )


def content(reports: Sequence[CeilingsReport]) -> dict[str, Any]:
    """Of one card what it is in a file of its own; of several a list of that."""
    if len(reports) == 1:
        return ceilings.content(reports[0])
    products = {report.environment.product for report in reports}
    return {
        "gpu": products.pop() if len(products) == 1 else None,
        "cards": [ceilings.content(report) for report in reports],
    }


def _rows(reports: Sequence[CeilingsReport]) -> dict[_Key, list[Compared | None]]:
    """Each figure by card; None: this one has none."""
    found = [
        {
            _Key(one.ceiling.group, one.ceiling.name, one.ceiling.unit): one
            for one in report.ceilings
        }
        for report in reports
    ]
    return {key: [card.get(key) for card in found] for card in found for key in card}


def _table(
    title: str,
    found: dict[_Key, list[Compared | None]],
    reports: Sequence[CeilingsReport],
) -> Table:
    abouts = [report.environment for report in reports]
    rows = []
    for (group, name, unit), those in found.items():
        if ceilings.title(group) != title:
            continue
        values = [one.ceiling.value if one else None for one in those]
        sheets = {one.datasheet for one in those if one}
        side = across(name, values, more_is_better=unit not in _TIMES, notable=_NOTABLE)
        rows.append(
            (
                group,
                name,
                # cards of different products have none in common
                ceilings.amount(sheets.pop(), unit) if len(sheets) == 1 else None,
                *(ceilings.amount(value, unit) for value in values),
                None if side.apart is None else Cell(side.apart, f"{side.apart * 100:.2g}%"),
                None if side.behind is None else label(abouts[side.behind].index),
            )
        )
    columns = (*_KEY, *cards.columns(abouts), *_ENDS)
    return Table(title=title, columns=columns, rows=tuple(rows)).without_empty_columns()
