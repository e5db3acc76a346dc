"""Labels of marks beside each other: none covers another, a mark, or what is outside the panel."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from matplotlib import rc_context
from matplotlib.text import Annotation

from perfkit.report.chart import figure, theme
from perfkit.report.chart.labels import Anchor, Box, Offset, box_of, offsets
from perfkit.report.chart.model import Chart, Mark, Plot
from perfkit.report.chart.scale import linear
from tests.report.chart import pictures

WIDTH, HEIGHT = 117.0, 144.0  #: of one of three panels, points
PANEL = Box(0, 0, WIDTH, HEIGHT)


def boxes(anchors):
    return [
        box_of(one, offset)
        for one, offset in zip(anchors, offsets(anchors, WIDTH, HEIGHT), strict=True)
        if one.letters
    ]


def test_a_single_label_is_beside_its_mark():
    middle = Anchor(x=50, y=70, letters=3)
    assert offsets([middle], WIDTH, HEIGHT) == [Offset(4, 3, is_left=False)]
    below = Anchor(x=50, y=70, letters=3, is_below=True)
    assert offsets([below], WIDTH, HEIGHT) == [Offset(4, -10, is_left=False)]
    end = Anchor(x=WIDTH, y=70, letters=3)
    assert offsets([end], WIDTH, HEIGHT) == [Offset(-4, 3, is_left=True)]


def test_a_label_leaves_room_for_what_is_below_and_above():
    floor, roof = Anchor(x=50, y=0, letters=3, is_below=True), Anchor(x=50, y=HEIGHT, letters=3)
    assert offsets([floor], WIDTH, HEIGHT)[0].up > 0
    assert offsets([roof], WIDTH, HEIGHT)[0].up < 0


def test_the_first_one_keeps_its_place():
    near = [Anchor(x=1, y=70, letters=6), Anchor(x=1.2, y=71, letters=5)]
    alone = offsets(near[:1], WIDTH, HEIGHT)
    assert offsets(near, WIDTH, HEIGHT)[0] == alone[0]


@pytest.mark.parametrize("seed", range(50))
def test_three_marks_anywhere_cover_nothing(seed):
    """As many as a panel of occupancy has: now, where it falls and where it grows."""
    at = random.Random(seed)
    x, y = at.uniform(0, WIDTH), at.uniform(0, HEIGHT)
    anchors = [
        Anchor(
            x=min(x + at.uniform(0, 3), WIDTH),
            y=min(y + at.uniform(0, 6), HEIGHT),
            letters=at.randint(2, 8),
            is_below=at.random() < 0.5,
        )
        for _ in range(3)
    ]
    found = boxes(anchors)
    assert all(one.common(other) == 0 for one, other in combinations(found, 2))
    assert all(one.common(PANEL) > 0.6 * one.area for one in found)


def test_where_there_is_no_room_labels_still_have_a_place():
    assert len(boxes([Anchor(x=50, y=70, letters=30)] * 40)) == 40


def drawn(chart: Chart) -> list[list[Annotation]]:
    with rc_context(figure._STYLE):
        return [
            [one for one in axes.get_children() if isinstance(one, Annotation)]
            for axes in figure._figure(chart, theme.LIGHT).axes
        ]


def test_steps_a_few_bytes_apart_have_labels_apart():
    """Measured as drawn, with the font that there is."""
    chart = pictures.every()["occupancy-carveout"]
    found = {one.get_text(): one.get_window_extent() for one in drawn(chart)[-1]}
    assert found.keys() == {"1 KiB", "896 B", "1025 B"}
    assert not any(one.overlaps(other) for one, other in combinations(found.values(), 2))


def test_a_label_is_no_wider_than_estimated():
    axis = linear("n", 10)
    for text in ("228 KiB", "1025 B", "h100-sxm5", "gemm 4096x4096x4096", "transpose_padded"):
        mark = Mark(x=1, y=5, kind="present", label=text)
        chart = Chart(
            title="", summary="", panels=(Plot(title="", x=axis, y=axis, series=(), marks=(mark,)),)
        )
        ((one,),) = drawn(chart)
        extent = one.get_window_extent()
        points = extent.width / one.figure.dpi * 72
        anchor = Anchor(x=0, y=0, letters=len(text))
        box = box_of(anchor, offsets([anchor], WIDTH, HEIGHT)[0])
        # the ground of a label reaches half a point beyond it
        assert points <= box.right - box.left + 2
        assert extent.height / one.figure.dpi * 72 <= box.high - box.low + 1


def test_a_mark_outside_its_axes_is_at_their_edge():
    axis = linear("n", 10)
    plot = Plot(
        title="", x=axis, y=axis, series=(), marks=(Mark(x=1e308, y=5, kind="present", label="x"),)
    )
    ((one,),) = drawn(Chart(title="", summary="", panels=(plot,)))
    assert one.get_ha() == "right"
