"""The risk of many looks: how it is shared out, and that it holds."""

from __future__ import annotations

import pytest

from perfkit.gate import Policy
from perfkit.gate.looks import least_p, looks
from perfkit.gate.ranks import RANK_SHARE, least_rank_sum_p
from tests.bench.gate_looks import of_h200, rates
from tests.bench.gate_series import KINDS

TRIALS = 600
#: what so many trials at a true 1 % exceed once in a thousand times
MOST = 0.01 + 3.1 * (0.01 * 0.99 / TRIALS) ** 0.5
#: nothing but the risk stands between noise and FAIL; the default limits are further away
HARD = Policy(threshold=0.0)


def by_pairs(n):
    return least_p(n, None)


@pytest.mark.parametrize("risk", [0.05, 0.01, 0.001])
@pytest.mark.parametrize("stored", [None, 3, 5, 10])
@pytest.mark.parametrize("most", [5, 6, 7, 8, 9, 12, 13, 30, 100])
def test_the_shares_never_add_up_to_more_than_the_risk(risk, stored, most):
    def least(n):
        return least_p(n, stored)

    found = looks(risk, most, least)
    assert sum(found.shares.values()) <= risk * (1 + 1e-12)
    assert all(2 <= n <= most for n in found.shares)
    assert all(least(n) <= RANK_SHARE * share for n, share in found.shares.items())
    if found.shares:
        assert sum(found.shares.values()) == pytest.approx(risk)


def test_runs_that_can_never_decide_have_no_look():
    assert looks(0.01, 4, by_pairs).shares == {}
    assert looks(0.01, 100, lambda n: least_p(n, 1)).shares == {}


def test_the_second_look_is_at_half_as_many_runs_again_rounded_up():
    assert sorted(looks(0.001, 100, by_pairs).shares)[:2] == [13, 20]


def test_five_pairs_are_one_look_at_the_whole_risk():
    assert looks(0.01, 5, by_pairs).shares == {5: 0.01}


def test_what_is_unspent_is_left_for_a_budget_that_ends():
    found = looks(0.01, 30, by_pairs)
    assert found.unspent(5) == found.unspent(6) == 0.01
    assert found.unspent(7) == pytest.approx(0.0075)
    assert found.unspent(12) == pytest.approx(0.005)
    assert found.unspent(30) == pytest.approx(found.shares[30])


def test_pairs_are_ranked_as_the_gate_ranks_them():
    assert [by_pairs(n) for n in (2, 6, 7, 10)] == [
        least_rank_sum_p(2, 2), least_rank_sum_p(6, 6), 0.5**7, 0.5**10,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_unchanged_code_seldom_fails_at_any_look(kind):
    assert rates(kind, TRIALS, policy=HARD).fail <= MOST


def test_unchanged_kernels_of_an_h200_seldom_fail_at_any_look():
    for kind in of_h200():
        assert rates(kind, TRIALS).fail <= MOST
        assert rates(kind, TRIALS, stored=10).fail <= MOST


@pytest.mark.parametrize("kind", KINDS[2:13], ids=lambda kind: kind.name)
def test_unchanged_code_seldom_fails_against_a_recorded_baseline(kind):
    assert rates(kind, TRIALS, stored=10, policy=HARD).fail <= MOST


@pytest.mark.parametrize("kind", KINDS[:3], ids=lambda kind: kind.name)
def test_five_percent_are_seen_and_soon(kind):
    found = rates(kind, TRIALS, 0.05)
    assert found.fail >= 0.985
    assert found.pairs <= 9


def test_peeking_at_the_whole_risk_would_cry_wolf():
    """What the shares are for: the same looks at 1 % each."""
    peeking = rates(KINDS[4], TRIALS, policy=HARD, corrected=False)
    assert peeking.fail > 0.02
