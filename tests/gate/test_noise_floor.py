"""The noise floor: the scatter of runs, how sure it is, and what threshold it allows."""

from __future__ import annotations

from math import expm1, sqrt

import numpy as np
import pytest
from scipy import stats

from perfkit.errors import UsageError
from perfkit.gate import Policy, Rule, Status, compare
from perfkit.gate.evidence import collect
from perfkit.gate.noise_floor import FEWEST, NoiseFloor, floors, refuse_below_floor
from tests.gate.runs import runs


def series(values, **fields):
    found, _ = collect(runs(values, **fields))
    return next(iter(found.values()))


def one(values, **fields):
    (found,) = floors([series(values, **fields)])
    return found


def test_fewer_than_four_runs_have_none():
    assert floors([series([1.0] * n) for n in range(1, FEWEST)]) == [None] * (FEWEST - 1)
    assert one([1.0, 1.1, 1.0, 1.1]) is not None


def test_the_scatter_is_that_of_both_halves():
    values = [1.00, 1.03, 1.01, 1.02, 0.99, 1.04]
    logs = np.log(values)
    halves = [logs[0::2], logs[1::2]]
    squares = sum(((half - half.mean()) ** 2).sum() for half in halves)
    scatter = sqrt(squares / 4)
    found = one(values)
    assert found.relative == pytest.approx(expm1(scatter))
    assert found.runs == 5
    low, high = (scatter * sqrt(4 / stats.chi2.ppf(p, 4)) for p in (0.975, 0.025))
    assert found.interval == pytest.approx((expm1(low), expm1(high)))
    half = stats.t.ppf(0.99, 10) * scatter * sqrt(2 / 6)
    assert found.floor == pytest.approx(expm1(half))
    assert found.noise.relative == found.relative


def test_rates_have_the_floor_of_their_times():
    values = [1.00, 1.03, 1.01, 1.02, 0.99, 1.04]
    rates = one([1 / value for value in values], higher_is_better=True)
    assert rates.floor == pytest.approx(one(values).floor)


def test_the_interval_holds_the_true_scatter():
    random = np.random.default_rng(7)
    found = floors([series(np.exp(random.normal(0, 0.01, 10))) for _ in range(2_000)])
    inside = np.mean([f.interval[0] <= expm1(0.01) <= f.interval[1] for f in found])
    assert 0.93 <= inside <= 0.97


def test_unchanged_code_stays_under_the_floor():
    """As many runs on each side: the change exceeds the floor in about 1 % on each side."""
    random = np.random.default_rng(8)
    beyond = 0
    for _ in range(1_000):
        before, after = np.exp(random.normal(0, 0.01, (2, 10)))
        floor = one(before).floor
        beyond += abs(np.log(after).mean() - np.log(before).mean()) > np.log1p(floor)
    assert beyond <= 45  # 2 % expected, and a few more as the scatter is that of ten runs only


def test_what_is_odd_is_said():
    assert "two groups" in one([1, 1.1] * 2 + [1.1, 1] * 4).notes[0]
    assert "drift" in one(list(np.linspace(1, 1.2, 12))).notes[0]
    assert "stand apart" in one([1, 1.001, 1.002, 1, 1.001, 1.5, 1.002, 1.001, 1, 1.001]).notes[0]


@pytest.mark.parametrize("values", [[1.0] * 8, [1e-30, 1e30] * 4, [1.0] * 7 + [1e9]])
def test_every_floor_is_a_number(values):
    found = one(values)
    numbers = (found.relative, found.floor, *found.interval)
    assert all(0 <= number < float("inf") for number in numbers)


FLOOR = NoiseFloor(relative=0.02, interval=(0.01, 0.05), runs=9, floor=0.031)
FLOORS = {("axpy", "time"): FLOOR, ("gemm", "time"): NoiseFloor(
    relative=0.001, interval=(0.0005, 0.002), runs=9, floor=0.0015,
)}  # fmt: skip


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(threshold=0.04),
        Policy(threshold=0.01, rules=(Rule(benchmark="axpy", threshold=0.05),)),
    ],
)
def test_a_threshold_over_the_floor_is_fine(policy):
    refuse_below_floor(FLOORS, policy)


@pytest.mark.parametrize(
    "policy", [Policy(threshold=0.01), Policy(rules=(Rule(benchmark="axpy", threshold=0.01),))]
)
def test_a_threshold_under_the_floor_is_refused_with_the_figure(policy):
    with pytest.raises(UsageError, match=r"threshold of 1% is under .* axpy, 3\.1%") as caught:
        refuse_below_floor(FLOORS, policy)
    assert "above 3.1%" in caught.value.hint


def test_several_are_counted():
    with pytest.raises(UsageError, match="of 1 more"):
        refuse_below_floor(FLOORS, Policy(threshold=0.001))


def test_the_noise_of_a_baseline_decides_single_runs():
    """Two runs of a candidate are few; with the noise of the baseline they are enough."""
    before = [1.0, 1.002, 0.999, 1.001, 1.0, 0.998, 1.001, 1.0]
    found = one(before)
    verdicts = compare(runs(before), runs([1.1, 1.101]), noise={("k", "time"): found.noise})
    assert [v.status for v in verdicts] == [Status.FAIL]
    assert [v.status for v in compare(runs(before), runs([1.1, 1.101]))] == [Status.INCONCLUSIVE]
