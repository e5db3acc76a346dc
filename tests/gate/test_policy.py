"""Policies, rules and perfkit.yaml."""

from __future__ import annotations

import pytest

from perfkit.errors import InputError, UsageError
from perfkit.gate import PRESETS, Policy, Rule, preset
from perfkit.gate.policy_file import load
from perfkit.readers.results import Unit


def test_a_threshold_stated_alone_is_both_limits():
    assert (Policy().fails_beyond, Policy().floor) == (0.005, 0.03)
    assert (Policy(threshold=0.02).fails_beyond, Policy(threshold=0.02).floor) == (0.02, 0.02)
    both = Policy(threshold=0.01, relative_floor=0.05)
    assert (both.fails_beyond, both.floor) == (0.01, 0.05)
    assert Policy(threshold=0.05, relative_floor=0.01).floor == 0.05


def test_floors_follow_the_unit_unless_stated():
    assert Policy().absolute(Unit.SECONDS) == 1e-8
    assert Policy().absolute(Unit.CYCLES) == 30
    assert Policy().absolute(Unit.BYTES) == 0
    assert Policy(absolute_floor=5).absolute(Unit.BYTES) == 5


def test_the_last_rule_that_matches_wins():
    policy = Policy(
        threshold=0.05,
        rules=(
            Rule(benchmark="gemm", threshold=0.02, noise=0.01),
            Rule(benchmark="^gemm_f64$", metric="time", threshold=0.1),
        ),
    )
    assert policy.of("axpy", "time").fails_beyond == 0.05
    assert policy.of("my_gemm", "time").fails_beyond == 0.02
    assert policy.of("gemm_f64", "gpu_time").fails_beyond == 0.1
    assert policy.of("gemm_f64", "cycles").fails_beyond == 0.02
    assert policy.of("gemm_f64", "time").noise == 0.01


def test_a_rule_s_threshold_takes_the_policy_s_floor_away():
    policy = Policy(relative_floor=0.08, rules=(Rule(benchmark="a", threshold=0.02),))
    assert policy.of("a", "time").floor == 0.02
    assert policy.of("b", "time").floor == 0.08


@pytest.mark.parametrize(
    "settings",
    [
        {"threshold": -0.1}, {"false_alarm": 0.0}, {"noise": 0.0}, {"collapse": 0.5},
        {"threshold": float("nan")}, {"single_run": "guess"}, {"on_inconclusive": "0"},
    ],
)  # fmt: skip
def test_illegal_settings_are_refused(settings):
    (name,) = settings
    with pytest.raises(UsageError, match=name):
        Policy(**settings)


def test_a_rule_s_expression_is_checked():
    with pytest.raises(UsageError, match="no regular expression"):
        Rule(benchmark="(")


def test_presets_are_policies():
    for name in PRESETS:
        assert isinstance(preset(name), Policy)
    with pytest.raises(UsageError, match="no preset") as caught:
        preset("lenient")
    assert "permissive" in caught.value.hint


FULL = """\
timing:
  preset: strict
  threshold: 2%
  relative_floor: 0.03
  absolute_floor: 50ns
  false_alarm: 0.5%
  single_run: assume
  order: after
  on_inconclusive: 3
  allow_new: true
  rules:
    - benchmark: "^gemm"
      threshold: 1.5%
      bound: 8.5ms
static:
  anything: goes here
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "perfkit.yaml"
        path.write_text(text, encoding="utf-8")
        return load(path)

    return read


def test_the_file_says_what_the_policy_is(read):
    assert read(FULL) == Policy(
        threshold=0.02,
        relative_floor=0.03,
        absolute_floor=5e-8,
        false_alarm=0.005,
        single_run="assume",
        order="after",
        on_inconclusive="3",
        allow_new=True,
        rules=(Rule(benchmark="^gemm", threshold=0.015, bound=0.0085),),
    )
    assert read("static:\n  a: b\n") == Policy()
    assert read("timing:\n  preset: permissive\n") == preset("permissive")


@pytest.mark.parametrize(
    ("text", "line", "says", "hint"),
    [
        ("timming:\n  threshold: 1%\n", 1, "timming: unknown key", "timing"),
        ("timing:\n  treshold: 1%\n", 2, "timing.treshold: unknown key", "threshold"),
        ("timing:\n  threshold: 3\n", 2, "3 would be 300%", "3%"),
        ("timing:\n  threshold: three\n", 2, "expected a ratio", None),
        ("timing:\n  threshold: [1%]\n", 2, "expected a ratio", None),
        ("timing:\n  threshold: 2000%\n", 2, "threshold 20 is not in", None),
        ("timing:\n  threshold: 1%\n  threshold: 2%\n", 3, "duplicate", None),
        ("timing:\n  absolute_floor: 10 parsecs\n", 2, "a number or a time", "10ns"),
        ("timing:\n  collapse: 10x\n", 2, "expected a number", None),
        ("timing:\n  allow_new: maybe\n", 2, "true or false", None),
        ("timing:\n  single_run: guess\n", 2, "none of inconclusive, assume", None),
        ("timing:\n  order: mixed\n", 2, "none of unknown, in_turn, after, before", None),
        ("timing:\n  preset: lax\n", 2, "none of default", None),
        ("timing:\n  rules:\n    - threshold: 1%\n", 3, "benchmark is missing", None),
        ("timing:\n  rules:\n    - benchmark: '('\n", 3, "no regular expression", None),
        (
            "timing:\n  rules:\n    - benchmark: a\n      on_inconclusive: fail\n",
            4,
            "unknown",
            None,
        ),
        ("timing: 3\n", 1, "expected a mapping", None),
    ],
)
def test_errors_name_the_line(read, text, line, says, hint):
    with pytest.raises(InputError, match=r"perfkit\.yaml") as caught:
        read(text)
    assert caught.value.where.endswith(f"perfkit.yaml:{line}")
    assert says in caught.value.message
    assert hint is None or hint in caught.value.hint
