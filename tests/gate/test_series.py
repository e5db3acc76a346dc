"""Outliers, modes and trends of series."""

from __future__ import annotations

import numpy as np
import pytest

from perfkit.gate.series import limit_apart, outliers, parting, trend, two_modes


def test_a_run_far_from_its_side_stands_apart_and_its_side_s_level_does_not_matter():
    calm = np.array([0.0, 0.01, -0.01, 0.005, -0.005])
    slow = np.array([5.0, 5.01, 4.99, 5.3, 5.0])
    first, second = outliers(calm[None], slow[None])
    assert not first.any()
    assert second.tolist() == [[False, False, False, True, False]]


def test_a_run_among_those_of_the_other_side_is_no_accident():
    """A step from one level to another in the last run of the first side."""
    calm = np.array([0.0, 0.001, -0.001, 0.0005])
    first, second = np.append(calm, 0.1)[None], (np.append(calm, 0) + 0.1)[None]
    assert not any(mask.any() for mask in outliers(first, second))
    for shift in (-0.05, 0.05):
        masks = outliers(first, second + shift)
        assert [mask.tolist() for mask in masks] == [[[False] * 4 + [True]], [[False] * 5]]


@pytest.mark.parametrize("way", [1, -1])
def test_accidents_of_both_sides_do_not_excuse_each_other(way):
    """One stands between the other side's runs and its accident, which is none of them."""
    calm = np.array([0.0, 0.001, -0.001, 0.0005])
    masks = outliers(way * np.append(calm, 0.3)[None], way * np.append(calm, 0.6)[None])
    assert all(mask.tolist() == [[False] * 4 + [True]] for mask in masks)


def test_two_runs_of_five_apart_are_no_accident():
    side = np.array([[0.0, 0.01, -0.01, 0.5, 0.51]])
    assert not outliers(side, np.array([[0, 0.01, -0.01, 0, 0]]))[0].any()


def test_rounding_is_no_outlier():
    side = np.array([[0.0, 0.0, 0.0, 0.0, 5e-5]])
    assert not any(mask.any() for mask in outliers(side, side))


def test_normal_runs_are_seldom_outliers_or_in_two_modes():
    random = np.random.default_rng(1)
    for n in (5, 7, 10, 15, 30):
        rows = random.normal(0, 0.05, (4_000, n))
        assert (two_modes(rows) > 0).mean() < 0.006
        masks = outliers(rows, random.normal(0, 0.05, (4_000, n)))
        assert np.mean(np.any(np.concatenate(masks, axis=1), axis=1)) < 0.01


@pytest.mark.parametrize("sides", [(5, 5), (7, 7), (10, 10), (15, 15), (5, 12), (5,), (9,), (20,)])
def test_the_limit_lies_above_the_farthest_of_normal_runs(sides):
    """In about one of 200 series it does not."""
    random = np.random.default_rng([2, *sides])
    masks = outliers(*(random.normal(0, 0.05, (20_000, n)) for n in sides))
    assert np.mean(np.any(np.concatenate(masks, axis=1), axis=1)) < 0.0075
    assert limit_apart(sum(sides)) > limit_apart(1000)


@pytest.mark.parametrize("n", [5, 8, 15])
def test_two_modes_are_found_and_measured(n):
    """22.5 and 25.5 ms, each run calm: the case of newton-physics/newton#2534."""
    times = np.array([22.5 if i % 2 else 25.5 for i in range(n)])
    times = times * np.exp(np.random.default_rng(2).normal(0, 0.002, (50, n)))
    assert two_modes(np.log(times)) == pytest.approx(np.full(50, np.log(25.5 / 22.5)), abs=0.01)


def test_one_run_apart_is_an_outlier_and_not_a_mode():
    assert two_modes(np.log([[10.0, 10.01, 10.02, 9.99, 10.0, 10.01, 14.0]])) == 0
    assert two_modes(np.zeros((3, 4))).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("slope", "depend"), [(0.0, False), (0.8, True)])
