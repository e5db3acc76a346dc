"""A roofline as a panel: ceilings, ridge points, and kernels under them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from perfkit.record import record
from perfkit.report.chart.model import Axis, Mark, Plot, Series
from perfkit.report.chart.scale import logarithmic, short

#: ceilings reach this far beyond what stands under them
_ROOM: Final = 8.0


@record
class Ceiling:
    """A roof of arithmetic and the slope of memory that leads to it."""

    name: str
    flop_per_s: float
    bytes_per_s: float
    style: int = 0
    is_main: bool = True  #: with its slope and ridge point; otherwise the roof alone

    @property
    def ridge(self) -> float:
        return self.flop_per_s / self.bytes_per_s


@record
class Kernel:
    """What stands under the ceilings; ``None``: not known."""

    name: str
    intensity: float
    predicted_flop_per_s: float | None
    measured_flop_per_s: float | None
    style: int = 0


def panel(ceilings: Sequence[Ceiling], kernels: Sequence[Kernel], *, unit: str) -> Plot:
    """FLOP/s over FLOP per byte of DRAM, both logarithmic; ``unit``: ``FLOP/s`` or ``OP/s``."""
    places = [one.ridge for one in ceilings] + [one.intensity for one in kernels]
    x = logarithmic(
        f"{unit.removesuffix('/s')} per byte of DRAM",
        [min(places) / _ROOM, max(places) * _ROOM],
        text=short,
        margin=1.0,
    )
    rates = [one.flop_per_s for one in ceilings] + list(_rates(kernels))
    slopes = [one.bytes_per_s * max(x.low, one.ridge / 300) for one in ceilings if one.is_main]
    y = logarithmic(unit, [*rates, *slopes], text=short, margin=1.6)
    return Plot(
        title="",
        x=x,
        y=y,
        series=tuple(_line(one, x, y) for one in ceilings),
        marks=(*_ridges(ceilings), *_marks(kernels, unit)),
    )


def _rates(kernels: Iterable[Kernel]) -> Iterator[float]:
    for one in kernels:
        yield from (
            rate for rate in (one.predicted_flop_per_s, one.measured_flop_per_s) if rate is not None
        )


def _line(one: Ceiling, x: Axis, y: Axis) -> Series:
    roof = (x.high, one.flop_per_s)
    start = max(x.low, y.low / one.bytes_per_s)
    slope = ((start, start * one.bytes_per_s), (one.ridge, one.flop_per_s), roof)
    return Series(
        name=one.name,
        points=slope if one.is_main else ((one.ridge, one.flop_per_s), roof),
        style=one.style,
    )


def _ridges(ceilings: Iterable[Ceiling]) -> Iterator[Mark]:
    for one in ceilings:
        if one.is_main:
            yield Mark(
                x=one.ridge,
                y=one.flop_per_s,
                kind="ridge",
                label=short(one.ridge),
                text=f"ridge point of {one.name}: {short(one.ridge)} per byte",
                style=one.style,
            )


def _marks(kernels: Iterable[Kernel], unit: str) -> Iterator[Mark]:
    for one in kernels:
        for kind, rate in (
            ("predicted", one.predicted_flop_per_s),
            ("measured", one.measured_flop_per_s),
        ):
            if rate is not None:
                yield Mark(
                    x=one.intensity,
                    y=rate,
                    kind="predicted" if kind == "predicted" else "measured",
                    label=one.name
                    if kind == "predicted" or one.predicted_flop_per_s is None
                    else "",
                    text=f"{one.name} {'at most' if kind == 'predicted' else 'reached'} "
                    f"{short(rate, unit)}",
                    style=one.style,
                )
