"""Golden pictures of every kind of chart, compared as pixels; a chart that is broken differs.

Drawn by matplotlib 3.9.4 and 3.11.2 no square of the shapes differs by a hundredth, and none of a
whole picture by more than 0.25.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from perfkit.report import charts
from perfkit.report.chart.model import Bars, Cells, Chart, Lanes, Panel, Plot
from perfkit.report.chart.theme import DARK, SLOTS
from tests.report.chart.pictures import GOLDEN, every, far, shapes, store, stored, whole

FOLDER = GOLDEN / "charts"
#: of the whole range of a colour, and how many squares may be further off
OFF_SHAPES, OFF_WHOLE = 0.1, 0.3
SQUARES = 2
NAMES = (
    "occupancy", "occupancy-carveout", "roofline", "rooflines", "carveout", "gemm", "banks",
    "overlap", "sweep", "measure", "measure-2", "validate", "validate-2", "tuning", "tuning-2",
    "tuning-3", "gemm-rank", "gemm-rank-2", "occupancy-overview",
)  # fmt: skip


def test_every_kind_of_chart_has_a_picture():
    assert set(NAMES) == set(every())
    topics = {name.partition("-")[0] for name in NAMES}
    assert len(NAMES) >= len(charts.TOPICS)
    assert {topic.removeprefix("access-").partition("-")[0] for topic in charts.TOPICS} <= topics
    kinds = {type(panel) for chart in every().values() for panel in chart.panels}
    assert kinds == {Bars, Cells, Lanes, Plot}
    expected = {f"{name}{end}.png" for name in NAMES for end in ("", "-shapes")}
    assert {path.name for path in FOLDER.iterdir()} == {*expected, "occupancy-dark-shapes.png"}


def compare(name: str, found, limit: float, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.png"
    if request.config.getoption("--update-golden"):
        store(path, found)
    assert far(found, stored(path), limit) <= SQUARES, f"{name}: look at it, then --update-golden"


@pytest.mark.parametrize("name", NAMES)
def test_pictures(name, request):
    compare(name, whole(every()[name]), OFF_WHOLE, request)
    compare(f"{name}-shapes", shapes(every()[name]), OFF_SHAPES, request)


def test_a_dark_one(request):
    compare("occupancy-dark-shapes", shapes(every()["occupancy"], DARK), OFF_SHAPES, request)


def broken(panel: Panel) -> Iterator[tuple[str, Panel]]:
    """The same panel with one thing wrong."""
    if isinstance(panel, Plot):
        yield from _broken_plot(panel)
    elif isinstance(panel, Lanes):
        yield "a span missing", replace(panel, spans=panel.spans[1:])
        last = panel.spans[-1]
        later = replace(last, end=last.end - 0.02 * panel.x.high)
        yield "a shorter span", replace(panel, spans=(*panel.spans[:-1], later))
    elif isinstance(panel, Bars):
        first = panel.bars[0]._replace(value=panel.bars[0].value * 0.98)
        yield "a shorter bar", replace(panel, bars=(first, *panel.bars[1:]))
        first = panel.bars[0]._replace(style=panel.bars[0].style + 1)
        yield "a bar in another style", replace(panel, bars=(first, *panel.bars[1:]))
    else:
        row = panel.cells[0]
        n = next(n for n, cell in enumerate(row) if cell.level == 1)
        other = (*row[:n], row[n]._replace(level=2), *row[n + 1 :])
        yield "a cell too serious", replace(panel, cells=(other, *panel.cells[1:]))


def _broken_plot(panel: Plot) -> Iterator[tuple[str, Plot]]:
    y, one, rest = panel.y, panel.series[-1], panel.series[:-1]
    yield "a series missing", replace(panel, series=rest)
    step = 0.02 * (y.high - y.low)
    points = tuple((a, b * 1.2 if y.log else b + step) for a, b in one.points)
    yield "a series moved", replace(panel, series=(*rest, replace(one, points=points)))
    if one.draw != "guide":
        other = replace(one, style=(one.style + 1) % SLOTS)
        yield "a series in another style", replace(panel, series=(*rest, other))
    if panel.marks:
        yield "a mark missing", replace(panel, marks=panel.marks[1:])
    yield "a tick missing", replace(panel, x=replace(panel.x, ticks=panel.x.ticks[1:]))


#: one of each way to draw
BROKEN = ("occupancy", "roofline", "carveout", "gemm", "banks", "overlap", "measure", "validate-2",
          "tuning", "gemm-rank-2")  # fmt: skip


def breakages() -> Iterator[tuple[str, str, Chart]]:
    for name in BROKEN:
        chart = every()[name]
        for what, other in broken(chart.panels[0]):
            yield name, what, replace(chart, panels=(other, *chart.panels[1:]))


def test_a_broken_chart_is_seen():
    golden = {name: stored(FOLDER / f"{name}-shapes.png") for name in NAMES}
    found = list(breakages())
    assert len(found) > 30
    unseen = [
        f"{name}: {what}"
        for name, what, chart in found
        if far(shapes(chart), golden[name], OFF_SHAPES) <= SQUARES
    ]
    assert unseen == []


def test_missing_words_are_seen():
    chart = every()["gemm-rank"]
    for other in (
        replace(chart, title=""),
        replace(chart, panels=(replace(chart.panels[0], bars=tuple(
            bar._replace(name="") for bar in chart.panels[0].bars)),)),
    ):  # fmt: skip
        assert far(whole(other), stored(FOLDER / "gemm-rank.png"), OFF_WHOLE) > SQUARES
