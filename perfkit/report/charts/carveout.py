"""What each preference of shared memory leads to: capacity, and blocks of a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perfkit.report.chart.model import Axis, Chart, Mark, Plot, Point, Series, Tick
from perfkit.report.chart.scale import kib, linear
from perfkit.units import format_bytes

_X: Final = "preferred carveout (%)"
#: right of all percentages, as no preference is none
_DEFAULT: Final = 115.0
_END: Final = 120.0


def charts(content: Mapping[str, Any]) -> Iterator[Chart]:
    """One chart a GPU whose shared memory can be configured."""
    by_target: dict[str, list[Mapping[str, Any]]] = {}
    for row in content["results"]:
        by_target.setdefault(row["target"], []).append(row)
    return (_chart(target, rows) for target, rows in by_target.items() if len(_asked(rows)) > 1)


def _asked(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["first_percent"] is not None]


def _chart(target: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    asked = _asked(rows)
    largest = max(row["capacity_bytes"] for row in asked)
    panels = [_capacities(asked, rows, largest)]
    has_launch = any(row["hardware_blocks_per_sm"] is not None for row in asked)
    if has_launch:
        panels.append(_blocks(asked))
    launch = ", and of the blocks of the launch" if has_launch else ""
    return Chart(
        title=f"Carveout: {target}",
        summary=f"{target}: {len(asked)} capacities up to {format_bytes(largest)}{launch}",
        panels=tuple(panels),
    )


def _points(rows: Sequence[Mapping[str, Any]], key: str) -> tuple[Point, ...]:
    points = [(float(row["first_percent"]), float(row[key])) for row in rows]
    return (*points, (100.0, points[-1][1]))


def _capacities(
    asked: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], largest: int
) -> Plot:
    series = [Series(name="asked for", points=_points(asked, "capacity_bytes"), draw="step")]
    if all(row["configured_bytes"] is not None for row in asked):
        points = _points(asked, "configured_bytes")
        series.append(Series(name="configured for the launch", points=points, draw="step", style=1))
    marks = [
        Mark(
            x=_DEFAULT,
            y=row["configured_bytes"],
            kind="present",
            label=format_bytes(row["configured_bytes"]),
            text=f"without a preference {format_bytes(row['configured_bytes'])}",
        )
        for row in rows
        if row["first_percent"] is None and row["configured_bytes"] is not None
    ]
    return Plot(
        title="shared memory of an SM",
        x=_percentages(has_default=bool(marks)),
        y=linear("shared memory (KiB)", largest, text=kib, binary=True, most=8),
        series=tuple(series),
        marks=tuple(marks),
    )


def _percentages(*, has_default: bool) -> Axis:
    axis = linear(_X, 100)
    if not has_default:
        return axis
    ticks = (*axis.ticks, Tick(at=_DEFAULT, text="default"))
    return replace(axis, high=_END, ticks=ticks)


def _blocks(asked: Sequence[Mapping[str, Any]]) -> Plot:
    names = {"driver_blocks_per_sm": "occupancy API", "hardware_blocks_per_sm": "hardware"}
    most = max(row[key] or 0 for row in asked for key in names)
    if all(row["driver_blocks_per_sm"] == row["hardware_blocks_per_sm"] for row in asked):
        names = {"hardware_blocks_per_sm": "occupancy API and hardware"}
    return Plot(
        title="resident blocks of the launch",
        x=linear(_X, 100),
        y=linear("blocks per SM", most, binary=True),
        series=tuple(
            Series(name=name, points=_points(asked, key), draw="step", style=style)
            for style, (key, name) in enumerate(names.items())
        ),
    )
