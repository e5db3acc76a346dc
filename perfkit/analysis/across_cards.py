"""The same figure on several cards: how far they are apart, and which card is behind.

A card is behind where it can be told from the best: the intervals of both do not touch. Figures
that never have intervals are told apart from a given step on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from perfkit.analysis.measurement import MeasureReport


@record
class Across:
    """One figure on all cards, in their order."""

    name: str
    values: tuple[float | None, ...]  #: None: this card has none
    apart: float | None  #: the worst over the best, less 1; None: fewer than two have it
    behind: int | None  #: place of the worst card; None: none can be told from the best


def kernels(report: MeasureReport) -> Iterator[Across]:
    """The times of each kernel that was measured on one card at least, in seconds."""
    found = [{one.key or one.name: one for one in device.measurements} for device in report.devices]
    for key, name in {k: one.name for card in found for k, one in card.items()}.items():
        those = [card.get(key) for card in found]
        yield across(
            name,
            [one.median_s if one else None for one in those],
            [one.interval_s if one else None for one in those],
        )


def across(
    name: str,
    values: Sequence[float | None],
    intervals: Sequence[tuple[float, float] | None] = (),
    *,
    more_is_better: bool = False,
    notable: float = 0.0,
) -> Across:
    """One figure.

    Args:
        name: of the figure.
        values: by card.
        intervals: in which each value lies; None: not known, and nothing is told; empty: it is a
            figure without.
        more_is_better: of a rate; otherwise it is a time.
        notable: how far apart figures without intervals must be.

    >>> found = across("copy", [1.0, 1.25, None], [(0.99, 1.01), (1.2, 1.3), None])
    >>> found.apart, found.behind
    (0.25, 1)
    >>> across("copy", [1.0, 1.25], [(0.9, 1.22), (1.2, 1.3)]).behind is None
    True
    """
    known = {place: value for place, value in enumerate(values) if value is not None}
    if len(known) < 2:
        return Across(name=name, values=tuple(values), apart=None, behind=None)
    ordered = sorted(known, key=lambda place: known[place], reverse=more_is_better)
    best, worst = ordered[0], ordered[-1]
    low, high = sorted((known[best], known[worst]))
    apart = high / low - 1
    told = _distinct(intervals[best], intervals[worst]) if intervals else apart >= notable
    return Across(name=name, values=tuple(values), apart=apart, behind=worst if told else None)


def _distinct(one: tuple[float, float] | None, other: tuple[float, float] | None) -> bool:
    if one is None or other is None:
        return False
    return one[1] < other[0] or other[1] < one[0]
