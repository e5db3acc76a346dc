"""Axes with round ticks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, isinf, log10

from perfkit.report.chart.model import Axis, Tick

#: steps between ticks, of each decade
_STEPS = (1, 2, 2.5, 5, 10)
#: ends of logarithmic axes; what a file holds may lie beyond
_SMALLEST, _LARGEST = 1e-290, 1e290
_BINARY_STEPS = tuple(2**n for n in range(40))
#: of 10 ** -12 to 10 ** 18
_PREFIXES = ("p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E")


def short(value: float, unit: str = "") -> str:
    """With the prefix that makes it 1 to 999.

    >>> short(989.4e12, "FLOP/s"), short(0.25), short(2e-6, "s"), short(0)
    ('989 TFLOP/s', '0.25', '2 µs', '0')
    """
    if value == 0 or isinf(value):  # beyond every number that a file may hold
        return f"{value:g} {unit}".rstrip()
    power = floor(log10(abs(value)) / 3 + 1e-12) if not 0.01 <= abs(value) < 1000 or unit else 0
    power = max(-4, min(6, power))
    return f"{value / 1000.0**power:.3g} {_PREFIXES[power + 4]}{unit}".rstrip()


def kib(value: float) -> str:
    """Bytes as the number of KiB alone; the axis says the unit."""
    return f"{value / 1024:g}"


def linear(
    title: str,
    high: float,
    *,
    low: float = 0.0,
    text: Callable[[float], str] = "{:g}".format,
    binary: bool = False,
    most: int = 6,
) -> Axis:
    """From ``low`` to ``high`` with at most ``most`` steps; ``binary``: by powers of two.

    >>> [tick.text for tick in linear("warps", 64, binary=True).ticks]
    ['0', '16', '32', '48', '64']
    """
    high = high if high > low else low + 1.0
    span = high - low
    if binary:
        step = next((float(step) for step in _BINARY_STEPS if span / step <= most), span)
    else:
        decade = 10.0 ** floor(log10(span / most))
        step = next(s * decade for s in _STEPS if span / (s * decade) <= most + 1e-9)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    ticks = tuple(Tick(at=i * step, text=text(i * step)) for i in range(first, last + 1))
    return Axis(title=title, low=low, high=high, ticks=ticks)


def logarithmic(
    title: str, values: Iterable[float], *, text: Callable[[float], str], margin: float = 1.5
) -> Axis:
    """Round ends around ``values``, all positive; a tick at each decade, at most seven.

    >>> [tick.text for tick in logarithmic("time", [2e-6, 3e-4], text=short).ticks]
    ['10 µ', '100 µ']
    """
    found = [min(max(value, _SMALLEST), _LARGEST) for value in values]
    low, high = min(found) / margin, max(found) * margin
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    if first >= last:  # less than a decade inside
        low, high = 10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high))
        first, last = round(log10(low)), round(log10(high))
    step = -(-(last - first + 1) // 7)
    ticks = tuple(Tick(at=10.0**n, text=text(10.0**n)) for n in range(first, last + 1, step))
    return Axis(title=title, low=low, high=high, ticks=ticks, log=True)


def at(title: str, low: float, high: float, places: Sequence[tuple[float, str]]) -> Axis:
    """With ticks where they are wanted."""
    ticks = tuple(Tick(at=place, text=text) for place, text in places)
    return Axis(title=title, low=low, high=high, ticks=ticks)


def places(title: str, last: int) -> Axis:
    """From the first to the last of several.

    >>> [tick.text for tick in places("place", 25).ticks]
    ['1', '4', '7', '10', '13', '16', '19', '22', '25']
    """
    step = -(-last // 12)
    return at(title, 0.5, last + 0.5, [(n, str(n)) for n in range(1, last + 1, step)])
