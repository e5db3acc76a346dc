"""Exact rank tests against scipy's, and against counting every order."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from perfkit.gate.ranks import least_rank_sum_p, rank_sum_p, signed_rank_p


@pytest.mark.parametrize(("m", "n"), [(2, 3), (5, 5), (4, 7), (15, 15), (7, 12)])
def test_rank_sum_equals_scipy(m, n):
    random = np.random.default_rng(m * 100 + n)
    before, after = random.normal(size=(50, m)), random.normal(0.5, size=(50, n))
    theirs = stats.mannwhitneyu(after, before, alternative="greater", method="exact", axis=1)
    assert rank_sum_p(before, after) == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("n", [5, 7, 10, 15])
def test_signed_rank_equals_scipy(n):
    difference = np.random.default_rng(n).normal(0.3, size=(50, n))
    theirs = stats.wilcoxon(difference, alternative="greater", method="exact", axis=1)
    assert signed_rank_p(difference) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_rank_sum_counts_every_order():
    """Of all ways to choose which 3 of 7 ranks are the candidate's, p is the share as high."""
    everything = range(7)
    sums = [sum(chosen) for chosen in combinations(everything, 3)]
    for chosen in combinations(everything, 3):
        rest = [rank for rank in everything if rank not in chosen]
        p = rank_sum_p(np.array([rest], float), np.array([chosen], float))[0]
        assert p == pytest.approx(np.mean([s >= sum(chosen) for s in sums]))


@pytest.mark.parametrize(("m", "n", "here"), [(4, 5, 1), (5, 5, 0), (5, 4, 2)])
def test_runs_that_are_spared_may_be_anybody_s(m, n, here):
    """Two slow runs among m + n, ``here`` of them the baseline's: p counts every order."""
    slow = {m + n - 2, m + n - 1}

    def wrong(chosen):
        theirs = [rank for rank in range(m + n) if rank not in chosen]
        return sum(a > b for a in theirs if a not in slow for b in chosen if b not in slow)

    every = [wrong(set(chosen)) for chosen in combinations(range(m + n), n)]
    for chosen in combinations(range(m + n), n):
        mine = [rank for rank in range(m + n) if rank not in chosen]
        if len(slow & set(mine)) == here:
            sides = np.array([mine], float), np.array([chosen], float)
            p = rank_sum_p(*sides, tuple(np.isin(side, [*slow]) for side in sides))[0]
            assert p == pytest.approx(np.mean([w <= wrong(set(chosen)) for w in every]))


def test_pairs_that_are_spared_do_not_count():
    difference = np.array([[0.1, -5.0, 0.2, 0.3, -0.05, 0.4, 0.5, 0.6]])
    spared = np.abs(difference) > 1
    assert signed_rank_p(difference, spared) == signed_rank_p(np.delete(difference, 1, axis=1))
    both = np.repeat(difference, 2, axis=0)
    found = signed_rank_p(both, np.array([spared[0], spared[0] & False]))
    assert found == pytest.approx(
        [signed_rank_p(difference, spared)[0], signed_rank_p(difference)[0]]
    )


def test_signed_rank_counts_every_sign():
    totals = [sum(r for r, s in zip(range(1, 6), signs, strict=True) if s) for signs in
              product((False, True), repeat=5)]  # fmt: skip
    for signs in product((-1, 1), repeat=5):
        difference = np.array(
            [[sign * rank for sign, rank in zip(signs, range(1, 6), strict=True)]]
        )
        low = -difference[difference < 0].sum()
        expected = np.mean([total <= low for total in totals])
        assert signed_rank_p(difference)[0] == pytest.approx(expected)


def test_large_samples_come_close_to_the_exact_answer():
    random = np.random.default_rng(1)
    before, after = random.normal(size=(20, 40)), random.normal(0.3, size=(20, 40))
    exact = stats.mannwhitneyu(after, before, alternative="greater", method="exact", axis=1).pvalue
    assert rank_sum_p(before, after) == pytest.approx(exact, rel=0.1, abs=1e-4)
    difference = random.normal(0.2, size=(20, 70))
    theirs = stats.wilcoxon(
        difference, alternative="greater", method="approx", correction=True, axis=1
    )
    assert signed_rank_p(difference) == pytest.approx(theirs.pvalue, rel=1e-6)


def test_ties_and_zeros_count_against():
    same = np.ones((1, 6))
    assert rank_sum_p(same, same)[0] > 0.5
    assert signed_rank_p(np.zeros((1, 8)))[0] == 1
    one_tie = np.array([[1.0, 2, 3, 4, 5]]), np.array([[5.0, 6, 7, 8, 9]])
    assert rank_sum_p(*one_tie)[0] == pytest.approx(2 / 252)  # as with one pair in the wrong order


def test_the_least_p_is_what_full_separation_gives():
    for m, n in ((2, 2), (5, 5), (3, 9)):
        p = rank_sum_p(np.arange(m)[None] * 1.0, 100.0 + np.arange(n)[None])
        assert p[0] == pytest.approx(least_rank_sum_p(m, n))
