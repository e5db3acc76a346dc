"""Slots and tiles; expected values are worked out here."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.models.issue import issue_rate, tile_instructions
from perfkit.models.waves import unevenness


@pytest.mark.parametrize(
    ("capability", "schedulers"),
    [("7.0", 4), ("7.5", 4), ("8.0", 4), ("8.9", 4), ("9.0", 4), ("10.0", 4), ("12.0", 4)],
)
def test_a_scheduler_issues_one_per_clock(capability, schedulers):
    found = issue_rate(catalog.capability(capability), sm_count=10, clock_hz=1e9)
    assert found == schedulers * 10 * 1e9


@pytest.mark.parametrize("capability", ["5.2", "6.0", "6.1"])
def test_before_7_0_it_may_issue_two(capability):
    assert issue_rate(catalog.capability(capability), sm_count=10, clock_hz=1e9) is None


@pytest.mark.parametrize(
    ("rows", "columns", "loads"), [(1, 1, 2), (4, 4, 2), (8, 8, 4), (8, 16, 6), (5, 9, 5)]
)
def test_a_tile_loads_four_values_at_once(rows, columns, loads):
    assert tile_instructions(rows, columns) == rows * columns + loads


@pytest.mark.parametrize(
    ("grid", "most"), [(1, 1), (131, 1), (132, 1), (133, 2), (264, 2), (1024, 8)]
)
def test_the_sm_with_most_blocks(grid, most):
    assert unevenness(grid=grid, sm_count=132) == pytest.approx(most / (grid / 132))
