"""Chart -> text for a terminal: 80 columns suffice, colours and Unicode are used where they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log10
from typing import Final

from perfkit.record import record
from perfkit.report.chart.canvas import Canvas, Colour, legend_letter, painted
from perfkit.report.chart.model import Axis, Bars, Cells, Chart, Lanes, Mark, Panel, Plot, Series
from perfkit.report.chart.words import clean, shortened

_PLOT_HEIGHT: Final = 12
_LEFT: Final = 10
#: sign of a mark, with Unicode and without
_SIGNS: Final = {
    "present": ("●", "@"),
    "cliff": ("▼", "v"),
    "gain": ("▲", "^"),
    "ridge": ("◇", "^"),
    "predicted": ("○", "o"),
    "measured": ("■", "#"),
}
#: fillings with Unicode and without
_FULL: Final = ("█", "#")
_PART: Final = ("▒", "=")
_EMPTY: Final = ("░", ":")


@record
class Look:
    """What the terminal can show."""

    width: int = 80
    is_ascii: bool = False
    is_coloured: bool = False

    def canvas(self, height: int) -> Canvas:
        return Canvas(self.width, height, is_ascii=self.is_ascii, is_coloured=self.is_coloured)


def render(chart: Chart, look: Look) -> str:
    """Panels below each other, each with its marks in words."""
    from textwrap import wrap

    lines = [
        line for text in (chart.title, chart.summary) for line in wrap(clean(text), look.width)
    ]
    for panel in chart.panels:
        lines += ["", *_panel(panel, look)]
    text = "\n".join(lines) + "\n"
    return text.encode("ascii", "replace").decode() if look.is_ascii else text


def _panel(panel: Panel, look: Look) -> Iterator[str]:
    if panel.title:
        yield panel.title
    if isinstance(panel, Lanes):
        yield from _lanes(panel, look)
    elif isinstance(panel, Cells):
        yield from _cells(panel, look)
    elif isinstance(panel, Bars):
        yield from _bars(panel, look)
    else:
        yield from _plot(panel, look)


def _share(axis: Axis, value: float) -> float:
    """Where a value is on the axis, 0 to 1."""
    low, high = axis.low, axis.high
    if axis.log:
        low, high, value = log10(low), log10(high), log10(max(value, low * 1e-9))
    return (value - low) / (high - low)


@record
class _Place:
    """Where values of a plot are on its canvas."""

    plot: Plot
    width: int

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = min(1.0, max(0.0, _share(self.plot.x, x)))
        up = min(1.0, max(0.0, _share(self.plot.y, y)))
        return _LEFT + across * (self.width - _LEFT - 1), (1 - up) * (_PLOT_HEIGHT - 1) + 0.5


def _plot(plot: Plot, look: Look) -> Iterator[str]:
    canvas = look.canvas(_PLOT_HEIGHT + 2)
    place = _Place(plot=plot, width=look.width)
    bar, corner = ("|", "+") if look.is_ascii else ("┤", "└")
    for tick in plot.y.ticks:
        row = int(place.at(plot.x.low, tick.at)[1])
        canvas.put(0, row, f"{tick.text:>{_LEFT - 2}} {bar}", "soft")
    canvas.put(_LEFT - 1, _PLOT_HEIGHT, corner + ("-" if look.is_ascii else "─") * look.width)
    for tick in plot.x.ticks:
        centre = int(place.at(tick.at, plot.y.low)[0])
        start = min(centre - len(tick.text) // 2, look.width - len(tick.text))
        canvas.put(start, _PLOT_HEIGHT + 1, tick.text, "soft")
    for one in plot.series:
        _series(canvas, one, place, look)
    for mark in plot.marks:
        x, y = place.at(mark.x, mark.y)
        canvas.put(int(x), int(y), _sign(mark, look), _colour(mark))
    yield f"{plot.y.title}"
    yield from canvas.lines()
    yield f"{plot.x.title:>{look.width}}"
    yield from _words(plot, look)


def _series(canvas: Canvas, one: Series, place: _Place, look: Look) -> None:
    points = list(one.points)
    if one.draw == "area":
        _area(canvas, one, place, look)
        return
    if one.draw == "points":
        for x, y in (place.at(*point) for point in points):
            canvas.put(int(x), int(y), _point(one, look), one.style)
        return
    if one.draw == "step":
        points = [points[0]]
        for x, y in one.points[1:]:
            points += [(x, points[-1][1]), (x, y)]
    places = [place.at(x, y) for x, y in points]
    for start, end in pairwise(places):
        canvas.line(start, end, one.style)


def _area(canvas: Canvas, one: Series, place: _Place, look: Look) -> None:
    for (x, y), (until, _) in zip(one.points, one.points[1:], strict=False):
        (left, top), (right, _) = place.at(x, y), place.at(until, y)
        bottom = place.at(x, one.base)[1]
        for row in range(int(top), max(int(top), int(bottom) - (1 if one.base else 0)) + 1):
            canvas.put(int(left), row, _filling(one, look) * (int(right) - int(left)), one.style)


def _filling(one: Series, look: Look) -> str:
    """Full for the first style, lighter for others, lightest for what hangs from above."""
    return (_EMPTY if one.base else _PART if one.style else _FULL)[look.is_ascii]


def _point(one: Series, look: Look) -> str:
    """Of the first style what no line is made of."""
    dot = "o" if look.is_ascii else "•"
    return legend_letter(one.style, is_ascii=look.is_ascii)[0] if one.style else dot


def _sign(mark: Mark, look: Look) -> str:
    return _SIGNS[mark.kind][look.is_ascii]


def _colour(mark: Mark) -> Colour:
    if mark.kind in {"present", "cliff"}:
        return "ink" if mark.kind == "present" else "alarm"
    return mark.style


def _words(plot: Plot, look: Look) -> Iterator[str]:
    named = [one for one in plot.series if one.name and one.draw != "guide"]
    if len(named) > 1:
        for one in named:
            sign = legend_letter(one.style, is_ascii=look.is_ascii)
            if one.draw == "area":
                sign = _filling(one, look) * 2
            if one.draw == "points":
                sign = f"{_point(one, look)} "
            yield f"  {_painted(sign, one.style, look)} {clean(one.name)}"
    for mark in plot.marks:
        if mark.text:
            yield f"  {_painted(_sign(mark, look), _colour(mark), look)}  {clean(mark.text)}"


def _painted(text: str, colour: Colour, look: Look) -> str:
    return painted(text, colour) if look.is_coloured else text


def _lanes(panel: Lanes, look: Look) -> Iterator[str]:
    left = max(map(len, panel.lanes)) + 2
    room = look.width - left
    canvas = look.canvas(2 * len(panel.lanes) + 1)
    for number, name in enumerate(panel.lanes):
        canvas.put(0, 2 * number, name)
    for span in panel.spans:
        shares = (min(1.0, max(0.0, _share(panel.x, at))) for at in (span.start, span.end))
        start, end = (round(share * room) for share in shares)
        length = max(1, end - start)
        # neighbours differ without colours, too
        kinds = _FULL if span.style % 2 == 0 else _PART
        bar = kinds[look.is_ascii] * length
        text = f" {span.text} "
        if len(text) < length:
            middle = (length - len(text)) // 2
            bar = bar[:middle] + text + bar[middle + len(text) :]
        canvas.put(left + start, 2 * span.lane, bar, span.style)
    for tick in panel.x.ticks:
        at = left + round(_share(panel.x, tick.at) * room) - len(tick.text) // 2
        row = 2 * len(panel.lanes)
        canvas.put(min(at, look.width - len(tick.text)), row, tick.text, "soft")
    yield from canvas.lines()
    yield f"{panel.x.title:>{look.width}}"


def _cells(panel: Cells, look: Look) -> Iterator[str]:
    """Two characters a cell, and a gap after every eighth: 80 columns hold 32 banks."""
    left = max(len(panel.x_title), *map(len, panel.rows)) + 1
    canvas = look.canvas(len(panel.rows) + 1)
    canvas.put(0, 0, panel.x_title)
    for x, column in enumerate(panel.columns):
        canvas.put(left + 2 * x + x // 8, 0, f"{column:>2}" if x % 2 == 0 else "  ", "soft")
    empty = "." if look.is_ascii else "·"
    colours: tuple[Colour, ...] = ("soft", 4, "alarm")
    for y, row in enumerate(panel.cells, 1):
        canvas.put(0, y, panel.rows[y - 1])
        for x, cell in enumerate(row):
            text = cell.text.rstrip("+") or empty
            canvas.put(left + 2 * x + x // 8, y, f"{text:>2}", colours[cell.level])
    yield from canvas.lines()
    yield f"  {empty} {panel.levels[0]}, otherwise the first lane served"


def _bars(panel: Bars, look: Look) -> Iterator[str]:
    """A line each: name, bar, value. Eighths of a column do not matter here."""
    after = max(len(bar.text) for bar in panel.bars) + 1
    longest = max(len(clean(bar.name)) for bar in panel.bars)
    left = min(longest, look.width // 2 - 2) + 1
    room = look.width - left - after
    canvas = look.canvas(len(panel.bars))
    for row, bar in enumerate(panel.bars):
        length = max(1, round(_share(panel.x, bar.value) * room))
        canvas.put(0, row, shortened(bar.name, left - 1))
        canvas.put(left, row, _sort(bar.style)[look.is_ascii] * length, bar.style)
        canvas.put(left + length + 1, row, bar.text)
    yield from canvas.lines()
    yield f"{panel.x.title:>{look.width}}"
    for style, kind in enumerate(panel.kinds):
        yield f"  {_painted(_sort(style)[look.is_ascii] * 2, style, look)} {kind}"


def _sort(style: int) -> tuple[str, str]:
    return _PART if style % 2 else _FULL
