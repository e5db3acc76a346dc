"""Waves of a tiled matrix product: full ones, and the tail in which SMs are idle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from perfkit.report.chart.model import Chart, Mark, Plot, Series
from perfkit.report.chart.scale import linear

#: the last waves are what matters; more than these are not told apart
_SHOWN: Final = 12


def charts(content: Mapping[str, Any]) -> Iterator[Chart]:
    """One chart a GPU on which the tiling fits."""
    return (_chart(one) for one in content["results"] if one["schedule"] and one["waves"])


def _chart(one: Mapping[str, Any]) -> Chart:
    waves = one["waves"]
    slots = waves["blocks_per_wave"]
    full, partial = waves["full_waves"], waves["partial_wave_blocks"]
    tile = "x".join(map(str, one["tiling"]["tile"]))
    shape = f"{one['m']}x{one['n']}x{one['k']} {one['dtype']}"
    return Chart(
        title=f"Waves: {one['target']}, {shape}, tile {tile}",
        summary=(
            f"{one['schedule']['blocks']} blocks, {slots} at a time: {waves['waves']:.2f} waves"
            + (f", {slots - partial} places idle in the last" if partial else ", no tail")
        ),
        panels=(_panel(slots, full, partial),),
    )


def _panel(slots: int, full: int, partial: int) -> Plot:
    last = full + (1 if partial else 0)
    first = max(0, full - _SHOWN)
    series = []
    if full:
        points = ((float(first), float(slots)), (float(full), float(slots)))
        series.append(Series(name="full waves", points=points, draw="area"))
    if partial:
        tail = ((float(full), float(partial)), (float(last), float(partial)))
        series.append(Series(name="tail", points=tail, draw="area", style=1))
        idle = ((float(full), float(slots)), (float(last), float(slots)))
        series.append(Series(name="idle", points=idle, draw="area", style=4, base=partial))
    edges = [
        Series(name="", points=((float(n), 0.0), (float(n), float(slots))), draw="guide")
        for n in range(first + 1, last)
    ]
    tail_mark = Mark(
        x=full + 0.5, y=partial, kind="cliff", label=str(partial), text=f"tail: {partial} blocks"
    )
    return Plot(
        title="" if first == 0 else f"the last {last - first} of {last} waves",
        x=linear("waves", last, low=first, most=min(12, max(1, last - first))),
        y=linear("blocks on the GPU", slots, text="{:g}".format),
        series=(*series, *edges),
        marks=(tail_mark,) if partial else (),
    )
