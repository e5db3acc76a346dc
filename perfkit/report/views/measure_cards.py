"""Kernels measured on several cards: the cards beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from perfkit.analysis.across_cards import kernels
from perfkit.analysis.environment import label
from perfkit.report.document import Cell, Column, Table
from perfkit.report.views import cards

if TYPE_CHECKING:
    from perfkit.analysis.measurement import MeasureReport


def tables(report: MeasureReport) -> Iterator[Table]:
    """The time of each kernel by card, how far apart they are, and which is behind."""
    if len(report.devices) < 2:
        return
    names = _names(report)
    columns = (
        Column("name", "kernel"),
        *cards.columns([device.environment for device in report.devices], "seconds"),
        Column("apart", "apart"),
        Column("slowest", "slowest"),
    )
    rows = tuple(
        (
            one.name,
            *one.values,
            Cell(one.apart, f"{one.apart * 100:.2g}%"),
            None if one.behind is None else names[one.behind],
        )
        for one in kernels(report)
        if one.apart is not None
    )
    yield Table(title="Cards side by side", columns=columns, rows=rows).without_empty_columns()


def notes(report: MeasureReport) -> Iterator[str]:
    """Which card is behind the others, over all kernels."""
    found = [one for one in kernels(report) if one.apart is not None]
    if not found:
        return
    slow = [(one.behind, one.apart or 0) for one in found if one.behind is not None]
    if not slow:
        yield "side by side no card can be told from the fastest: more --runs tell smaller steps"
    counts = Counter(place for place, _ in slow)
    for place, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        most = max(apart for behind, apart in slow if behind == place)
        yield (
            f"{_names(report)[place]} is the slowest in {count} of {len(found)} kernels, by up to "
            f"{most * 100:.2g}%; its intervals do not touch those of the fastest"
        )


def _names(report: MeasureReport) -> list[str]:
    return [label(device.environment.index) for device in report.devices]


def content(report: MeasureReport) -> dict[str, Any]:
    """The same as JSON, where there are several cards."""
    if len(report.devices) < 2:
        return {}
    return {
        "side_by_side": [
            {
                "name": one.name,
                "median_s": list(one.values),
                "apart": one.apart,
                "slowest": None
                if one.behind is None
                else report.devices[one.behind].environment.index,
            }
            for one in kernels(report)
        ]
    }
