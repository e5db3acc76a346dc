"""Verdicts: laws, guards, the family, clocks and environments."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from scipy import stats

from perfkit.errors import UsageError
from perfkit.gate import Policy, Reason, Rule, Status, compare, outcome
from perfkit.readers.results import ResultFile, Unit
from tests.gate.runs import pairs, runs

CALM = (1.000e-3, 1.002e-3, 0.999e-3, 1.001e-3, 0.998e-3, 1.003e-3, 1.0005e-3)


def scaled(factor, values=CALM):
    return [factor * value for value in values]


def one(baseline, candidate, policy=None):
    (verdict,) = compare(baseline, candidate, policy)
    return verdict


def file(found, **environment):
    return ResultFile(kind="csv", origin="x.csv", runs=tuple(found), environment=environment)


def named(found):
    return [replace(run, run=str(index)) for index, run in enumerate(found)]


# -- the three answers ---------------------------------------------------------------------------


def test_a_clear_slow_down_fails_with_student_s_interval():
    verdict = one(runs(CALM), runs(scaled(1.06)))
    low, high = stats.ttest_ind(np.log(scaled(1.06)), np.log(CALM)).confidence_interval(0.98)
    assert (verdict.status, verdict.reason) == (Status.FAIL, Reason.WORSE)
    assert verdict.ratio == pytest.approx(1.06)
    assert verdict.interval == pytest.approx((exp(low), exp(high)))
    assert verdict.interval[0] > verdict.fails_beyond == pytest.approx(1.005)
    assert (verdict.baseline_runs, verdict.candidate_runs, verdict.paired) == (7, 7, False)
    assert verdict.next_step is None
    assert verdict.message == "6% slower (+5.7% to +6.3%): surely more than 0.5% slower"


def test_the_same_code_passes_and_a_faster_one_is_called_improved():
    assert one(runs(CALM), runs(CALM[::-1])).reason is Reason.WITHIN
    assert one(runs(CALM), runs(CALM)).message.startswith("no change (-")
    assert one(runs(CALM), runs(scaled(1.0002))).message.startswith("0.02% slower (-")
    faster = one(runs(CALM), runs(scaled(0.9)))
    assert (faster.status, faster.reason) == (Status.PASS, Reason.IMPROVED)
    assert "surely faster" in faster.message
    assert one(runs(CALM), runs(scaled(0.101))).reason is Reason.IMPROVED  # ten times is not more


def test_noise_is_inconclusive_and_says_how_many_runs_would_decide():
    wide = [exp(20 * log(value / 1e-3)) * 1e-3 for value in CALM]
    verdict = one(runs(wide), runs(scaled(1.05, wide)))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.TOO_NOISY)
    assert verdict.next_step.startswith("7 runs each; about ")
    more = int(verdict.next_step.split("about ")[1].split()[0])
    # the promise: with so many runs of the same scatter the interval reaches no limit any more
    scatter, n = verdict.noise, 7 + more
    half = stats.t.isf(0.01, 2 * n - 2) * scatter * (2 / n) ** 0.5
    assert log(1.05) - half > log(1.005) > log(1.05) - 1.25 * half


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_runs_that_could_never_fail_are_never_passed(count):
    verdict = one(runs(CALM[:count]), runs(CALM[:count]))
    expected = Reason.SINGLE_RUN if count == 1 else Reason.TOO_FEW_RUNS
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, expected)
    assert "5" in verdict.next_step
    assert (verdict.interval is None) == (count == 1)


def test_pairs_cancel_what_they_share():
    shared = np.array([1.0, 1.3, 0.8, 1.1, 0.95, 1.25, 0.7])
    before, after = CALM * shared, np.array(scaled(1.05)[::-1]) * shared
    assert one(runs(before), runs(after)).status is Status.INCONCLUSIVE
    verdict = one(pairs(before), pairs(after))
    assert (verdict.status, verdict.paired) == (Status.FAIL, True)
    # the order of the candidate's runs does not matter, their pair does
    assert one(pairs(before), pairs(after)[::-1]).interval == pytest.approx(verdict.interval)


def test_runs_outside_the_pairs_are_left_out_while_they_are_fewer():
    """Pairs 0 to 5 of seven; with half of the runs in pairs all of them count."""
    before, after = pairs(CALM), pairs(scaled(1.05))
    most = one([*before[:6], *runs(CALM[:5])], [*after[:6], *runs(CALM[:5])])
    assert (most.paired, most.baseline_runs, most.candidate_runs) == (True, 6, 6)
    noisy = [1e-3, 1.03e-3, 0.97e-3, 1.02e-3, 0.98e-3, 1.01e-3]
    told = one([*pairs(noisy), *runs(CALM[:5])], [*pairs(noisy[::-1]), *runs(CALM[:5])])
    assert told.next_step.startswith("6 pairs; ")
    half = one([*before[:6], *runs(CALM[:6])], [*after[:6], *runs(CALM[:6])])
    assert (half.paired, half.baseline_runs, half.candidate_runs) == (False, 12, 12)


def test_a_run_apart_is_named_by_its_pair_wherever_it_stands_in_its_file():
    before, after = pairs(CALM), pairs([*CALM[:6], 1.3e-3])
    for candidate in (after, after[::-1]):
        (note,) = (note for note in one(before, candidate).notes if "stands apart" in note)
        assert note.startswith("the run of pair 6 of the candidate stands apart (+30%)")


def test_a_pair_that_a_side_has_twice_is_none():
    before, after = pairs(CALM), pairs(scaled(1.05))
    again = replace(after[0], values=(1.0,))
    verdict = one(before, [*after, again])
    assert (verdict.paired, verdict.baseline_runs) == (True, 6)
    assert verdict.ratio == pytest.approx(1.05)


def test_a_floor_keeps_a_sure_small_change_from_failing():
    verdict = one(runs(CALM), runs(scaled(1.02)))
    assert verdict.reason is Reason.WITHIN  # surely more than 0.5 %, surely less than the floor
    assert one(runs(CALM), runs(scaled(1.02)), Policy(threshold=0.01)).status is Status.FAIL
    between = one(runs(CALM), runs(scaled(1.0299)))
    assert between.reason is Reason.BELOW_FLOOR
    tiny = [value * 1e-4 for value in CALM]  # 100 ns: the floor of 10 ns is 10 %
    assert one(runs(tiny), runs(scaled(1.06, tiny))).reason is Reason.WITHIN
    assert one(runs(tiny), runs(scaled(1.12, tiny))).status is Status.FAIL
    assert one(runs(tiny), runs(scaled(1.06, tiny)), Policy(absolute_floor=0)).status is Status.FAIL


def test_two_modes_are_said_and_do_not_fail():
    before = [22.5e-3, 25.5e-3, 22.52e-3, 25.49e-3, 22.48e-3]
    after = [25.5e-3, 25.52e-3, 22.51e-3, 25.48e-3, 22.5e-3]
    verdict = one(runs(before), runs(after))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.TWO_MODES)
    assert "two groups 13% apart" in verdict.message
    assert "find what chooses the group" in verdict.next_step


def test_a_drift_from_side_to_side_is_said_and_does_not_fail():
    jitter = [0.1e-6, -0.2e-6, 0.15e-6, -0.1e-6, 0.2e-6, -0.15e-6, 0.05e-6]
    drifting = [1e-3 + 10e-6 * i + 10 * jitter[i % 7] for i in range(14)]
    verdict = one(runs(drifting[:7]), runs(drifting[7:]))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.DRIFT)
    assert "pairs cancel what drifts" in verdict.next_step
    in_turn = one(pairs(drifting[0::2]), pairs(drifting[1::2]))
    assert in_turn.status is Status.PASS


def test_an_outlier_is_named():
    wild = [*CALM[:3], 1.4e-3, *CALM[4:]]
    verdict = one(runs(wild), runs(scaled(1.0)))
    assert verdict.status is Status.PASS
    assert any("run 4 of the baseline stands apart (+40%)" in note for note in verdict.notes)


def test_calm_samples_in_runs_that_differ_are_said():
    levels = [10e-6, 11.5e-6, 9.2e-6, 10.7e-6, 8.9e-6, 11e-6]
    found = [
        replace(run, values=tuple(run.values[0] * (1 + 0.001 * i) for i in range(-4, 5)))
        for run in runs(levels)
    ]
    verdict = one(found, found)
    assert any("more samples do not help, more runs do" in note for note in verdict.notes)


# -- laws ----------------------------------------------------------------------------------------


def series(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 12))
    sigma = 10 ** random.uniform(-3, -1)
    return [list(1e-3 * np.exp(random.normal(0, sigma, n))) for _ in range(2)]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("way", [runs, pairs])
def test_laws(seed, way):
    before, after = series(seed)
    verdict = one(way(before), way(after))
    swapped = one(way(after), way(before))
    assert swapped.ratio == pytest.approx(1 / verdict.ratio)
    assert swapped.interval == pytest.approx([1 / end for end in verdict.interval[::-1]])
    larger = one(way(scaled(1000, before)), way(scaled(1000, after)))
    assert (larger.status, larger.ratio) == (verdict.status, pytest.approx(verdict.ratio))
    rates = [[1 / value for value in values] for values in (before, after)]
    mirrored = one(*(way(values, unit=Unit.PER_SECOND) for values in rates))
    assert mirrored.interval == pytest.approx(verdict.interval)
    assert mirrored.status is verdict.status
    order = [Status.PASS, Status.INCONCLUSIVE, Status.FAIL]
    ranks = [
        order.index(one(way(before), way(scaled(factor, after))).status)
        for factor in (0.9, 0.97, 1.0, 1.02, 1.04, 1.08, 1.2, 1.6)
    ]
    assert ranks == sorted(ranks)


def test_an_answer_does_not_depend_on_the_other_benchmarks_unless_it_is_a_close_fail():
    random = np.random.default_rng(5)
    many = [
        (runs(1e-3 * np.exp(random.normal(0, 0.1, 8)), f"k{i}"),
         runs(1e-3 * np.exp(random.normal(0, 0.1, 8)), f"k{i}"))
        for i in range(60)
    ]  # fmt: skip
    together = compare([r for a, _ in many for r in a], [r for _, b in many for r in b])
    for (a, b), verdict in zip(many, together, strict=True):
        alone = one(a, b)
        assert verdict.ratio == alone.ratio
        if alone.status is not Status.FAIL:
            assert verdict.status is alone.status


def test_holm_s_steps_by_hand():
    """Three changes with p of 0.002, 0.004 and 0.02: at 1 % in all, Holm takes the first two."""
    base = np.array([-1.2, -0.6, 0.1, 0.5, 1.2, 0.3, -0.3])
    base = base - base.mean()
    error = base.std(ddof=1) * 0.05 * (2 / 7) ** 0.5

    def sides(p, name):
        shift = log(1.005) + stats.t.isf(p, 12) * error
        return (
            runs(1e-3 * np.exp(0.05 * base), name),
            runs(1e-3 * np.exp(0.05 * base[::-1] + shift), name),
        )

    in_turn = Policy(order="in_turn")
    found = [sides(p, f"p{p}") for p in (0.02, 0.0032, 0.0049)]
    verdicts = compare([r for a, _ in found for r in a], [r for _, b in found for r in b], in_turn)
    assert [v.reason for v in verdicts] == [Reason.TOO_NOISY, Reason.WORSE, Reason.WORSE]
    # 0.0049 would have failed at 0.01 / 3; after 0.0032 it is held to 0.01 / 2
    close = [sides(p, f"p{p}") for p in (0.02, 0.004, 0.0049)]
    verdicts = compare([r for a, _ in close for r in a], [r for _, b in close for r in b], in_turn)
    assert [v.reason for v in verdicts[1:]] == [Reason.MANY_BENCHMARKS] * 2
    assert all(v.interval[0] < v.fails_beyond for v in verdicts)


def test_a_fail_s_interval_lies_beyond_the_threshold_whatever_the_family():
    random = np.random.default_rng(6)
    before = [r for i in range(50) for r in runs(1e-3 * np.exp(random.normal(0, 0.02, 6)), f"{i}")]
    after = [
        r for i in range(50) for r in runs(1e-3 * np.exp(random.normal(i * 0.003, 0.02, 6)), f"{i}")
    ]
    verdicts = compare(before, after)
    assert {Status.FAIL, Status.INCONCLUSIVE} <= {v.status for v in verdicts}
    for v in verdicts:
        assert v.interval[0] < v.ratio < v.interval[1]
        if v.status is Status.FAIL:
            assert v.interval[0] > v.fails_beyond
            assert v.ratio > v.passes_within
        if v.status is Status.PASS:
            assert v.interval[1] < v.passes_within


# -- what cannot be compared -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "reason", "says"),
    [
        (runs(CALM), runs([*CALM[:6], 0.0]), Reason.BAD_VALUE, "candidate, the run: 0 s"),
        (runs(CALM), runs([*CALM[:6], -1.0]), Reason.BAD_VALUE, "-1 s"),
        (runs([float("nan"), *CALM]), runs(CALM), Reason.BAD_VALUE, "baseline, the run: nan s"),
        (runs(CALM), runs([float("inf"), *CALM]), Reason.BAD_VALUE, "inf s"),
        (runs([1e-300] * 5), runs(CALM), Reason.BAD_VALUE, "1e-300 s"),
        (runs(CALM), runs(CALM, unit=Unit.CYCLES), Reason.UNIT_CHANGED, "candidate in cycles"),
        (
            runs(CALM, unit=Unit.RATIO),
            runs(CALM, unit=Unit.RATIO, higher_is_better=True),
            Reason.DIRECTION_CHANGED,
            "lower is better in the baseline, higher in the candidate",
        ),
        (
            runs(CALM),
            [*runs(CALM), replace(runs([1.0])[0], values=(), failure="timed out")],
            Reason.FAILED,
            "timed out",
        ),
        (runs(CALM), [replace(run, values=()) for run in runs(CALM)], Reason.FAILED, "no value"),
        (runs(CALM), runs(scaled(0.03)), Reason.COLLAPSED, "33.3 times better"),
        (runs(CALM), runs(scaled(0.099)), Reason.COLLAPSED, "10.1 times better"),
        (
            runs(CALM, unit=Unit.PER_SECOND),
            runs(scaled(33), unit=Unit.PER_SECOND),
            Reason.COLLAPSED,
            "33 times better",
        ),
        (
            runs(CALM, metric="gpu_time"),
            runs(CALM, metric="cpu_time"),
            Reason.METRIC_CHANGED,
            "the baseline has gpu_time, the candidate cpu_time",
        ),
    ],
)  # fmt: skip
def test_broken_evidence_is_named_and_never_green(before, after, reason, says):
    verdict = compare(before, after)[0]
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, reason)
    assert says in verdict.message
    assert verdict.next_step
    for option in ("3", "fail", "pass"):
        assert outcome([verdict], option).exit_code in {1, 3}


@pytest.mark.parametrize("seed", range(30))
def test_any_positive_numbers_give_finite_verdicts(seed):
    random = np.random.default_rng(seed)
    sides = [
        [
            run
            for i in range(40)
            for run in runs(10 ** random.uniform(-30, 30, random.integers(1, 9)), f"k{i}")
        ]
        for _ in range(2)
    ]
    policies = (Policy(collapse=1e60, single_run="assume"), Policy(collapse=1e60, noise=0.5))
    for policy in (*policies, Policy(threshold=0.0)):
        text = json.dumps(outcome(compare(*sides, policy)).as_dict(), allow_nan=False)
        assert len(json.loads(text)["verdicts"]) == 40


def test_what_only_one_side_has_is_named_in_order():
    before = runs(CALM, "old") + runs(CALM, "both")
    after = runs(CALM, "both") + runs(CALM, "new")
    verdicts = compare(before, after)
    assert [(v.benchmark, v.reason) for v in verdicts] == [
        ("old", Reason.VANISHED),
        ("both", Reason.WITHIN),
        ("new", Reason.NEW),
    ]
    assert outcome(verdicts, "pass").exit_code == 3
    allowed = compare(before, after, Policy(allow_new=True, allow_vanished=True))
    assert [v.reason for v in allowed] == [Reason.ALLOWED, Reason.WITHIN, Reason.ALLOWED]
    assert outcome(allowed).exit_code == 0


def test_nothing_in_common_is_not_green_and_nothing_at_all_is_an_error():
    verdicts = compare(runs(CALM, "a"), runs(CALM, "b"))
    assert outcome(verdicts, "pass").exit_code == 3
    # what is allowed alone is green beside a comparison, and no comparison took place
    allowed = compare(runs(CALM, "a"), runs(CALM, "b"), Policy(allow_new=True, allow_vanished=True))
    assert [v.reason for v in allowed] == [Reason.NOTHING_IN_COMMON] * 2
    assert outcome(allowed, "pass").exit_code == 3
    assert outcome([], "pass").exit_code == 3
    for sides in (([], runs(CALM)), (runs(CALM), [])):
        with pytest.raises(UsageError, match="holds no results"):
            compare(*sides)


def test_a_result_ten_times_better_than_the_bound_is_not_believed():
    bound = Policy(rules=(Rule(benchmark="^k$", bound=0.011),))
    assert one(runs(CALM), runs(CALM), bound).reason is Reason.BEYOND_BOUND
    near = one(runs(CALM), runs(CALM), Policy(bound=0.002))
    assert near.status is Status.PASS
    assert "the candidate is better than its bound: check the bound" in near.notes
    rate = one(
        runs(CALM, unit=Unit.PER_SECOND), runs(CALM, unit=Unit.PER_SECOND), Policy(bound=9e-5)
    )
    assert rate.reason is Reason.BEYOND_BOUND


# -- clocks and environment ------------------------------------------------------------------------


def clocked(values, *clocks):
    return [
        replace(run, clock_hz=clocks[i % len(clocks)] * 1e6) for i, run in enumerate(runs(values))
    ]


def test_a_slow_down_that_vanishes_in_cycles_is_the_clock_s():
    slow = clocked(scaled(1.1), 1800)
    verdict = one(clocked(CALM, 1980), slow)
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.CLOCK_CHANGED)
    assert "the clock went from 1980 to 1800 MHz" in verdict.message
    assert one(clocked(CALM, 1980), clocked(scaled(1.1), 1980)).status is Status.FAIL
    assert one(clocked(CALM, 1980), runs(scaled(1.1))).status is Status.FAIL  # not recorded


def test_a_small_slow_down_that_a_small_change_of_the_clock_makes():
    small = Policy(threshold=0.005)
    slow = scaled(1.009)
    assert one(clocked(CALM, 1980), clocked(slow, 1980), small).status is Status.FAIL
    found = one(clocked(CALM, 1980), clocked(slow, 1964), small)
    assert found.reason is Reason.CLOCK_CHANGED


def test_a_pass_lies_inside_the_limit_as_a_whole():
    found = [one(runs(CALM), runs(scaled(1.02 + i / 10_000))) for i in range(100)]
    passed = [verdict.status is Status.PASS for verdict in found]
    assert passed == [verdict.interval[1] < verdict.passes_within for verdict in found]
    assert 10 < sum(passed) < 90


def test_a_faster_clock_does_not_hide_more_cycles():
    verdict = one(clocked(CALM, 1800), clocked(CALM, 1980))
    assert verdict.reason is Reason.CLOCK_CHANGED


@pytest.mark.parametrize("name", ["gpu", "compute_capability", "driver", "toolkit"])
def test_another_environment_is_inconclusive_unless_allowed(name):
    calm, slow = named(runs(CALM)), named(runs(scaled(1.2)))
    here, there = file(calm, **{name: "A"}), file(slow, **{name: "B"})
    verdict = one(here, there)
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.ENVIRONMENT)
    assert "A and B" in verdict.message
    assert "fail: 20% slower" in verdict.notes[-1]
    assert outcome([verdict], "pass").exit_code == 3
    allowed = one(here, there, Policy(allow_mismatch=True))
    assert allowed.status is Status.FAIL
    assert "compared although they differ" in allowed.notes[-1]
    assert one(here, file(calm)).status is Status.PASS  # silent where a side does not say
    assert one(here, file(calm, host="x", **{name: "A"})).status is Status.PASS


@pytest.mark.parametrize("silent", ["baseline", "candidate"])
def test_what_one_side_does_not_say_of_its_machine_is_said(silent):
    told = {"gpu": "H200", "compute_capability": "9.0", "driver": "570", "toolkit": "13.0"}
    calm = named(runs(CALM))
    sides = [file(calm, **({} if side == silent else told)) for side in ("baseline", "candidate")]
    note = f"the {silent} does not say with which GPU, driver and toolkit it was measured"
    assert note in one(*sides).notes
    assert note in one(*sides).as_dict()["notes"]
    assert not one(file(calm), file(calm)).notes
    # a GPU says its compute capability, and the other way round not
    (lacks,) = one(file(calm, gpu="H200"), file(calm, compute_capability="9.0")).notes
    assert lacks == "the candidate does not say with which GPU it was measured"
    (lacks,) = one(file(calm), file(calm, compute_capability="9.0")).notes
    assert "baseline does not say with which compute capability" in lacks


# -- drifts and scatter of one side ----------------------------------------------------------------


def drifting(percent):
    """Ten runs around 1 ms that go up by so much, at 0.05 % noise."""
    wobble = (0.3, -0.8, 0.9, -0.2, -0.6, 1.1, -0.9, 0.4, 0.1, -0.3)
    return [1e-3 * (1 + percent / 900 * (i - 4.5) + 0.0005 * w) for i, w in enumerate(wobble)]


@pytest.mark.parametrize("make", [runs, pairs])
def test_sides_that_drift_apart_are_named(make):
    near = one(make(drifting(1)), make(drifting(-1)))
    assert near.status is Status.PASS
    assert any("the sides drift apart by 2%" in note for note in near.notes)
    far = one(make(drifting(4)), make(drifting(-4)))
    assert (far.status, far.reason) == (Status.INCONCLUSIVE, Reason.DRIFT)
    assert "drift apart, at one end of the runs the candidate is" in far.message
    assert "on one side alone" in far.next_step


# -- the order of runs ----------------------------------------------------------------------------


#: 5 % apart at 1.4 % of noise, five runs each: enough for the interval and the ranks
NOISY = (
    [0.98e-3, 1.005e-3, 1.012e-3, 0.99e-3, 1.013e-3],
    [1.06e-3, 1.04e-3, 1.07e-3, 1.05e-3, 1.045e-3],
)


def dated(values, days, hour=0):
    return [
        file(named(runs([value])), date=f"2026-11-{day:02}T{hour:02}:00:00Z")
        for value, day in zip(values, days, strict=True)
    ]


def test_sides_in_turn_fail_where_one_after_the_other_a_drift_could_be_all_of_it():
    before, after = NOISY
    verdict = one(dated(before, range(1, 6)), dated(after, range(6, 11)))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.DRIFT)
    assert "a drift from one side to the other could be all of it" in verdict.message
    assert "perfkit gate run" in verdict.next_step
    assert one(dated(before, range(6, 11)), dated(after, range(1, 6))).reason is Reason.DRIFT
    in_turn = one(dated(before, range(1, 6)), dated(after, range(1, 6), 12))
    assert (in_turn.status, in_turn.notes) == (Status.FAIL, ())


def test_files_without_dates_are_judged_as_the_policy_says():
    before, after = (runs(values) for values in NOISY)
    unknown = one(before, after)
    assert unknown.status is Status.FAIL  # as independent runs grant
    assert any("nothing tells the order of the runs" in note for note in unknown.notes)
    assert one(before, after, Policy(order="after")).reason is Reason.DRIFT
    assert one(before, after, Policy(order="in_turn")).notes == ()
    with pytest.raises(
        UsageError, match="order 'mixed' is none of unknown, in_turn, after, before"
    ):
        Policy(order="mixed")
    # dates that are there count more
    dates = dated(NOISY[0], range(1, 6)), dated(NOISY[1], range(6, 11))
    assert one(*dates, Policy(order="in_turn")).reason is Reason.DRIFT


def test_a_rise_explains_a_slower_candidate_only_if_it_was_measured_later():
    rise = 0.006 * np.arange(7) + 0.001 * np.array([1, -1, 0, 1, 0, -1, 0])
    before, after = runs(1e-3 * np.exp(rise)), runs(1e-3 * np.exp(rise + 0.045))
    assert one(before, after, Policy(order="after")).reason is Reason.DRIFT
    assert one(before, after, Policy(order="before")).status is Status.FAIL


def test_of_an_unknown_order_noisy_runs_may_have_drifted():
    """The same figures at more noise than a change of 5 % can be seen through."""
    louder = [[1e-3 * exp(1.6 * log(value / 1e-3)) for value in side] for side in NOISY]
    before, after = (runs(side) for side in louder)
    assert one(before, after, Policy(order="in_turn")).status is Status.FAIL
    assert one(before, after).reason is Reason.DRIFT


def test_a_clear_change_fails_in_any_order():
    for order in ("unknown", "in_turn", "after", "before"):
        assert one(runs(CALM), runs(scaled(1.05)), Policy(order=order)).status is Status.FAIL


# -- shape of the evidence -------------------------------------------------------------------------


def test_files_are_processes_and_samples_of_one_process_are_one_run():
    samples = [replace(run, values=(run.values[0], 2e-3, run.values[0])) for run in runs(CALM)]
    verdict = one([file([run]) for run in samples], [file([run]) for run in samples])
    assert verdict.baseline_runs == 7
    assert verdict.baseline_value == pytest.approx(np.median(CALM))
    merged = one(file(samples), file(samples))  # runs of one file without a name: one process
    assert (merged.baseline_runs, merged.reason) == (1, Reason.SINGLE_RUN)
    assert one(file(named(samples)), file(named(samples))).baseline_runs == 7


def test_pairs_need_to_be_most_of_the_runs():
    some = pairs(CALM[:2]) + runs(CALM[2:])
    assert one(some, some).paired is False
    assert one(pairs(CALM) + runs(CALM[:2]), pairs(CALM)).paired is True
    twice = pairs(CALM) + pairs(CALM)
    assert one(twice, twice).paired is False  # an id that stands for two runs names no pair


def test_importing_the_gate_loads_nothing_heavy():
    code = "import sys, perfkit.gate; print(sorted({'numpy', 'scipy', 'yaml'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
