"""Branches and loops: what idle lanes cost."""

from __future__ import annotations

import pytest

from perfkit.errors import UsageError
from perfkit.models.divergence import branch, loop


def test_a_warp_that_agrees_does_not_diverge():
    for value in (0, 1):
        found = branch([value] * 32)
        assert (found.serial_factor, found.diverges, found.idle_share) == (1, False, 0.0)
    assert branch([1] * 32).idle_share_without_else == 0.0
    assert branch([0] * 32).idle_share_without_else == 0.0  # nobody runs the body


@pytest.mark.parametrize("taken", range(1, 32))
def test_two_paths_leave_half_of_the_lanes_idle(taken):
    found = branch([int(lane < taken) for lane in range(32)])
    assert (found.serial_factor, found.idle_share, found.taken) == (2, 0.5, taken)
    assert found.idle_share_without_else == 1 - taken / 32


@pytest.mark.parametrize("paths", range(1, 33))
def test_a_switch_takes_as_many_paths_as_values(paths):
    found = branch([lane % paths for lane in range(32)])
    assert found.serial_factor == paths
    assert found.idle_share == pytest.approx(1 - 1 / paths)
    assert sorted(lane for path in found.paths for lane in path.lanes) == list(range(32))


def test_missing_threads_are_idle():
    found = branch([1] * 8 + [None] * 24)
    assert (found.threads, found.serial_factor, found.idle_share) == (8, 1, 0.75)
    assert branch([None] * 32).idle_share == 0.0


def test_a_loop_runs_as_often_as_its_longest_lane():
    found = loop([10] + [1] * 31)
    # 41 iterations of lanes in 10 of the warp
    assert (found.iterations, found.lane_iterations, found.diverges) == (10, 41, True)
    assert found.serial_factor == pytest.approx(10 / (41 / 32))
    assert found.idle_share == pytest.approx(1 - 41 / 320)


def test_an_even_loop_and_one_that_never_runs():
    assert (loop([7] * 32).serial_factor, loop([7] * 32).diverges) == (1.0, False)
    never = loop([0] * 32)
    assert (never.serial_factor, never.idle_share, never.diverges) == (1.0, 0.0, False)


def test_what_is_refused():
    with pytest.raises(UsageError, match="33 lanes"):
        branch([0] * 33)
    with pytest.raises(UsageError, match="33 lanes"):
        loop([0] * 33)
    with pytest.raises(UsageError, match="lane 1: a loop cannot run -1 times"):
        loop([0, -1])
