"""One figure on several cards."""

from __future__ import annotations

import pytest

from perfkit.analysis.across_cards import across, kernels
from tests.report import timed


@pytest.mark.parametrize(
    ("values", "intervals", "apart", "behind"),
    [
        # times: the longest is behind, if its interval does not reach that of the shortest
        ([1.0, 1.1, 1.05], [(0.99, 1.01), (1.09, 1.11), (1.0, 1.1)], 0.1, 1),
        ([1.0, 1.1], [(0.9, 1.095), (1.09, 1.11)], 0.1, None),
        # one run has no interval
        ([1.0, 2.0], [None, None], 1.0, None),
        ([1.0, 2.0], [(0.9, 1.1), None], 1.0, None),
        ([None, 2.0, 2.5], [None, (1.9, 2.1), (2.4, 2.6)], 0.25, 2),
        ([None, 2.0], [None, (1.9, 2.1)], None, None),
        ([1.0, 1.0], [(1.0, 1.0), (1.0, 1.0)], 0.0, None),
    ],
)
def test_how_far_apart_and_who_is_behind(values, intervals, apart, behind):
    found = across("copy", values, intervals)
    assert found.apart == pytest.approx(apart)
    assert found.behind == behind
    assert found.values == tuple(values)


def test_kernels_by_card():
    found = {one.name: one for one in kernels(timed.SEVERAL_CARDS)}
    assert list(found) == ["copy", "sum", "hang"]
    assert found["copy"].apart == pytest.approx(0.04)
    assert found["copy"].behind == 1
    assert found["sum"].behind is None  # runs of it scatter more than the cards differ
    assert found["copy"].values[2] is None
    assert found["hang"].apart is None
