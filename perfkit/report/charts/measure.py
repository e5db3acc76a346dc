"""Measured kernels: against their predictions, and under the roofs of the card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.environment import name_in
from perfkit.report.chart.model import Chart, Mark, Plot, Series
from perfkit.report.chart.scale import logarithmic, short
from perfkit.report.chart.theme import SLOTS
from perfkit.report.charts import pairs
from perfkit.report.charts.roofs import Ceiling, Kernel, panel

#: more points than that cover each other
_MOST: Final = 300


def charts(content: Mapping[str, Any]) -> tuple[Chart, ...]:
    """A scatter of times and a roofline for each card with something to show."""
    found: list[Chart] = []
    for device in content["devices"]:
        name = name_in(device["environment"])
        found += _scatter(name, device["measurements"])
        found += _roofline(name, device["measurements"])
    return tuple(found)


def _predicted(one: Mapping[str, Any]) -> float | None:
    prediction = one["prediction"] or {}
    found: float | None = prediction.get("expected_s") or prediction.get("bound_s")
    return found


def _scatter(device: str, measurements: Sequence[Mapping[str, Any]]) -> Iterator[Chart]:
    found = [
        (one["name"], predicted, one["median_s"])
        for one in measurements
        if one["median_s"] and (predicted := _predicted(one))
    ]
    if not found:
        return
    times = [time for pair in found for time in pair[1:]]
    x, y = (
        logarithmic(title, times, text=lambda v: short(v, "s"))
        for title in ("predicted", "measured")
    )
    ends = ((x.low, x.low), (x.high, x.high))
    within = sum(abs(measured / predicted - 1) <= 0.1 for _, predicted, measured in found)
    yield Chart(
        title=f"Predicted and measured: {device}",
        summary=f"{within} of {len(found)} kernels within 10 % of the prediction"
        + (f"; the first {_MOST} are drawn" if len(found) > _MOST else ""),
        panels=(
            Plot(
                title="",
                x=x,
                y=y,
                series=(Series(name="as predicted", points=ends, draw="guide"),),
                marks=tuple(
                    Mark(
                        x=predicted,
                        y=measured,
                        kind="measured",
                        label=name if len(found) <= pairs.NAMED else "",
                        text=f"{name}: {measured / predicted:.2f} times {short(predicted, 's')}",
                    )
                    for name, predicted, measured in found[:_MOST]
                ),
            ),
        ),
    )


def _roofline(device: str, measurements: Sequence[Mapping[str, Any]]) -> Iterator[Chart]:
    ceilings: dict[str, Ceiling] = {}
    kernels: list[Kernel] = []
    for one in measurements:
        loads = {load["kind"]: load for load in _loads(one, "compute")}
        dram = next((load for load in _loads(one, "memory") if load["name"] == "dram"), None)
        compute = loads.get("compute")
        if compute is None or dram is None or not one["flop_per_s"]:
            continue
        roof = compute["roof"]
        if roof not in ceilings and len(ceilings) < SLOTS:
            ceilings[roof] = Ceiling(
                name=roof,
                flop_per_s=compute["rate_per_s"],
                bytes_per_s=dram["rate_per_s"],
                style=len(ceilings),
            )
        if roof in ceilings and len(kernels) < _MOST:
            kernels.append(_kernel(one, compute, dram, ceilings[roof].style))
    if kernels:
        yield Chart(
            title=f"Roofline: {device}",
            summary=f"{len(kernels)} kernels under {len(ceilings)} roofs of arithmetic",
            panels=(panel(list(ceilings.values()), kernels, unit="FLOP/s"),),
        )


def _loads(one: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    loads = (one["prediction"] or {}).get("loads", ())
    return [load for load in loads if load["kind"] == kind and load["rate_per_s"]]


def _kernel(
    one: Mapping[str, Any], compute: Mapping[str, Any], dram: Mapping[str, Any], style: int
) -> Kernel:
    bound = one["prediction"]["bound_s"]
    return Kernel(
        name=one["name"],
        intensity=compute["amount"] / dram["amount"],
        predicted_flop_per_s=compute["amount"] / bound if bound else None,
        measured_flop_per_s=one["flop_per_s"],
        style=style,
    )
