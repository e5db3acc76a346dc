"""What was measured over what was predicted: a point for each pair, and the line of agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perfkit.report.chart.model import Axis, Mark, Plot, Series
from perfkit.report.chart.scale import linear, logarithmic, short

#: more names than that cover each other
NAMED: Final = 12
#: numbers that lie further apart than that need an axis with decades
_FAR_APART: Final = 50
#: slot of what does not agree: another colour, another marker
_DIFFERS: Final = 5


def panel(pairs: Sequence[Mapping[str, Any]], *, title: str) -> Plot:
    """One quantity. Pairs as the content of ``perfkit validate`` has them.

    Those that agree are one series of points; those that do not are marks, each with its words.
    """
    unit, relation = pairs[0].get("unit", ""), pairs[0].get("relation", "equal")
    numbers = [float(one[key]) for one in pairs for key in ("predicted", "measured")]
    x, y = (_axis(name, numbers, unit) for name in ("predicted", "measured"))
    ends = ((x.low, x.low), (x.high, x.high))
    series = [Series(name="as predicted", points=ends, draw="guide")]
    if good := tuple(sorted({(one["predicted"], one["measured"]) for one in _agreeing(pairs)})):
        series.append(Series(name="agrees", points=good, draw="points"))
    bad = [one for one in pairs if not one["agrees"]]
    return Plot(
        title=title if relation == "equal" else f"{title}: {relation} as predicted",
        x=x,
        y=y,
        series=tuple(series),
        marks=tuple(_mark(one, unit, is_named=len(bad) <= NAMED) for one in bad),
    )


def _agreeing(pairs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in pairs if one["agrees"]]


def _mark(one: Mapping[str, Any], unit: str, *, is_named: bool) -> Mark:
    predicted, measured = (short(one[key], unit) for key in ("predicted", "measured"))
    relation = one.get("relation", "equal")
    said = predicted if relation == "equal" else f"{relation} {predicted}"
    often = f", {one['count']} times" if one["count"] > 1 else ""
    name = one.get("label")
    return Mark(
        x=one["predicted"],
        y=one["measured"],
        kind="measured",
        style=_DIFFERS,
        label=(name or "") if is_named else "",
        text=f"{name + ': ' if name else ''}{said} predicted, {measured} measured{often}",
    )


def _axis(name: str, numbers: Sequence[float], unit: str) -> Axis:
    """The same for both directions."""
    low, high = min(numbers), max(numbers)
    if low > 0 and (unit or high / low > _FAR_APART):
        return logarithmic(name, numbers, text=lambda value: short(value, unit))
    return linear(name, high or 1.0, low=min(low, 0.0), text=lambda value: short(value, unit))
