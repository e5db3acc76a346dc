"""Candidates tried on a card: how long each took, and where the model had placed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perfkit.report.chart.model import Chart, Mark, Plot, Series
from perfkit.report.chart.scale import linear, places, short
from perfkit.report.charts import bars, pairs

#: slots of what cannot be told from the fastest, and of what is slower
_TIED: Final = 0
_SLOWER: Final = 1


def charts(content: Mapping[str, Any]) -> tuple[Chart, ...]:
    """Bars, the fastest first, and times over the model's order; none if nothing ran."""
    good = [one for one in content["results"] if one["slower"] is not None and one["time_s"]]
    if not good:
        return ()
    title = f"{content['what']}: {content['environment']['device']}"
    tied = sum(one["tied"] for one in good)
    left = len(good) - bars.MOST
    summary = (
        f"{tied} of {len(good)} candidates cannot be told from the fastest"
        + (" (full)" if tied < len(good) else "")
        + (f"; the slowest {left} are not drawn" if left > 0 else "")
    )
    rows = [(one["label"], one["time_s"], _TIED if one["tied"] else _SLOWER) for one in good]
    kinds = ("cannot be told from the fastest", "slower")
    ranked = Chart(
        title=title, summary=summary, panels=(bars.times(rows, title="measured", kinds=kinds),)
    )
    found = [ranked]
    if len(good) > 1:
        found.append(_order(content, good, title))
    if told := [one for one in good if one.get("expected_s")]:
        found.append(_scatter(told, title))
    return tuple(found)


def _scatter(told: Sequence[Mapping[str, Any]], title: str) -> Chart:
    """Not far from the line where the model is right, not only in its order."""
    numbers = [
        {
            "what": "time",
            "unit": "s",
            "predicted": one["expected_s"],
            "measured": one["time_s"],
            "agrees": True,
        }
        for one in told
    ]
    off = sorted(one["time_s"] / one["expected_s"] for one in told)
    return Chart(
        title=f"Expected and measured: {title}",
        summary=f"{off[0]:.2f} to {off[-1]:.2f} times as long as expected",
        panels=(pairs.panel(numbers, title=""),),
    )


def _order(content: Mapping[str, Any], good: Sequence[Mapping[str, Any]], title: str) -> Chart:
    """A model that orders well rises from left to right."""
    last = max(one["place"] for one in good)
    slowest = max(one["time_s"] for one in good)
    fastest = good[0]["time_s"]
    low = fastest - (slowest - fastest) / 2 if fastest < slowest < 2 * fastest else 0.0
    first = min(good, key=lambda one: one["place"])
    chosen = next((one for one in good if one["candidate"] == content["chosen"]), None)
    series = []
    for name, style, is_tied in (
        ("as fast as the fastest", _TIED, True),
        ("slower", _SLOWER, False),
    ):
        points = tuple(
            sorted((float(one["place"]), one["time_s"]) for one in good if one["tied"] == is_tied)
        )
        if points:
            series.append(Series(name=name, points=points, draw="points", style=style))
    return Chart(
        title=f"The model's order, {title}",
        summary=f"the model's first choice takes {first['slower']:.1%} longer than the fastest",
        panels=(
            Plot(
                title="",
                x=places("place in the model's order", last),
                y=linear("measured", slowest, low=low, text=lambda value: short(value, "s")),
                series=tuple(series),
                marks=() if chosen is None else (_chosen(chosen),),
            ),
        ),
    )


def _chosen(one: Mapping[str, Any]) -> Mark:
    time = short(one["time_s"], "s")
    return Mark(
        x=one["place"],
        y=one["time_s"],
        kind="present",
        label="taken",
        text=f"taken: {one['label']}, {time}",
    )
