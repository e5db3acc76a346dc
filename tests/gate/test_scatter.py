"""Estimates against scipy's t tests, on runs without outliers."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import stats

from perfkit.gate.change import quantile, tail
from perfkit.gate.scatter import from_runs


def sides(m, n, count=20, seed=1):
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, (count, m)) * 0.02, 0.03 + random.uniform(-1, 1, (count, n)) * 0.02


def alike(a, b):
    """Whether one variance is taken for both; they have as many runs."""
    ratio = max(a.var() / b.var(), b.var() / a.var())
    return bool(ratio <= stats.f.ppf(0.95, len(a) - 1, len(b) - 1))


@pytest.mark.parametrize("n", [5, 8, 15])
def test_two_samples_are_student_s_interval(n):
    before, after = sides(n, n)
    seen = set()
    for one, a, b in zip(from_runs(before, after, paired=False), before, after, strict=True):
        expected = stats.ttest_ind(b, a, equal_var=alike(a, b))
        low, high = expected.confidence_interval(0.98)
        half = quantile(0.01, one.degrees) * one.error
        assert (one.change - half, one.change + half) == pytest.approx((low, high))
        assert one.degrees == pytest.approx(expected.df)
        seen.add(alike(a, b))
        theirs = stats.ttest_ind(b - 0.01, a, alternative="greater", equal_var=alike(a, b)).pvalue
        assert one.p_beyond(0.01) == pytest.approx(theirs, rel=1e-6)
    assert True in seen


def test_unequal_numbers_of_runs_never_give_less_than_welch():
    before, after = sides(5, 12)
    after[:] *= 3
    for one, a, b in zip(from_runs(before, after, paired=False), before, after, strict=True):
        welch = np.sqrt(a.var(ddof=1) / 5 + b.var(ddof=1) / 12)
        pooled = np.sqrt((a.var(ddof=1) * 4 + b.var(ddof=1) * 11) / 15 * (1 / 5 + 1 / 12))
        assert one.error == pytest.approx(max(welch, pooled))
        assert one.outliers == ((), ())


def test_pairs_that_share_their_noise_are_student_s_paired_interval():
    random = np.random.default_rng(2)
    shared = random.uniform(-1, 1, (20, 8)) * 0.2
    before, after = sides(8, 8)
    before, after = before + shared, after + shared
    for one, a, b in zip(from_runs(before, after, paired=True), before, after, strict=True):
        low, _ = stats.ttest_rel(b, a).confidence_interval(0.99)
        assert one.change - quantile(0.01 / one.tails, one.degrees) * one.error == pytest.approx(
            low
        )
        assert one.degrees == 7


def test_pairs_that_share_nothing_take_the_narrower_of_both_intervals():
    before, after = sides(6, 6, count=200)
    found = from_runs(before, after, paired=True)
    degrees = {one.degrees for one in found}
    assert {5.0, 10.0} <= degrees
    assert all(5 <= one <= 10 for one in degrees)  # those between: the sides scatter unequally
    for one, a, b in zip(found, before, after, strict=True):
        tests = (stats.ttest_ind(b, a, equal_var=alike(a, b)), stats.ttest_rel(b, a))
        lows = [test.confidence_interval(0.99).low for test in tests]
        assert one.change - quantile(0.005, one.degrees) * one.error == pytest.approx(max(lows))


def test_a_slow_run_is_left_out_of_the_interval_and_spared_by_the_rank_test():
    calm = np.linspace(-0.01, 0.01, 8)
    wild = calm.copy()
    wild[3] = 0.4
    (one,) = from_runs(wild[None], calm[None] + 0.05, paired=False)
    (without,) = from_runs(np.delete(wild, 3)[None], calm[None] + 0.05, paired=False)
    assert one.outliers == ((3,), ())
    assert (one.change, one.degrees) == pytest.approx((without.change, 13))
    assert one.unshifted_degrees == 12
    # of all orders of 16 runs two have the other 15 apart, with the slow one on either side
    assert one.ranks_p == pytest.approx(2 / comb(16, 8))


def test_a_slow_run_of_the_candidate_alone_is_ranked_as_it_stands():
    calm = np.linspace(-0.01, 0.01, 8)
    wild = calm + 0.05
    wild[3] = 0.4
    (one,) = from_runs(calm[None], wild[None], paired=False)
    assert one.outliers == ((), (3,))
    assert one.ranks_p == pytest.approx(1 / comb(16, 8))


def test_a_slow_run_below_those_of_a_slower_candidate_is_left_out_and_ranked():
    calm = np.linspace(-0.001, 0.001, 5)
    mixed = np.array([*calm[:4], 0.1])
    (one,) = from_runs(mixed[None], calm[None] + 0.2, paired=False)
    assert one.outliers == ((4,), ())
    assert one.ranks_p == pytest.approx(1 / 252)


@pytest.mark.parametrize("n", [7, 10])
def test_pairs_with_a_slow_run_can_still_be_told_apart(n):
    """The signed ranks of the other pairs, or the ranks of the runs at a fourth of the risk."""
    calm = np.linspace(-0.01, 0.01, n)
    wild = calm.copy()
    wild[3] = 0.4
    (one,) = from_runs(wild[None], calm[None] + 0.05, paired=True)
    assert one.ranks_p == pytest.approx(min(0.5 ** (n - 1), 4 * 2 / comb(2 * n, n)))
    assert one.ranks_p < 0.008


def test_identical_runs_have_the_scatter_of_rounding_and_no_less():
    (one,) = from_runs(np.zeros((1, 5)), np.zeros((1, 5)), paired=False)
    assert one.scatter == pytest.approx(1e-4)
    assert one.change == 0


def test_tails_and_quantiles_are_student_s():
    assert tail(2.0, 1.0, 7.0) == pytest.approx(stats.t.sf(2, 7))
    assert tail(2.0, 1.0, float("inf")) == pytest.approx(stats.norm.sf(2))
    assert quantile(0.01, 7.0) == pytest.approx(stats.t.isf(0.01, 7))
    assert quantile(0.01, float("inf")) == pytest.approx(stats.norm.isf(0.01))


@pytest.mark.parametrize(("m", "n"), [(5, 5), (6, 9)])
def test_sides_that_scatter_unequally_have_welch_s_degrees_of_freedom(m, n):
    calm = 0.001 * np.linspace(-1, 1, m)
    wild = 0.05 * np.linspace(-1, 1, n)
    expected = stats.ttest_ind(wild, calm, equal_var=False)
    (found,) = from_runs(calm[None], wild[None], paired=False)
    assert found.degrees == pytest.approx(expected.df)
    (found,) = from_runs(wild[None], calm[None], paired=False)
    assert found.degrees == pytest.approx(expected.df)
