"""The tilings that a model likes best, by the time that is expected of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit.report.chart.model import Chart, Plot, Series
from perfkit.report.chart.scale import linear, places, short
from perfkit.report.chart.theme import SLOTS
from perfkit.report.charts import bars

#: places on an axis; more cover each other
_MOST_PLACES: Final = 96


def charts(content: Mapping[str, Any]) -> Iterator[Chart]:
    """For each product the tilings by name, and what else takes time in each of them."""
    return (
        chart
        for one in content["rankings"]
        if (best := [tiling for tiling in one["best"] if tiling["time_s"]])
        for draw in (_ranked, _parts)
        if (chart := draw(one, best)) is not None
    )


def _ranked(one: Mapping[str, Any], best: Sequence[Mapping[str, Any]]) -> Chart:
    limits = list(dict.fromkeys(map(_limit, best)))[:SLOTS]
    rows = [
        (_name(tiling), _time(tiling), limits.index(_limit(tiling)))
        for tiling in best
        if _limit(tiling) in limits
    ]
    left = one["tied"] - min(len(best), bars.MOST)
    kinds = tuple(f"limited by {name}" for name in limits)
    return Chart(
        title=f"Times expected: {_product(one, best)}",
        summary=(
            f"{one['compared']:,} tilings compared, {one['tied']:,} tied with the best"
            + (f", {left:,} of them not drawn" if left > 0 else "")
        ),
        panels=(bars.times(rows, title="time expected", kinds=kinds),),
    )


def _parts(one: Mapping[str, Any], best: Sequence[Mapping[str, Any]]) -> Chart | None:
    """What the tied ones differ in: how close the other limits come."""
    best = best[:_MOST_PLACES]
    names = list(dict.fromkeys(load["name"] for tiling in best for load in tiling["loads"]))
    series: list[Series] = []
    for name in names[: SLOTS - 1]:
        points = tuple(
            (float(place), load["time_s"])
            for place, tiling in enumerate(best, 1)
            for load in tiling["loads"]
            if load["name"] == name and load["time_s"]
        )
        if points:
            series.append(Series(name=name, points=points, draw="points", style=len(series)))
    if not series:
        return None
    points = tuple((float(place), _time(tiling)) for place, tiling in enumerate(best, 1))
    series.append(Series(name="expected", points=points, draw="points", style=len(series)))
    most = max(y for line in series for _, y in line.points)
    return Chart(
        title=f"What each limit takes: {_product(one, best)}",
        summary="none can be faster than the highest; what comes close to it limits next",
        panels=(
            Plot(
                title="",
                x=places("place", len(best)),
                y=linear("time", most, text=lambda value: short(value, "s")),
                series=tuple(series),
            ),
        ),
    )


def _time(tiling: Mapping[str, Any]) -> float:
    """What is expected; a file of an earlier perfkit has only the least time."""
    return float(tiling.get("expected_s") or tiling["time_s"])


def _product(one: Mapping[str, Any], best: Sequence[Mapping[str, Any]]) -> str:
    p = best[0]
    return f"{one['target']}, {p['m']}x{p['n']}x{p['k']} {p['dtype']}"


def _limit(tiling: Mapping[str, Any]) -> str:
    return " and ".join(tiling["limited_by"]) or str(tiling["bound_by"])


def _name(tiling: Mapping[str, Any]) -> str:
    t = tiling["tiling"]
    parts = ["x".join(map(str, t["tile"])), f"{t['stages']} stages"]
    if t["cluster"] != [1, 1]:
        parts.append(f"cluster {'x'.join(map(str, t['cluster']))}")
    if t["split_k"] != 1:
        parts.append(f"split-K {t['split_k']}" if t["split_k"] else "stream-K")
    return ", ".join(parts)
