"""Charts as text: within the width, in ASCII too, and the same with the colours taken away."""

from __future__ import annotations

import re

import pytest

from perfkit.report.chart import terminal
from perfkit.report.chart.model import Cell, Cells, Chart, Lanes, Mark, Plot, Series, Span
from perfkit.report.chart.scale import linear, logarithmic, short

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLOT = Plot(
    title="",
    x=linear("n", 10),
    y=linear("value", 8, binary=True),
    series=(
        Series(name="up", points=((0.0, 0.0), (10.0, 8.0))),
        Series(name="down", points=((0.0, 8.0), (5.0, 4.0), (10.0, 0.0)), draw="step", style=1),
    ),
    marks=(Mark(x=5, y=4, kind="present", text="now 5"),),
)
LANES = Lanes(
    title="engines",
    x=linear("time (ms)", 10),
    lanes=("copy", "kernel"),
    spans=(
        Span(lane=0, start=0, end=5, text="0"),
        Span(lane=1, start=5, end=10, text="1", style=1),
    ),
)
CELLS = Cells(
    title="banks",
    x_title="bank",
    columns=tuple(map(str, range(32))),
    rows=("1", "2"),
    cells=(
        tuple(Cell(str(n), 1) for n in range(32)),
        (Cell("0+", 2), *(Cell("", 0) for _ in range(31))),
    ),
    levels=("no lane", "a word", "a conflict"),
)


def drawn(*panels, **look):
    chart = Chart(title="Title", summary="What it shows", panels=panels)
    return terminal.render(chart, terminal.Look(**look))


@pytest.mark.parametrize("width", [78, 80, 120])
@pytest.mark.parametrize("is_ascii", [False, True])
def test_it_fits(width, is_ascii):
    text = drawn(PLOT, LANES, CELLS, width=width, is_ascii=is_ascii)
    assert max(map(len, text.splitlines())) <= width
    assert text.isascii() == is_ascii


def test_colours_change_nothing_else():
    plain, coloured = (drawn(PLOT, LANES, CELLS, is_coloured=c) for c in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[38;5;" in coloured
    without = [line.rstrip() for line in COLOURS.sub("", coloured).splitlines()]
    assert without == plain.splitlines()


def test_a_mark_is_where_its_value_is():
    rows = drawn(PLOT).splitlines()
    (row,) = (line for line in rows if "●" in line and "now" not in line)
    # four is the middle of the axis, and five that of the other
    assert row.startswith("       4 ┤") or rows[rows.index(row) + 1].startswith("       4 ┤")
    assert row.index("●") == 10 + round((80 - 11) / 2 - 0.5)
    assert "  ●  now 5" in rows


def test_a_line_goes_from_corner_to_corner():
    only = Plot(title="", x=PLOT.x, y=PLOT.y, series=PLOT.series[:1])
    rows = drawn(only, is_ascii=True).splitlines()
    dots = [(row, line.index(".")) for row, line in enumerate(rows) if re.search(r"[ |]\.", line)]
    columns = [column for _, column in dots]
    assert columns == sorted(columns, reverse=True)
    assert columns[-1] == 10
    assert len(rows[dots[0][0]]) == 80


def test_spans_are_as_long_as_they_take():
    text = drawn(LANES)
    copy, kernel = (line for line in text.splitlines() if line.startswith(("copy", "kernel")))
    assert (len(copy.split("█", 1)[0]), len(copy)) == (8, 44)
    assert (len(kernel.split("▒", 1)[0]), len(kernel)) == (44, 80)


def test_cells_name_the_lanes():
    rows = drawn(CELLS).splitlines()
    first = next(line for line in rows if line.startswith("1 "))
    assert first.split()[1:9] == [*map(str, range(8))]
    second = next(line for line in rows if line.startswith("2 "))
    assert second.split() == ["2", "0", *["·"] * 31]


def test_long_titles_are_broken():
    chart = Chart(title="kernel " * 40, summary="s", panels=(PLOT,))
    text = terminal.render(chart, terminal.Look(width=80))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("high", [1, 3, 7, 64, 255, 1024, 232448])
@pytest.mark.parametrize("binary", [False, True])
def test_linear_axes_have_few_ticks_inside(high, binary):
    axis = linear("n", high, binary=binary)
    places = [tick.at for tick in axis.ticks]
    assert places[0] == 0
    assert places[-1] <= high
    assert 2 <= len(places) <= 7


@pytest.mark.parametrize("values", [[1e-9], [3.0, 4.0], [1e-6, 1e-3], [1.0, 1e15], [2e14, 9e14]])
def test_logarithmic_axes_hold_their_values(values):
    axis = logarithmic("n", values, text=short)
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert 1 <= len(axis.ticks) <= 7
    assert all(axis.low * 0.999 <= tick.at <= axis.high * 1.001 for tick in axis.ticks)


def test_a_name_does_not_command_the_terminal():
    evil = "\x1b[2Jname\udcff"
    mark = Mark(x=5, y=4, kind="present", text=evil)
    plot = Plot(title="", x=PLOT.x, y=PLOT.y, series=PLOT.series, marks=(mark,))
    text = terminal.render(Chart(title=evil, summary=evil, panels=(plot,)), terminal.Look())
    assert "\x1b" not in text
    assert text.count("[2Jname?") == 3
