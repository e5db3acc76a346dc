"""A chart as a description: panels of lines, lanes, cells or bars; ticks and labels are text.

What draws it, a terminal or matplotlib, decides nothing but how: the same marks, ticks and words
stand in both. ``style`` is a slot of the palette: one colour, line style, marker and hatch.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from perfkit.record import record

Point = tuple[float, float]
Draw = Literal["line", "step", "points", "area", "guide"]
MarkKind = Literal["present", "cliff", "gain", "ridge", "predicted", "measured"]


@record
class Tick:
    at: float
    text: str


@record
class Axis:
    """One axis; logarithmic ones have positive ends."""

    title: str
    low: float
    high: float
    ticks: tuple[Tick, ...]
    log: bool = False


@record
class Series:
    """Points that belong together, in order.

    ``line`` joins them, ``step`` holds each value up to the next point, ``points`` leaves them
    alone, ``area`` fills a step down to ``base``, ``guide`` is a thin line without an entry in the
    legend.
    """

    name: str
    points: tuple[Point, ...]
    draw: Draw = "line"
    style: int = 0
    base: float = 0.0


@record
class Mark:
    """One place that matters: ``label`` beside it in the picture, ``text`` in full below it."""

    x: float
    y: float
    kind: MarkKind
    label: str = ""
    text: str = ""
    style: int = 0


@record
class Plot:
    """Lines over two axes."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()


@record
class Span:
    lane: int
    start: float
    end: float
    text: str
    style: int = 0


@record
class Lanes:
    """What each of several things does when."""

    title: str
    x: Axis
    lanes: tuple[str, ...]  #: from top to bottom
    spans: tuple[Span, ...]


class Cell(NamedTuple):
    """A short text, and how serious it is: 0 nothing there, 1 as it should be, 2 too much."""

    text: str
    level: int


@record
class Cells:
    """A table of coloured cells."""

    title: str
    x_title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]  #: row by row
    levels: tuple[str, str, str]  #: what each level means


class Bar(NamedTuple):
    """A length with a name; ``text`` says it in full."""

    name: str
    value: float
    text: str
    style: int = 0


@record
class Bars:
    """Bars from zero, the first on top."""

    title: str
    x: Axis
    bars: tuple[Bar, ...]
    kinds: tuple[str, ...] = ()  #: what each style means


Panel = Plot | Lanes | Cells | Bars


@record
class Chart:
    """Panels beside each other, and what they show in one sentence."""

    title: str
    summary: str
    panels: tuple[Panel, ...]
