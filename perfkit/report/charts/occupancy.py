"""Warps per SM over block size, registers and shared memory, as people know the curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.curves import Curve, Steps, curves
from perfkit.analysis.launch import Launch
from perfkit.arch import catalog
from perfkit.errors import InvalidLaunch, UnknownTarget
from perfkit.report.chart.model import Axis, Chart, Mark, MarkKind, Plot, Series
from perfkit.report.chart.scale import kib, linear
from perfkit.units import format_bytes, format_ratio

if TYPE_CHECKING:
    from perfkit.arch.types import Capability

_TITLES: Final = {
    "block_size": "threads per block",
    "registers": "registers per thread",
    "shared_memory": "shared memory per block (KiB)",
}
_PRESENT: Final = {
    "block_size": "block_threads",
    "registers": "registers_per_thread",
    "shared_memory": "shared_bytes_per_block",
}
#: slot of what would be better
_GAIN: Final = 2
_MANY: Final = 8
#: points of a curve
_MOST_POINTS: Final = 400
_KINDS: Final[dict[str, tuple[MarkKind, str]]] = {
    "cost": ("cliff", "fewer warps from"),
    "gain": ("gain", "more warps at"),
}


def charts(content: Mapping[str, Any]) -> Iterator[Chart]:
    """One chart a result; a launch that is refused has no place on a curve.

    Nor has one of a GPU that the database at hand does not hold, or holds with other facts than
    that of the result: its curves would be those of another GPU.
    """
    found = (_chart(one) for one in content["results"] if one["refusal"] is None)
    return (chart for chart in found if chart is not None)


def overview(contents: Sequence[Mapping[str, Any]]) -> tuple[Chart, ...]:
    """Occupancy of more launches than anybody looks at one by one, in ascending order."""
    shares = sorted(100 * one["occupancy"] for each in contents for one in each["results"])
    count = len(shares)
    if count <= _MANY:
        return ()
    # what a curve cannot show would be most of the bytes of a page
    ranks = range(0, count, -(-count // _MOST_POINTS))
    points = tuple((float(rank), shares[rank]) for rank in ranks)
    full = sum(share >= 100 for share in shares)
    return (
        Chart(
            title=f"Occupancy of {count} launches",
            summary=f"{shares[0]:g}% to {shares[-1]:g}%, the middle one {shares[count // 2]:g}%, "
            f"{full} with every warp slot taken",
            panels=(
                Plot(
                    title="",
                    x=linear("launches, in ascending order", count),
                    y=linear("occupancy (%)", 100, most=5),
                    series=(
                        Series(
                            name="occupancy",
                            points=(*points, (float(count), shares[-1])),
                            draw="step",
                        ),
                    ),
                ),
            ),
        ),
    )


def _chart(one: Mapping[str, Any]) -> Chart | None:
    try:
        capability = catalog.capability(one["compute_capability"])
    except UnknownTarget:
        return None
    launch = Launch(
        threads=one["block_threads"],
        regs=one["registers_per_thread"],
        smem=one["shared_bytes_per_block"],
        carveout=one["carveout_percent"],
        barriers=one["barriers"],
        max_threads=one.get("max_block_threads"),
        cluster=one["cluster_size"],
    )
    if not _agrees(launch, capability, one):
        return None
    who = ", ".join(str(one[key]) for key in ("kernel", "target") if one[key])
    most = one["max_warps_per_sm"]
    warps = linear("warps per SM", most, binary=True)
    return Chart(
        title=f"Occupancy: {who}",
        summary=(
            f"{who}: {one['block_threads']} threads, {one['registers_per_thread']} registers, "
            f"{format_bytes(one['shared_bytes_per_block'])}: {one['warps_per_sm']} of {most} "
            f"warps per SM ({format_ratio(one['occupancy'])})"
        ),
        panels=tuple(_panel(curve, one, warps) for curve in curves(capability, launch)),
    )


def _agrees(launch: Launch, capability: Capability, one: Mapping[str, Any]) -> bool:
    try:
        here = launch.on(capability)
    except InvalidLaunch:
        return False
    written = (one["warps_per_sm"], one["max_warps_per_sm"])
    return (here.warps_per_sm, here.max_warps_per_sm) == written


def _panel(curve: Curve, one: Mapping[str, Any], warps: Axis) -> Plot:
    shared = curve.quantity == "shared_memory"
    x = linear(
        _TITLES[curve.quantity],
        curve.last,
        binary=True,
        text=kib if shared else "{:g}".format,
        most=5,
    )
    series = [_series("occupancy API", curve, curve.driver, 0)]
    if curve.hardware != curve.driver:
        series.append(_series("hardware", curve, curve.hardware, 1))
    return Plot(title="", x=x, y=warps, series=tuple(series), marks=tuple(_marks(curve, one)))


def _series(name: str, curve: Curve, steps: Steps, style: int) -> Series:
    points = [(float(at), float(warps)) for at, warps in steps]
    points.append((float(curve.last), points[-1][1]))
    return Series(name=name, points=tuple(points), draw="step", style=style)


def _marks(curve: Curve, one: Mapping[str, Any]) -> Iterator[Mark]:
    text = format_bytes if curve.quantity == "shared_memory" else str
    now = one[_PRESENT[curve.quantity]]
    warps = one["warps_per_sm"]
    for step in _steps(one["steps"], curve.quantity):
        kind, said = _KINDS[step["kind"]]
        yield Mark(
            x=min(step["value"], curve.last),
            y=step["warps_per_sm"],
            kind=kind,
            style=_GAIN if kind == "gain" else 0,
            label=text(step["value"]),
            text=f"{said} {text(step['value'])}: {step['warps_per_sm']} warps",
        )
    yield Mark(
        x=now, y=warps, kind="present", label=text(now), text=f"now {text(now)}: {warps} warps"
    )


def _steps(steps: Sequence[Mapping[str, Any]], quantity: str) -> list[Mapping[str, Any]]:
    return [step for step in steps if step["quantity"] == quantity and step["blocks_per_sm"]]
