"""The static gate: verdicts, exit codes, and everything that must never be green."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.arch import catalog
from perfkit.errors import UsageError
from perfkit.gate.static import judge
from perfkit.gate.static_line import parse_rule
from perfkit.gate.static_rules import StaticRule, not_worse
from perfkit.gate.static_verdicts import Builds
from perfkit.gate.verdict import Reason, Status, outcome
from tests.gate.kernels import Facts, kernel

A, B, C = kernel("a"), kernel("b"), kernel("c", arch="sm_80")


def rules(*lines: str) -> list[StaticRule]:
    return [parse_rule(line) for line in lines]


def alone(*kernels, **settings) -> Builds:
    return Builds(pairs=tuple((None, one) for one in kernels), **settings)


def codes(verdicts):
    return [(verdict.benchmark, verdict.reason) for verdict in verdicts]


def test_budgets():
    facts = Facts({("a", "registers"): 64, ("b", "registers"): 65})
    first, second = judge(rules("registers<=64"), alone(A, B), facts)
    assert (first.status, first.reason, first.message) == (
        Status.PASS,
        Reason.WITHIN,
        "64 registers, at most 64 allowed",
    )
    assert (second.status, second.reason) == (Status.FAIL, Reason.OVER_LIMIT)
    assert (second.candidate_value, second.static.limit, second.static.line) == (65, 64, 12)
    assert second.static.rule_at == "--rule"
    assert outcome([first, second]).exit_code == 1
    assert outcome([first]).exit_code == 0


def test_increases():
    old, new = replace(A, max_threads=1), replace(A, max_threads=2)
    facts = Facts({("a", "registers", 1): 40, ("a", "registers", 2): 44})
    builds = Builds(pairs=((old, new),), compared=True)
    for line, reason in (
        ("registers<=baseline+4", Reason.WITHIN),
        ("registers<=baseline+3", Reason.INCREASED),
        ("registers<=baseline+10%", Reason.WITHIN),
    ):
        (verdict,) = judge(rules(line), builds, facts)
        assert verdict.reason is reason
        assert verdict.ratio == 44 / 40
        assert (verdict.baseline_value, verdict.candidate_value) == (40, 44)
    assert verdict.message == "44 registers, 40 in the baseline and 10% more allowed"


def test_the_ratio_of_what_is_better_when_higher():
    old, new = replace(A, max_threads=1), replace(A, max_threads=2)
    facts = Facts({("a", "occupancy", 1): 0.5, ("a", "occupancy", 2): 0.25})
    (verdict,) = judge(
        rules("occupancy>=baseline"), Builds(pairs=((old, new),), compared=True), facts
    )
    assert (verdict.reason, verdict.ratio) == (Reason.INCREASED, 2.0)
    assert verdict.higher_is_better


def test_each_gpu_is_judged():
    facts = Facts(
        {("a", "occupancy", "a100"): 0.5, ("a", "occupancy", "h100"): 1.0}, ("a100", "h100")
    )
    found = judge(rules("occupancy>=75%@256 threads"), alone(A), facts)
    assert [(one.static.gpu, one.status) for one in found] == [
        ("a100", Status.FAIL),
        ("h100", Status.PASS),
    ]


def test_a_launch_that_fails():
    found = judge(rules("fits"), alone(A, B), Facts({("a", "fits"): 1, ("b", "fits"): 0}))
    assert codes(found) == [("a", Reason.WITHIN), ("b", Reason.DOES_NOT_FIT)]
    assert [one.next_step is not None for one in found] == [False, True]


def test_of_two_limits_of_one_kind_the_later_counts():
    facts = Facts({("a", "registers"): 100, ("b", "registers"): 100})
    wide = StaticRule(kernel="^a$", checks=parse_rule("registers<=128").checks, where="")
    found = judge([*rules("registers<=64"), wide], alone(A, B), facts)
    assert [verdict.status for verdict in found] == [Status.PASS, Status.FAIL]
    # a limit and a distance from the baseline are of two kinds
    both = judge(rules("registers<=200", "registers<=baseline"), alone(A), facts)
    assert [verdict.reason for verdict in both] == [Reason.WITHIN, Reason.NO_BASELINE]


# --- never green ----------------------------------------------------------------------------------


def never_green(verdicts):
    for how in ("pass", "3"):
        assert outcome(verdicts, how).exit_code == 3
    assert outcome(verdicts, "fail").exit_code == 1


def test_no_rule_is_refused():
    with pytest.raises(UsageError, match="nothing would be checked"):
        judge([], alone(A), Facts({}))


def test_a_rule_without_a_kernel():
    facts = Facts({("a", "registers"): 1})
    lost = StaticRule(
        kernel="gone", archs=("sm_90",), checks=parse_rule("registers<=64").checks, where=""
    )
    found = judge(
        [*rules("registers<=64"), lost],
        alone(A, C),
        Facts({("a", "registers"): 1, ("c", "registers"): 1}),
    )
    assert codes(found)[-1] == ("kernels that match 'gone' for sm_90", Reason.NO_MATCH)
    assert "a (sm_90), c (sm_80)" in found[-1].message
    never_green(found)
    wrong_arch = StaticRule(archs=("sm_70",), checks=parse_rule("registers<=64").checks, where="")
    never_green(judge([wrong_arch], alone(A), facts))


def test_what_the_file_does_not_tell():
    found = judge(rules("spills==0"), alone(A), Facts({}))
    assert codes(found) == [("a", Reason.NOT_KNOWN)]
    assert found[0].message == "spills not known: the log does not say"
    assert found[0].next_step
    never_green(found)


def test_what_the_baseline_does_not_tell():
    old = replace(A, max_threads=1)
    facts = Facts({("a", "registers", None): 4})
    found = judge(rules("registers<=baseline"), Builds(pairs=((old, A),), compared=True), facts)
    assert codes(found) == [("a", Reason.NOT_KNOWN)]
    assert "in the baseline: the log does not say" in found[0].message
    never_green(found)


def test_an_increase_without_a_baseline():
    found = judge(rules("registers<=baseline"), alone(A), Facts({("a", "registers"): 1}))
    assert codes(found) == [("all kernels", Reason.NO_BASELINE)]
    never_green(found)


def test_kernels_of_one_build_alone():
    old, new = replace(A, max_threads=1), replace(A, max_threads=2)
    facts = Facts({("a", "registers"): 4, ("b", "registers"): 4, ("c", "registers"): 4})
    builds = Builds(pairs=((old, new), (None, B)), vanished=(C,), compared=True)
    found = judge(rules("registers<=baseline"), builds, facts)
    assert codes(found) == [("a", Reason.WITHIN), ("b", Reason.NEW), ("c", Reason.VANISHED)]
    never_green(found)
    allowed = judge(
        rules("registers<=baseline"), builds, facts, allow_new=True, allow_vanished=True
    )
    assert [verdict.reason for verdict in allowed][1:] == [Reason.ALLOWED] * 2
    assert outcome(allowed).exit_code == 0
    # a new kernel is nothing to a rule that does not compare; a vanished one always is
    found = judge(rules("registers<=64"), builds, facts)
    assert codes(found)[1:] == [("b", Reason.WITHIN), ("c", Reason.VANISHED)]


def test_kernels_that_no_rule_is_about_may_vanish():
    old, new = replace(A, max_threads=1), replace(A, max_threads=2)
    about_a = StaticRule(kernel="a", checks=parse_rule("registers<=64").checks, where="")
    builds = Builds(pairs=((old, new),), vanished=(B,), compared=True)
    assert len(judge([about_a], builds, Facts({("a", "registers"): 4}))) == 1


def test_builds_with_nothing_in_common():
    builds = Builds(pairs=((None, A), (None, B)), vanished=(C,), compared=True)
    facts = Facts({("a", "registers"): 4, ("b", "registers"): 4})
    found = judge(rules("registers<=baseline"), builds, facts)
    assert codes(found) == [("all kernels", Reason.NOTHING_IN_COMMON)]
    assert "c (sm_80) before, a (sm_90), b (sm_90) now" in found[0].message
    never_green(found)


def test_files_that_were_read_in_part_and_gpus_that_run_nothing():
    facts = Facts({("a", "registers"): 4})
    (h100,) = catalog.targets("h100")
    idle = alone(A, unread=2, idle=((kernel("b", arch="sm_80"), h100),))
    found = judge(rules("registers<=64"), idle, facts)
    assert codes(found)[1:] == [("b", Reason.NOT_KNOWN), ("all kernels", Reason.NOT_READ)]
    assert found[1].message == "no code that h100-sxm5 runs: compiled for sm_80"
    never_green(found)
    # a rule that is not about that architecture asks for no such code
    older = StaticRule(archs=("sm_80",), checks=parse_rule("registers<=64").checks, where="")
    assert ("b", Reason.NOT_KNOWN) not in codes(judge([older], idle, facts))


def test_nothing_may_get_worse_passes_over_what_neither_build_knows():
    old, new = replace(A, max_threads=1), replace(A, max_threads=2)
    builds = Builds(pairs=((old, new),), compared=True)
    facts = Facts({("a", "registers", 1): 40, ("a", "registers", 2): 41, ("a", "stack", 2): 8})
    found = judge([not_worse()], builds, facts)
    assert [(one.metric, one.reason) for one in found] == [
        ("registers", Reason.INCREASED),
        ("stack", Reason.NOT_KNOWN),  # one of them knows it
    ]
    never_green(judge([not_worse()], builds, Facts({})))
