"""Occupancy over the first input of a sweep that has several values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from perfkit.report.chart.model import Chart, Plot, Point, Series
from perfkit.report.chart.scale import kib, linear
from perfkit.report.chart.theme import SLOTS

_AXES: Final = {
    "block_threads": "threads per block",
    "registers_per_thread": "registers per thread",
    "shared_bytes_per_block": "shared memory per block (KiB)",
    "carveout_percent": "preferred carveout (%)",
}
_NAMES: Final = {
    "target": "{}",
    "block_threads": "{} threads",
    "registers_per_thread": "{} registers",
    "shared_bytes_per_block": "{} B",
    "carveout_percent": "carveout {}%",
}


def charts(content: Mapping[str, Any]) -> tuple[Chart, ...]:
    """One chart, of at most as many lines as can be told apart."""
    rows = content["results"]
    varying = [key for key in _NAMES if len({row[key] for row in rows}) > 1]
    axis = next((key for key in _AXES if key in varying), None)
    if axis is None:
        return ()
    others = [key for key in varying if key != axis]
    lines: dict[str, list[Point]] = {}
    for row in rows:
        name = ", ".join(_NAMES[key].format(row[key]) for key in others) or str(row["target"])
        lines.setdefault(name, []).append((float(row[axis]), float(row["occupancy"]) * 100))
    shown = list(lines.items())[:SLOTS]
    places = [x for _, points in shown for x, _ in points]
    left = len(lines) - len(shown)
    text = kib if axis.startswith("shared") else "{:g}".format
    return (
        Chart(
            title=f"Sweep: occupancy over {_AXES[axis]}",
            summary=f"{len(rows)} configurations, {len(lines)} lines"
            + (f", of which {left} are not drawn" if left else ""),
            panels=(
                Plot(
                    title="",
                    x=linear(
                        _AXES[axis], max(places), low=min(0.0, *places), binary=True, text=text
                    ),
                    y=linear("occupancy (%)", 100, most=5),
                    series=tuple(
                        Series(name=name, points=tuple(sorted(points)), style=style)
                        for style, (name, points) in enumerate(shown)
                    ),
                ),
            ),
        ),
    )
