"""Static rules in perfkit.yaml: read strictly, refused with the line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from perfkit.errors import InputError
from perfkit.gate.policy_file import load
from perfkit.gate.static_file import StaticPolicy, load_static

PAGE = """\
timing:
  threshold: 2%
static:
  allow_new: true
  on_inconclusive: 3
  rules:
    - kernel: "^gemm"
      arch: [sm_90, "sm_8*", 9.0, hopper]
      registers: {max: 128, max_increase: 8}
      stack: {max: 1K, max_increase: 12.5%}
      occupancy:
        - {min: 50%, threads: 256, gpu: h100}
        - {min: 0.25, threads: 1024, smem_dynamic: 48K, max_decrease: 5%}
      bound: {max: 120us, op: "gemm:4096", dtype: f16, gpu: h100}
    - fits: [a100, h100]
      spills: {max: 0}
    - fits: {gpu: h100, threads: 128}
      arch: sm_90a
"""


@pytest.fixture
def page(tmp_path):
    def write(text):
        path = tmp_path / "perfkit.yaml"
        path.write_text(text)
        return path

    return write


def test_a_whole_file(page):
    path = page(PAGE)
    policy = load_static(path)
    assert (policy.allow_new, policy.allow_vanished, policy.on_inconclusive) == (True, False, "3")
    first, second, third = policy.rules
    assert (first.kernel, first.archs) == ("^gemm", ("sm_90", "sm_8*", "9.0", "hopper"))
    assert first.where == f"{path}:7"
    found = [
        (c.asked.quantity, c.relation, c.limit, c.against_baseline, c.relative)
        for c in first.checks
    ]
    assert found == [
        ("registers", "at_most", 128, False, False),
        ("registers", "at_most", 8, True, False),
        ("stack", "at_most", 1024, False, False),
        ("stack", "at_most", Fraction(1, 8), True, True),
        ("occupancy", "at_least", Fraction(1, 2), False, False),
        ("occupancy", "at_least", Fraction(1, 4), False, False),
        ("occupancy", "at_least", Fraction(1, 20), True, True),
        ("bound", "at_most", Fraction(3, 25000), False, False),
    ]
    assert [check.where for check in first.checks][:3] == [f"{path}:9", f"{path}:9", f"{path}:10"]
    asked = first.checks[5].asked
    assert (asked.threads, asked.dynamic_bytes, asked.gpu) == (1024, 49152, None)
    assert first.checks[4].text == "occupancy min 50% @ 256 threads on h100"
    assert second.checks[0].asked.gpu == "a100,h100"
    assert (third.checks[0].asked.gpu, third.checks[0].asked.threads) == ("h100", 128)
    assert load(path).threshold == 0.02


def test_no_static_section_is_no_rules(page):
    assert load_static(page("timing: {threshold: 1%}\n")) == StaticPolicy()


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("kernel: '['", "no regular expression"),
        ("kernel: 90", "put it in quotes"),
        ("kernel: k", "no limit"),
        ("registers: {}", "no limit"),
        ("registers: {max: -1}", "'-1' is not a number"),
        ("registers: {max: many}", "'many' is not a number"),
        ("registers: {max: null}", "expected one value"),
        ("registers: {max: [1]}", "expected one value"),
        ("registers: 64", "expected a mapping"),
        ("registers: {maximum: 64}", "did you mean max?"),
        ("registers: {max: 64, threads: 256}", "threads: unknown key"),
        ("registers: {max: 64, max: 65}", "duplicate key"),
        ("registres: {max: 64}", "did you mean registers?"),
        ("occupancy: {min: 50}", "more than 100%"),
        ("occupancy: {min: 50%, threads: 5000}", "5000 threads"),
        ("occupancy: {min: 50%, threads: 8.5}", "whole number"),
        ("occupancy: {min: 50%, gpu: nosuch}", "unknown GPU"),
        ("occupancy: {min: 50%, gpu: []}", "empty list"),
        ("occupancy: {min: 50%, smem_dynamic: lots}", "not a size"),
        ("fits: {max: 1}", "unknown key"),
        ("fits: nosuch", "unknown GPU"),
        ("bound: {max: 1ms}", "the work and its type"),
        ("bound: {max: 1ms, op: 'gemm:x', dtype: f16}", "gemm:x"),
        ("{registers: {max: 1}, arch: sm_999}", "sm_999"),
        ("{registers: {max: 1}, arch: nosuch}", "nosuch"),
        ("{registers: {max: 1}, arch: {a: 1}}", "expected one value"),
        ("just text", "expected a mapping"),
        ("spills: {max: 0.5}", "whole number of bytes"),
        ("stack: {max: &a 1}", "anchors"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(page, rule, says):
    path = page(f"static:\n  rules:\n    -\n      {rule}\n")
    with pytest.raises(InputError) as caught:
        load_static(path)
    assert caught.value.where == f"{path}:4"
    assert says in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("static: {rule: []}", "did you mean rules?"),
        ("static: []", "expected a mapping"),
        ("static: {rules: {}}", "expected a list"),
        ("static: {allow_new: maybe}", "true or false"),
        ("static: {on_inconclusive: 4}", "none of 3, fail, pass"),
        ("statics: {}", "did you mean static?"),
        ("", "empty"),
        ("static: {rules: [", "not YAML"),
    ],
)
def test_what_is_wrong_elsewhere(page, text, says):
    with pytest.raises(InputError) as caught:
        load_static(page(text))
    assert says in f"{caught.value.message} {caught.value.hint}"
