"""Static rules: one line each, what they select, what they allow; rules that are none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from perfkit.errors import UsageError
from perfkit.gate.quantities import QUANTITIES, amount
from perfkit.gate.static_line import parse_rule
from perfkit.gate.static_rules import StaticRule, allowed_text, not_worse
from tests.gate.kernels import kernel


def only(text):
    (check,) = parse_rule(text).checks
    return check


@pytest.mark.parametrize(
    ("text", "quantity", "relation", "limit"),
    [
        ("registers<=64", "registers", "at_most", 64),
        (" registers <= 64 ", "registers", "at_most", 64),
        ("regs<=64", "registers", "at_most", 64),
        ("spills==0", "spills", "at_most", 0),
        ("stack<=1K", "stack", "at_most", 1024),
        ("static_shared<=48KiB", "static_shared", "at_most", 49152),
        ("occupancy>=0.5", "occupancy", "at_least", Fraction(1, 2)),
        ("occupancy>=33.3%", "occupancy", "at_least", Fraction(333, 1000)),
        ("blocks>=2@1024 threads", "blocks", "at_least", 2),
        ("bound<=120us@gemm:4096 f16", "bound", "at_most", Fraction(120, 10**6)),
    ],
)
def test_a_line_is_read_exactly(text, quantity, relation, limit):
    check = only(text)
    assert (check.asked.quantity, check.relation, check.limit) == (quantity, relation, limit)
    assert not check.against_baseline
    assert check.text == text.strip()


@pytest.mark.parametrize(
    ("text", "limit", "relative"),
    [
        ("registers<=baseline", 0, False),
        ("registers<=baseline+8", 8, False),
        ("registers <= baseline + 12.5%", Fraction(1, 8), True),
        ("stack<=BASELINE+1K", 1024, False),
        ("occupancy>=baseline-5%", Fraction(1, 20), True),
    ],
)
def test_a_line_against_the_baseline(text, limit, relative):
    check = only(text)
    assert check.against_baseline
    assert (check.limit, check.relative) == (limit, relative)


def test_what_a_figure_hangs_on():
    asked = only("occupancy>=50%@256 threads 48K smem on h100,a100").asked
    assert (asked.threads, asked.dynamic_bytes, asked.gpu) == (256, 49152, "h100,a100")
    asked = only("fits@128 threads on rtx-4090").asked
    assert (asked.quantity, asked.threads, asked.gpu) == ("fits", 128, "rtx-4090")
    asked = only("bound<=1ms@gemm:64 f16 on t4").asked
    assert (asked.operation, asked.dtype, asked.gpu) == ("gemm:64", "f16", "t4")


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("registers<=64", 64, True),
        ("registers<=64", 65, False),
        ("registers<64", 64, False),
        ("registers<64", 63, True),
        ("occupancy>=0.5", 0.5, True),
        ("occupancy>0.5", 0.5, False),
        ("occupancy>=0.3", 3 / 10 - 2**-54, False),  # nothing is rounded
        ("occupancy>=33%", 1 / 3, True),
    ],
)
def test_limits_are_exact(text, value, holds):
    assert only(text).holds(Fraction(value), None) is holds


@pytest.mark.parametrize(
    ("text", "before", "now", "holds"),
    [
        ("registers<=baseline", 40, 40, True),
        ("registers<=baseline", 40, 41, False),
        ("registers<=baseline+8", 40, 48, True),
        ("registers<=baseline+8", 40, 49, False),
        ("registers<=baseline+10%", 100, 110, True),
        ("registers<=baseline+10%", 100, 111, False),
        ("spills<=baseline+10%", 0, 4, False),  # a tenth of nothing is nothing
        ("occupancy>=baseline-50%", 0.5, 0.25, True),
        ("occupancy>=baseline-50%", 0.5, 0.1875, False),
    ],
)
def test_distances_from_the_baseline_are_exact(text, before, now, holds):
    assert only(text).holds(Fraction(now), Fraction(before)) is holds


def test_equal_to_something_is_two_limits():
    assert [check.relation for check in parse_rule("barriers==1").checks] == ["at_most", "at_least"]
    assert len(parse_rule("registers==baseline").checks) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a rule"),
        ("registers", "no limit"),
        ("registers<=", "not a rule"),
        ("registers<=-1", "'-1' is not a number"),
        ("registers<=1e9", "'1e9' is not a number"),
        ("registers<=nan", "not a number"),
        ("registers<=\N{ARABIC-INDIC DIGIT FOUR}", "not a number"),
        ("registers<=" + "9" * 40, "not a number"),
        ("registers<=64 and spills==0", "not a rule"),
        ("registers=64", "not a rule"),
        ("registres<=64", "no quantity"),
        ("registers<=64@256 threads", "same for every launch"),
        ("registers<=64 on h100", "same for every launch"),
        ("spills<=0.5", "whole number of bytes"),
        ("occupancy>=50", "more than 100%"),
        ("occupancy>=0.5@256 thredas", "'256 thredas' is not understood"),
        ("occupancy>=0.5@0 threads", "0 threads"),
        ("occupancy>=0.5@2048 threads", "2048 threads"),
        ("occupancy>=0.5 on nosuchgpu", "unknown GPU"),
        ("occupancy>=0.5 on h100,", "empty name"),
        ("fits>=1", "no limit"),
        ("bound<=1ms", "the work and its type"),
        ("bound<=1@gemm:64 f16", "not a time"),
        ("bound<=1ms@gemm:64 f99", "unknown data type"),
        ("bound<=1ms@gem:64 f16", "gem"),
        ("registers<=baseline-8", "for the better"),
        ("registers<=baseline+x", "not a number"),
        ("registers<=__import__('os')", "not a number"),
        ("a" * 1000, "not a rule"),
    ],
)
def test_what_is_no_rule_is_refused_by_name(text, says):
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert says in caught.value.message
    assert caught.value.message.startswith("--rule")
    assert caught.value.hint
    assert len(caught.value.message) < 500


def test_every_quantity_can_be_written():
    for name, quantity in QUANTITIES.items():
        limit = {"": "1", "bytes": "1K", "ratio": "50%", "s": "1ms"}[quantity.unit]
        after = {"work": "@gemm:64 f16", "fit": "", "launch": "@64 threads", "kernel": ""}
        relation = "" if quantity.scope == "fit" else f"<={limit}"
        assert only(f"{name}{relation}{after[quantity.scope]}").asked.quantity == name


@pytest.mark.parametrize(
    ("archs", "arch", "selected"),
    [
        ((), "sm_90", True),
        (("sm_90",), "sm_90", True),
        (("sm_90",), "sm_90a", True),  # a name without a letter is the capability
        (("sm_90a",), "sm_90", False),
        (("sm_90a",), "sm_90a", True),
        (("90a",), "sm_90a", True),
        (("9.0",), "sm_90", True),
        (("hopper",), "sm_90a", True),
        (("ampere",), "sm_86", True),
        (("ampere",), "sm_90", False),
        (("h100",), "sm_90", True),
        (("sm_8*",), "sm_89", True),
        (("sm_8[06]",), "sm_89", False),
        (("sm_70", "sm_80"), "sm_80", True),
        (("hopper",), "not an architecture", False),
    ],
)
def test_architectures(archs, arch, selected):
    rule = StaticRule(archs=archs, checks=parse_rule("registers<=1").checks, where="")
    assert rule.selects(kernel("k", arch=arch)) is selected


def test_names_are_those_that_people_see_or_the_symbol():
    checks = parse_rule("registers<=1").checks
    one = kernel("axpy<float, 256>", symbol="_Z4axpyIfLi256EEvPf")
    for pattern, selected in (
        (r"^axpy<float, 256>$", True),
        ("_Z4axpy", True),
        ("float", True),
        ("double", False),
    ):
        assert StaticRule(kernel=pattern, checks=checks, where="").selects(one) is selected


def test_nothing_may_get_worse():
    checks = not_worse().checks
    assert {check.asked.quantity: check.relation for check in checks} == {
        "registers": "at_most",
        "spill_stores": "at_most",
        "spill_loads": "at_most",
        "stack": "at_most",
        "unbounded_stack": "at_most",
        "static_shared": "at_most",
        "barriers": "at_most",
        "occupancy": "at_least",
    }
    assert all(check.against_baseline and check.limit == 0 for check in checks)


def test_words_of_what_is_allowed():
    assert allowed_text(only("stack<=1K"), None) == "at most 1 KiB allowed"
    assert allowed_text(only("occupancy>0.5"), None) == "more than 50% asked for"
    assert allowed_text(only("registers<=baseline+8"), Fraction(40)) == (
        "40 in the baseline and 8 more allowed"
    )
    assert allowed_text(only("registers<=baseline"), Fraction(40)) == (
        "40 in the baseline and no more allowed"
    )
    assert allowed_text(only("registers<=baseline+5%"), Fraction(40)) == (
        "40 in the baseline and 5% more allowed"
    )


def test_amounts():
    assert amount("0.001s", "s") == Fraction(1, 1000)
    assert amount("1.5 us", "s") == Fraction(3, 2 * 10**6)
    for text in ("", "1.2.3us", "us", ".us", "5"):
        with pytest.raises(UsageError):
            amount(text, "s")


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("registers\u226464", "registers<=64"),
        ("occupancy \u2265 50%@256 threads", "occupancy>=50%@256 threads"),
        ("registers\u2264baseline+8", "registers<=baseline+8"),
    ],
)
def test_other_signs_of_the_same_relation(written, same):
    said = [
        [(c.asked, c.relation, c.strict, c.limit, c.against_baseline) for c in parse_rule(t).checks]
        for t in (written, same)
    ]
    assert said[0] == said[1]
