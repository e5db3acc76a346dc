"""Slow runs on one side only: no accidents, so no PASS without them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from perfkit.gate import Reason, Status, compare
from perfkit.gate.lopsided import _fisher
from tests.bench.gate_calibration import DEFAULT, shares
from tests.bench.gate_series import outlying_runs
from tests.gate.runs import pairs, runs

CALM = [1e-3 * (1 + 0.003 * x) for x in (0, 0.6, -0.7, 1.1, -1.2, 0.3, -0.2, 0.9, -0.8, 0.1)]
SLOW = [1.5 * t if index in {2, 7} else t for index, t in enumerate(CALM)]


@pytest.mark.parametrize("make", [runs, pairs])
def test_a_fifth_of_the_candidate_s_runs_half_slower_is_no_pass(make):
    (verdict,) = compare(make(CALM), make(SLOW))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.MORE_OUTLIERS)
    assert "2 runs of the candidate and 0 of the baseline" in verdict.message
    assert "accidents even out" in verdict.next_step


def test_nor_are_fast_runs_of_the_baseline_that_are_gone():
    fast = [t / 1.5 if index in {2, 7} else t for index, t in enumerate(CALM)]
    (verdict,) = compare(runs(fast), runs(CALM))
    assert verdict.reason is Reason.MORE_OUTLIERS


def test_what_both_sides_have_and_what_the_candidate_is_rid_of_passes():
    for before, after in ((SLOW, SLOW[::-1]), (SLOW, CALM)):
        (verdict,) = compare(runs(before), runs(after))
        assert verdict.status is Status.PASS


def test_runs_apart_that_add_less_than_the_limit_pass():
    """Two of ten by 5 %: 1 % on average."""
    slow = [1.05 * t if index in {2, 7} else t for index, t in enumerate(CALM)]
    (verdict,) = compare(runs(CALM), runs(slow))
    assert verdict.status is Status.PASS


def test_of_rates_the_low_ones_are_worse():
    high = [1 / t for t in CALM]
    low = [1 / t for t in SLOW]
    fields = {"higher_is_better": True}
    assert compare(runs(high, **fields), runs(low, **fields))[0].reason is Reason.MORE_OUTLIERS
    assert compare(runs(low, **fields), runs(high, **fields))[0].status is Status.PASS


@pytest.mark.parametrize(
    ("here", "there", "m", "n"), [(6, 0, 30, 30), (3, 1, 15, 20), (0, 2, 9, 5)]
)
def test_the_numbers_are_compared_by_fisher_s_exact_test(here, there, m, n):
    table = [[here, there], [m - here, n - there]]
    assert _fisher(here, there, m, n) == pytest.approx(
        stats.fisher_exact(table, alternative="greater").pvalue
    )


@pytest.mark.parametrize(("n", "most"), [(10, 0.43), (15, 0.45), (30, 0.16)])
@pytest.mark.parametrize("paired", [False, True])
def test_slow_runs_by_chance_seldom_pass_and_accidents_do(n, most, paired):
    """One run of five half slower; binomially 38, 40 and 12 % have too few slow ones to tell."""
    random = np.random.default_rng(n)
    levels = random.normal(0, 0.003, (2_000, 2, n))
    levels[:, 1] += (random.random((2_000, n)) < 0.2) * np.log(1.5)
    found = shares([np.exp(levels)[..., None]], DEFAULT, paired=paired)
    assert found[Status.PASS] < most
    same = outlying_runs(0.003, 0.05)(random, (2_000, 2, n))
    found = shares([np.exp(same)[..., None]], DEFAULT, paired=paired)
    assert found[Status.PASS] > 0.97 - 0.012  # three standard errors
    assert found[Status.FAIL] == 0
