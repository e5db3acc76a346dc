"""Few runs and a noise that is known, and one run a side where the noise is assumed."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, log1p, sqrt

import numpy as np
import pytest
from scipy import stats

from perfkit.gate import Noise, Policy, Reason, Status, compare
from perfkit.readers.results import Run, Unit
from tests.gate.runs import runs

Z = stats.norm.isf(0.01)


def lone(value, spread=None, **fields):
    return [Run(benchmark="k", values=(value,), unit=Unit.SECONDS, spread=spread, **fields)]


def one(baseline, candidate, policy=None, noise=None):
    (verdict,) = compare(baseline, candidate, policy, noise)
    return verdict


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 1), (3, 4)])
def test_stated_noise_gives_the_normal_interval(m, n):
    before, after = [1e-3, 1.002e-3, 0.998e-3][:m], [1.05e-3, 1.051e-3, 1.049e-3, 1.05e-3][:n]
    verdict = one(runs(before), runs(after), Policy(noise=0.01))
    change = np.log(after).mean() - np.log(before).mean()
    half = Z * log1p(0.01) * sqrt(1 / m + 1 / n)
    assert verdict.interval == pytest.approx((exp(change - half), exp(change + half)))
    assert verdict.evidence == "stated noise"
    assert "noise stated as 1%" in verdict.message


def test_an_a_a_comparison_has_its_degrees_of_freedom():
    known = {("k", "time"): Noise(relative=0.01, runs=10)}
    verdict = one(lone(1e-3), lone(1.05e-3), noise=known)
    half = stats.t.isf(0.01, 9) * log1p(0.01) * sqrt(2)
    assert verdict.interval == pytest.approx((1.05 * exp(-half), 1.05 * exp(half)))
    assert "noise 1% of the A/A comparison" in verdict.message


def test_runs_add_their_scatter_to_that_of_the_a_a_comparison():
    known = {("k", "time"): Noise(relative=0.01, runs=10)}
    before, after = [1e-3, 1.02e-3], [1.05e-3, 1.07e-3]
    squares = sum(2 * np.var(np.log(side)) for side in (before, after))
    scatter = sqrt((9 * log1p(0.01) ** 2 + squares) / 11)
    half = stats.t.isf(0.01, 11) * scatter
    change = np.mean(np.log(after)) - np.mean(np.log(before))
    verdict = one(runs(before), runs(after), noise=known)
    assert verdict.interval == pytest.approx((exp(change - half), exp(change + half)))


def test_runs_that_contradict_the_stated_noise_overrule_it():
    before, after = [1e-3, 1.1e-3, 0.95e-3], [1.2e-3, 1.3e-3, 1.1e-3]
    verdict = one(runs(before), runs(after), Policy(noise=0.001))
    assert verdict.reason is Reason.TOO_FEW_RUNS
    assert "runs scatter more than the noise of 0.1% allows" in verdict.notes


@pytest.mark.parametrize(("share", "overruled"), [(0.98, False), (1.02, True)])
def test_a_stated_noise_that_is_right_is_overruled_once_in_a_hundred_times(share, overruled):
    """Three runs a side, four degrees of freedom."""
    size = sqrt(share * stats.chi2.isf(0.01, 4) / 4) * log1p(0.01)
    side = [1e-3 * exp(x) for x in (-size, 0.0, size)]
    verdict = one(runs(side), runs(side), Policy(noise=0.01))
    assert any("runs scatter more" in note for note in verdict.notes) is overruled


def test_enough_runs_speak_for_themselves():
    before = [1e-3, 1.001e-3, 0.999e-3, 1.0005e-3, 0.9995e-3]
    stated = one(runs(before), runs(before), Policy(noise=0.1))
    assert stated.evidence == "runs"
    assert stated.status is Status.PASS


def test_a_lone_run_is_decided_only_where_the_policy_assumes():
    before, after = lone(1e-3, 0.02), lone(1.06e-3, 0.02)
    assert one(before, after).reason is Reason.SINGLE_RUN
    verdict = one(before, after, Policy(single_run="assume"))
    half = Z * 0.01 * sqrt(2)  # half of the spread on each side
    assert verdict.interval == pytest.approx((1.06 * exp(-half), 1.06 * exp(half)))
    assert verdict.status is Status.FAIL
    assert "assuming that runs repeat within 1%" in verdict.message


def test_three_runs_are_better_known_than_the_lone_one_beside_them():
    """Each side has the noise of its own samples."""
    several = [run for value in (1e-3, 1.0001e-3, 0.9999e-3) for run in lone(value, 0.06)]
    several = [replace(run, run=str(i)) for i, run in enumerate(several)]
    verdict = one(several, lone(1.2e-3, 0.02), Policy(single_run="assume"))
    half = Z * sqrt(0.03**2 / 3 + 0.01**2)
    low, high = verdict.interval
    assert log(high / low) / 2 == pytest.approx(half)


def test_the_assumed_noise_is_never_less_than_the_minimum():
    verdict = one(lone(1e-3, 0.0), lone(1e-3), Policy(single_run="assume", minimum_noise=0.01))
    half = Z * 0.01 * sqrt(2)
    assert verdict.interval == pytest.approx((exp(-half), exp(half)))


def test_the_spread_of_samples_is_taken_where_the_file_has_them():
    random = np.random.default_rng(1)
    samples = tuple(1e-3 * np.exp(random.normal(0, 0.1, 4000)))
    found = [replace(run, values=samples) for run in lone(1.0)]
    verdict = one(found, found, Policy(single_run="assume"))
    assert log(verdict.interval[1]) == pytest.approx(Z * 0.05 * sqrt(2), rel=0.05)


def test_the_risk_is_the_stated_one_where_the_noise_is():
    """Two runs a side at a stated noise: 4,000 comparisons of unchanged code."""
    random = np.random.default_rng(2)
    times = 1e-3 * np.exp(random.normal(0, 0.05, (4_000, 2, 2)))
    policy = Policy(noise=0.05, threshold=0.0, absolute_floor=0)
    found = [one(runs(a), runs(b), policy).status for a, b in times]
    assert sum(status is Status.FAIL for status in found) / len(found) == pytest.approx(
        0.01, abs=5e-3
    )