def test_the_trend_is_the_common_slope_of_a_least_squares_fit(slope, depend):
    random = np.random.default_rng(3)
    before, after = random.normal(size=(1, 6)), random.normal(size=(1, 9)) + 2
    before, after = before + slope * np.arange(6), after + slope * np.arange(9)
    places = np.concatenate([np.arange(6), np.arange(9)]) * 1.0
    levels = np.repeat([[1.0, 0.0], [0.0, 1.0]], [6, 9], axis=0)
    design = np.column_stack([levels, places])
    y = np.concatenate([before[0], after[0]])
    fit, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    found = trend(before, after)
    # from the middle of six runs to that of the nine after them: 3 + 4.5 steps
    assert found.shift[0] == pytest.approx(fit[2] * 7.5)
    # the change without the shift is that of a fit in which the places go on
    design = np.column_stack([np.ones(15), levels[:, 1], np.arange(15)])
    assert np.linalg.lstsq(design, y, rcond=None)[0][1] == pytest.approx(
        after.mean() - before.mean() - found.shift[0]
    )
    covariance = np.linalg.inv(design.T @ design) * rest[0] / 12
    assert found.degrees[0] == 12
    assert found.weight[0] == pytest.approx(np.sqrt(np.linalg.inv(design.T @ design)[1, 1]))
    sides = [side[0] - side.mean() for side in (before, after)]
    r = sum((x[1:] * x[:-1]).sum() for x in sides) / sum((x**2).sum() for x in sides)
    assert bool(r > 0.2) is depend
    inflated = np.sqrt((1 + max(r, 0)) / (1 - max(r, 0)))
    assert found.error[0] == pytest.approx(np.sqrt(covariance[1, 1]) * inflated)


def test_a_trend_does_without_the_runs_that_are_left_out():
    """The places of the others stay."""
    random = np.random.default_rng(6)
    before, after = random.normal(size=(1, 6)), random.normal(size=(1, 7))
    wild = before.copy()
    wild[0, 2] = 1000
    lost = np.zeros((1, 6), bool), np.zeros((1, 7), bool)
    lost[0][0, 2] = True
    places = np.delete(np.arange(13), 2)
    design = np.column_stack([np.ones(12), places >= 6, places])
    fit = np.linalg.lstsq(design, np.concatenate([np.delete(wild[0], 2), after[0]]), rcond=None)[0]
    found = trend(wild, after, lost=lost)
    change = after.mean() - np.delete(wild[0], 2).mean()
    assert change - found.shift[0] == pytest.approx(fit[1])
    assert found.degrees[0] == 9


def test_a_clear_trend_is_sure_and_noise_is_not():
    random = np.random.default_rng(4)
    noise = random.normal(0, 0.01, (2_000, 2, 10))
    assert trend(noise[:, 0], noise[:, 1]).sure.mean() < 0.016
    drift = noise + np.arange(10) * 0.02
    assert trend(drift[:, 0], drift[:, 1]).sure.all()


def test_sides_that_part_are_seen_and_common_trends_and_noise_are_not():
    random = np.random.default_rng(5)
    noise = random.normal(0, 0.001, (2_000, 2, 10))
    slope = np.arange(10) * 0.002
    assert (parting(noise[:, 0], noise[:, 1]) > 0).mean() < 0.006
    assert (parting(noise[:, 0] + slope, noise[:, 1] + slope) > 0).mean() < 0.006
    # middles agree; after 4.5 steps of 0.2 % each way the ends differ by 1.8 %
    apart = parting(noise[:, 0] + slope, noise[:, 1] - slope)
    assert apart == pytest.approx(np.full(2_000, 0.018), abs=0.003)


def test_three_runs_a_side_can_part():
    up = np.array([[0.0, 0.1, 0.2001]])
    assert parting(up, -up) == pytest.approx(0.2, abs=0.001)


def test_few_runs_do_not_part():
    assert not parting(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0, 2.0]])).any()
