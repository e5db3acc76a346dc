"""Changes in series of commits: found where they are, and not found where there are none."""

from __future__ import annotations

import time
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from scipy import stats

from perfkit.gate.changepoint import RISK, _costs, _p_values, changes
from perfkit.gate.ranks import (
    least_rank_sum_p,
    least_rank_sum_ps,
    rank_sum_p,
    rank_sum_tail,
    rank_sum_tails,
)
from tests.bench.gate_series import KINDS

TRIALS = 300
#: what so many trials at a true 1 % exceed once in a thousand times
MOST = 0.01 + 3.1 * (0.01 * 0.99 / TRIALS) ** 0.5
#: noise from commit to commit; a cold first run and drift are of runs inside one
STEADY = [kind for kind in KINDS if not kind.name.startswith(("cold", "drift", "pairs"))]


def series(kind, n, trials=TRIALS):
    random = np.random.default_rng([n, *kind.name.encode()])
    return np.exp(kind.levels(random, (trials, 1, n))[:, 0])


@pytest.mark.parametrize("kind", STEADY, ids=lambda kind: kind.name)
@pytest.mark.parametrize("n", [14, 20, 40])
def test_stable_series_seldom_have_a_change(kind, n):
    found = [bool(changes(values).changes) for values in series(kind, n)]
    assert np.mean(found) <= MOST


@pytest.mark.parametrize(
    ("n", "at"), [(14, 7), (20, 10), (20, 15), (30, 5), (30, 15), (30, 25), (60, 20), (60, 56)]
)
def test_five_percent_at_one_percent_noise_are_put_at_their_commit(n, at):
    random = np.random.default_rng([n, at])
    near = 0
    for _ in range(300):
        logs = random.normal(0, 0.01, n)
        logs[at:] += np.log(1.05)
        near += any(abs(one.at - at) <= 1 for one in changes(np.exp(logs)).changes)
    assert near >= 297


def test_a_change_that_is_taken_back_is_two():
    random = np.random.default_rng(1)
    logs = random.normal(0, 0.01, 60)
    logs[20:35] += np.log(1.08)
    first, second = changes(np.exp(logs)).changes
    assert (first.at, second.at) == (20, 35)
    assert first.ratio == pytest.approx(1.08, rel=0.01)
    assert second.ratio == pytest.approx(1 / 1.08, rel=0.01)
    assert first.earliest <= 20 <= first.latest


def test_one_or_two_bad_nights_are_no_change():
    values = np.exp(np.random.default_rng(2).normal(0, 0.01, 40))
    values[[13, 39]] *= 3
    assert changes(values).changes == ()


def test_small_changes_are_left_out_if_they_are_not_worth_a_word():
    logs = np.random.default_rng(3).normal(0, 0.001, 40)
    logs[20:] += np.log(1.004)
    assert [one.at for one in changes(np.exp(logs)).changes] == [20]
    assert changes(np.exp(logs), least=0.005).changes == ()


def test_the_noise_is_that_between_the_changes():
    logs = np.random.default_rng(4).normal(0, 0.01, 200)
    logs[100:] += 1.0
    assert changes(np.exp(logs)).noise == pytest.approx(0.01, rel=0.2)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 11])
def test_short_series_say_that_they_are_short(n):
    found = changes([1.0 + 0.1 * i for i in range(n)])
    assert not found.enough
    assert found.changes == ()


def test_the_fewest_commits_are_those_that_the_ranks_can_tell():
    """Twelve, cut in the middle: one cut that could reach three quarters of the risk."""
    fewest = next(n for n in range(2, 40) if changes([1.0] * n).enough)
    assert fewest == 12
    assert 2 / comb(12, 6) <= 0.75 * RISK < 2 / comb(11, 5)


@pytest.mark.parametrize("values", [[1.0] * 50, [1e-300, 1e300] * 20, list(range(1, 60))])
def test_any_positive_numbers_give_figures(values):
    found = changes(values)
    assert np.isfinite(found.noise)
    assert all(np.isfinite(one.ratio) and 0 < one.risk <= RISK for one in found.changes)
    assert all(a.at < b.at for a, b in pairwise(found.changes))


def test_constant_numbers_have_no_change():
    assert changes([3.0] * 50).changes == ()


@pytest.mark.parametrize(("m", "n"), [(1, 9), (4, 4), (6, 20), (15, 15)])
def test_a_single_tail_is_that_of_the_table(m, n):
    random = np.random.default_rng([m, n])
    for _ in range(20):
        before, after = random.normal(size=(1, m)), random.normal(size=(1, n))
        wrong = (after[0][:, None] < before[0]).sum()
        assert rank_sum_tail(m, n, wrong) == pytest.approx(rank_sum_p(before, after)[0])


@pytest.mark.parametrize(("m", "n"), [(20, 20), (10, 40), (7, 60)])
def test_the_approximation_is_on_the_safe_side_in_the_tail(m, n):
    from perfkit.gate.ranks import _rank_sum_table

    table = _rank_sum_table(m, n)
    for wrong, exact in enumerate(table):
        if exact > 1e-3:
            break
        assert rank_sum_tail(m, n, wrong) >= exact
    assert rank_sum_tail(m, n, 0) >= least_rank_sum_p(m, n)


@pytest.mark.parametrize("n", [2, 3, 8, 31, 200])
def test_the_tails_of_all_cuts_are_those_of_each(n):
    m = np.arange(1, n)
    for share in (0.0, 0.3, 0.5):
        wrong = np.floor(share * m * (n - m))
        each = [rank_sum_tail(int(k), n - int(k), float(w)) for k, w in zip(m, wrong, strict=True)]
        assert rank_sum_tails(wrong) == pytest.approx(each, rel=1e-9)
    least = [least_rank_sum_p(int(k), n - int(k)) for k in m]
    assert least_rank_sum_ps(n) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_deviations_from_the_medians_of_both_parts(ties):
    random = np.random.default_rng(5)
    logs = np.round(random.normal(size=50), 0 if ties else 9)

    def spread(part):
        return np.abs(part - np.median(part)).sum()

    expected = [spread(logs[:cut]) + spread(logs[cut:]) for cut in range(1, 50)]
    assert _costs(logs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_of_equal_numbers_are_their_mean(ties):
    random = np.random.default_rng(6)
    logs = np.round(random.normal(size=40), 0 if ties else 9)
    two_sided = [
        2 * min(stats.mannwhitneyu(logs[:k], logs[k:], alternative=side, method="asymptotic").pvalue
                for side in ("less", "greater"))
        for k in range(1, 40)
    ]  # fmt: skip
    # another approximation, of the same statistic: the order of the cuts is the same
    ours = _p_values(logs)
    assert np.abs(np.log(ours) - np.log(np.minimum(two_sided, 1))).max() < 0.5


def test_ten_thousand_commits_take_seconds():
    """Nightly runs of thirty years; every cut against its own table took minutes."""
    random = np.random.default_rng(7)
    values = np.exp(random.normal(0, 0.01, 10_000))
    values[7_000:] *= 1.05
    start = time.process_time()
    (change,) = changes(values.tolist()).changes
    assert abs(change.at - 7_000) <= 2
    assert time.process_time() - start < 10
