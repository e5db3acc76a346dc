"""Timeline of copies and kernels: what each engine does when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from perfkit.report.chart.model import Chart, Lanes, Span
from perfkit.report.chart.scale import linear
from perfkit.report.chart.theme import SLOTS
from perfkit.report.views.overlap import STAGES
from perfkit.units import format_seconds

#: rectangles narrower than a hair say nothing
_MOST_SPANS: Final = 600


def charts(content: Mapping[str, Any]) -> tuple[Chart, ...]:
    """One chart, unless there are too many chunks to see any."""
    spans = content["spans"]
    if not 0 < len(spans) <= _MOST_SPANS:
        return ()
    engines = [engine["engine"] for engine in content["engines"]]
    if not engines:
        return ()
    scale, unit = _unit(content["makespan_s"])
    chunks, speedup = content["chunks"], content["speedup"]
    return (
        Chart(
            title=f"Overlap: {chunks} {'chunk' if chunks == 1 else 'chunks'}, {speedup:.2f} x",
            summary=(
                f"{format_seconds(content['makespan_s'])} instead of "
                f"{format_seconds(content['serial_s'])}, {speedup:.2f} times as fast"
            ),
            panels=(
                Lanes(
                    title="",
                    x=linear(f"time ({unit})", content["makespan_s"] * scale, most=8),
                    lanes=tuple(STAGES[engine] for engine in engines),
                    spans=tuple(
                        Span(
                            lane=engines.index(span["engine"]),
                            start=span["start_s"] * scale,
                            end=span["end_s"] * scale,
                            text=str(span["chunk"]),
                            style=span["chunk"] % SLOTS,
                        )
                        for span in spans
                        if span["engine"] in engines
                    ),
                ),
            ),
        ),
    )


def _unit(seconds: float) -> tuple[float, str]:
    return (1.0, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")
