"""SVG and PNG: readable by everybody, whole by themselves, and what happens without matplotlib."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from perfkit.errors import NoExtra
from perfkit.report.chart import figure, svg, terminal, theme
from perfkit.report.chart.model import Cell, Cells, Chart, Lanes, Mark, Plot, Series, Span
from perfkit.report.chart.scale import linear
from perfkit.report.chart.words import shortened

EVIL = '</desc><script>alert(1)</script> "&" \x1b[31m'


def chart(title="A chart"):
    axis = linear("n", 10)
    lines = tuple(
        Series(name=f"line {n}", points=((0.0, n), (10.0, n)), style=n) for n in range(theme.SLOTS)
    )
    areas = Series(name="area", points=((0.0, 5.0), (10.0, 5.0)), draw="area", style=1)
    marks = tuple(
        Mark(x=5, y=5, kind=kind, label=kind)
        for kind in ("present", "cliff", "gain", "ridge", "predicted", "measured")
    )
    return Chart(
        title=title,
        summary=title,
        panels=(
            Plot(title="plot", x=axis, y=axis, series=(*lines, areas), marks=marks),
            Lanes(title="lanes", x=axis, lanes=("a", "b"), spans=(
                Span(lane=0, start=0, end=5, text="0"), Span(lane=1, start=5, end=9, text="1"))),
            Cells(title="cells", x_title="x", columns=("0", "1"), rows=("0",),
                  cells=((Cell("7", 1), Cell("8+", 2)),), levels=("none", "one", "more")),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("name", figure.THEMES)
def test_a_file_needs_nothing_beside_it(name):
    text = figure.render_svg(chart(), figure.THEMES[name])
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "A chart"
    without_names = re.sub(r'xmlns(:xlink)?="[^"]*"', "", text)
    assert "http" not in without_names
    assert not re.search(r"20\d\d-\d\d-\d\d", text)
    tokens = {token for token in theme.named() if token in text}
    assert tokens == set()
    assert ("prefers-color-scheme" in text) == (name == "auto")


def test_labels_are_readable_on_a_curve():
    """Each has the paper behind it, in front of the lines and behind the marks."""
    axis = linear("n", 10)
    line = Series(name="", points=((0.0, 5.0), (10.0, 5.0)))
    mark = Mark(x=5, y=5, kind="cliff", label="288")
    plot = Plot(title="", x=axis, y=axis, series=(line,), marks=(mark,))
    text = figure.render_svg(Chart(title="t", summary="", panels=(plot,)), theme.LIGHT)
    curve, label, sign = (
        text.index(part) for part in (f"stroke: {theme.LIGHT.slots[0]}", ">288<", "PathCollection")
    )
    assert curve < label < sign
    before = text[curve:label]
    assert re.search(rf"fill: {theme.LIGHT.paper}[^<]*/>(?:\s|</g>|<g[^>]*>|<text[^>]*)*$", before)


def test_more_and_fewer_have_signs_of_their_own():
    axis = linear("n", 10)
    pictures = set()
    for kind in ("cliff", "gain"):
        plot = Plot(
            title="", x=axis, y=axis, series=(), marks=(Mark(x=5, y=5, kind=kind, text="t"),)
        )
        one = Chart(title="t", summary="s", panels=(plot,))
        pictures |= {figure.render_svg(one, theme.LIGHT), terminal.render(one, terminal.Look())}
        pictures.add(terminal.render(one, terminal.Look(is_ascii=True)))
    assert len(pictures) == 6


def test_light_and_dark_have_their_own_colours():
    light, dark = (figure.render_svg(chart(), figure.THEMES[name]) for name in ("light", "dark"))
    assert theme.LIGHT.paper in light
    assert theme.LIGHT.paper not in dark
    assert theme.DARK.paper in dark
    both = figure.render_svg(chart(), None)
    for variable, of_light, of_dark in theme.named().values():
        assert f"{variable}:{of_light};" in both
        assert f"{variable}:{of_dark};" in both


def test_what_a_name_holds_is_text():
    text = figure.render_svg(chart(EVIL.replace("\x1b", "")), None)
    assert "<script" not in text
    ET.fromstring(text)


def test_two_charts_of_a_page_share_no_id():
    drawn = figure.render_svg(chart(), theme.TOKENS)
    parts = [svg.inline(drawn, f"c{n}-") for n in (1, 2)]
    ids = [set(re.findall(r'\bid="([^"]*)"', part)) for part in parts]
    assert ids[0]
    assert not ids[0] & ids[1]
    for part, known in zip(parts, ids, strict=True):
        used = set(re.findall(r'(?:url\(#|href="#)([^")]*)', part))
        assert used
        assert used <= known
        assert "xmlns" not in part


def test_slots_are_told_apart_without_colours():
    assert len(set(map(str, theme.DASHES))) == theme.SLOTS
    assert len(set(theme.MARKERS)) == theme.SLOTS
    assert len(set(theme.HATCHES)) == theme.SLOTS
    assert all(
        len(set(one.slots)) == theme.SLOTS for one in (theme.LIGHT, theme.DARK, theme.TOKENS)
    )


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear_parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear_parts, strict=True))


@pytest.mark.parametrize(("one", "least"), [(theme.LIGHT, 4.5), (theme.DARK, 4.5)])
def test_text_has_the_contrast_that_wcag_asks_for(one, least):
    lighter, darker = sorted((luminance(one.ink), luminance(one.paper)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= least


def test_a_png_is_light_unless_dark_is_asked_for():
    assert figure.render_png(chart(), None) == figure.render_png(chart(), theme.LIGHT)
    assert figure.render_png(chart(), None).startswith(b"\x89PNG")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(NoExtra) as caught:
        figure.require()
    assert caught.value.exit_code == 4
    assert "pip install 'perfkit[plot]'" in caught.value.hint


def test_names_lose_their_middle():
    assert shortened("a" * 92, 92) == "a" * 92
    assert len(shortened("a" * 500, 92)) == 91
    assert shortened("k\udcff", 92) == "k?"


@pytest.mark.parametrize("name", ["$", "$x^{", "\\frac", "k\udcff", "\u6838\u5fc3", "%s {0}"])
def test_any_name_can_be_drawn(name):
    assert "<svg" in figure.render_svg(chart(name), None)
    assert figure.render_png(chart(name), None)
