"""Candidates as bars of time, the first on top."""

from __future__ import annotations

from collections.abc import Sequence

from perfkit.report.chart.model import Bar, Bars
from perfkit.report.chart.scale import linear

#: more are thinner than their names
MOST = 24
#: behind the longest bar, for its text
_ROOM = 1.14


def times(rows: Sequence[tuple[str, float, int]], *, title: str, kinds: tuple[str, ...]) -> Bars:
    """The first of ``rows``: name, seconds, style; ``kinds`` says what the styles mean."""
    shown = rows[:MOST]
    longest = max(seconds for _, seconds, _ in shown)
    scale, unit = (1.0, "s") if longest >= 1 else (1e3, "ms") if longest >= 1e-3 else (1e6, "µs")
    return Bars(
        title="",
        x=linear(f"{title} ({unit})", longest * scale * _ROOM),
        bars=tuple(
            Bar(name, seconds * scale, f"{seconds * scale:.4g} {unit}", style)
            for name, seconds, style in shown
        ),
        kinds=kinds if len({style for _, _, style in shown}) > 1 else (),
    )
