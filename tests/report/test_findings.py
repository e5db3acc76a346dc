"""JUnit, SARIF and GitHub: valid whatever a kernel is called, and never greener than the run."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from perfkit.gate.static import judge
from perfkit.gate.static_line import parse_rule
from perfkit.gate.static_rules import StaticRule
from perfkit.gate.static_verdicts import Builds
from perfkit.gate.verdict import outcome
from perfkit.report import github, junit, sarif
from perfkit.report.findings import Finding
from perfkit.report.views.gate import document, findings, summary
from tests.gate.kernels import Facts, kernel
from tests.report.verdicts import MANY, MIXED, STATIC, TIMING

AS_IT_IS = {"static": "3", "timing": "3"}
FINDINGS = findings(MIXED, AS_IT_IS)


def levels(how):
    return Counter(one.level for one in findings(MIXED, {"static": how, "timing": how}))


def test_levels_follow_the_exit_code():
    counts = MIXED.counts
    fail, open_, passed = counts["fail"], counts["inconclusive"], counts["pass"]
    assert fail >= 3
    assert passed >= 3
    assert levels("3") == {"error": fail, "warning": open_, "none": passed}
    assert levels("fail") == {"error": fail + open_, "none": passed}
    # only the benchmark that is too noisy is let through, and nothing that was not checked
    assert levels("pass") == {"error": fail, "warning": open_ - 1, "note": 1, "none": passed}


def test_the_worst_comes_first():
    assert [one.level for one in FINDINGS] == sorted(
        (one.level for one in FINDINGS), key=["error", "warning", "none"].index
    )
    assert FINDINGS[0].subject.startswith("gemm")  # 168 of 64


# --- JUnit ----------------------------------------------------------------------------------------


def test_junit_is_xml_that_counts_right():
    root = ET.fromstring(junit.render(FINDINGS).encode())
    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["perfkit.static", "perfkit.timing"]
    for node in (root, *suites):
        cases = list(node.iter("testcase"))
        assert int(node.get("tests")) == len(cases) > 0
        for attribute, tag in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert int(node.get(attribute)) == sum(case.find(tag) is not None for case in cases)
    assert int(root.get("failures")) == MIXED.counts["fail"]


def test_junit_takes_any_name():
    text = junit.render(FINDINGS)
    names = [case.get("name") for case in ET.fromstring(text.encode()).iter("testcase")]
    (hostile,) = [name for name in names if "100%" in name and "registers<=64" in name]
    assert hostile.startswith("two\nlines\ufffd[31m, 100%: ]]></x>&\"'")
    every = "".join(map(chr, [*range(0x20), 0x7F, 0x85, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF, 0x10FFFF]))
    one = Finding(
        level="error", suite="static", rule="r", reason="x", subject=every, title=every,
        message=every, next_step=every, file=every, line=1,
    )  # fmt: skip
    root = ET.fromstring(junit.render([one]).encode())
    assert root.find("testsuite/testcase/failure").text.count("\ufffd") == 29 + 4
    assert ET.fromstring(junit.render([])).get("tests") == "0"
    sarif_of([one])


# --- SARIF ----------------------------------------------------------------------------------------

MESSAGE = {
    "type": "object", "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}}, "additionalProperties": False,
}  # fmt: skip
#: what the standard (OASIS SARIF 2.1.0, sections 3.13 to 3.33) asks of the parts that are written
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object",
            "required": ["tool", "results"],
            "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "properties": {"driver": {
                    "type": "object",
                    "required": ["name"],
                    "additionalProperties": False,
                    "properties": {
                        "name": {"type": "string"},
                        "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                        "rules": {"type": "array", "uniqueItems": True, "items": {
                            "type": "object",
                            "required": ["id"],
                            "additionalProperties": False,
                            "properties": {
                                "id": {"type": "string"}, "name": {"type": "string"},
                                "shortDescription": MESSAGE,
                            },
                        }},
                    },
                }}},
                "invocations": {"type": "array", "items": {
                    "type": "object",
                    "required": ["executionSuccessful"],
                    "properties": {
                        "executionSuccessful": {"type": "boolean"},
                        "exitCode": {"type": "integer"},
                    },
                    "additionalProperties": False,
                }},
                "originalUriBaseIds": {"type": "object", "additionalProperties": {
                    "type": "object",
                    "properties": {"uri": {"type": "string"}, "description": MESSAGE},
                    "additionalProperties": False,
                }},
                "results": {"type": "array", "items": {
                    "type": "object",
                    "required": ["message"],
                    "additionalProperties": False,
                    "properties": {
                        "ruleId": {"type": "string"},
                        "ruleIndex": {"type": "integer", "minimum": 0},
                        "level": {"enum": ["none", "note", "warning", "error"]},
                        "message": MESSAGE,
                        "properties": {"type": "object"},
                        "partialFingerprints": {
                            "type": "object", "additionalProperties": {"type": "string"},
                        },
                        "locations": {"type": "array", "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "physicalLocation": {
                                    "type": "object",
                                    "required": ["artifactLocation"],
                                    "additionalProperties": False,
                                    "properties": {
                                        "artifactLocation": {
                                            "type": "object",
                                            "additionalProperties": False,
                                            "properties": {
                                                "uri": {
                                                    "type": "string",
                                                    "pattern": r"^[\w\-./:%~@!$&'()*+,;=]+$",
                                                },
                                                "uriBaseId": {"type": "string"},
                                            },
                                        },
                                        "region": {
                                            "type": "object",
                                            "additionalProperties": False,
                                            "properties": {
                                                "startLine": {"type": "integer", "minimum": 1},
                                            },
                                        },
                                    },
                                },
                                "logicalLocations": {"type": "array", "items": {
                                    "type": "object",
                                    "additionalProperties": False,
                                    "properties": {
                                        "fullyQualifiedName": {"type": "string"},
                                        "kind": {"enum": ["function", "member"]},
                                    },
                                }},
                            },
                        }},
                    },
                }},
            },
        }},
    },
}  # fmt: skip


def sarif_of(found, code=1):
    text = sarif.render(found, exit_code=code)
    assert text.isascii()
    assert "\\ud8" not in text  # half of a character is none
    log = json.loads(text)
    Draft202012Validator.check_schema(SARIF)
    errors = [error.message for error in Draft202012Validator(SARIF).iter_errors(log)]
    assert errors == []
    return log["runs"][0]


def test_sarif_keeps_the_rules_of_the_standard():
    run = sarif_of(FINDINGS)
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(MIXED.verdicts) - MIXED.counts["pass"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert len(result["locations"]) == 1
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_sarif_shows_the_line_of_the_source():
    first = sarif_of(FINDINGS)["results"][0]
    assert first["level"] == "error"
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "k.cu", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 12},
    }


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/ü#?.cu", "a%20b/%C3%BC%23%3F.cu"),
        ("/elsewhere/k.cu", "file:///elsewhere/k.cu"),
        ("./k.cu", "k.cu"),
    ],
)
def test_paths_become_uris(file, uri):
    one = Finding(
        level="error", suite="static", rule="r", reason="x", subject="k", title="k", message="m",
        file=file, line=3,
    )  # fmt: skip
    place = sarif_of([one])["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == uri


def test_paths_inside_the_directory_are_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = Finding(
        level="error", suite="static", rule="r", reason="x", subject="k", title="k", message="m",
        file=str(tmp_path / "src" / "k.cu"), line=3,
    )  # fmt: skip
    place = sarif_of([one])["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/k.cu", "uriBaseId": "%SRCROOT%"}
    assert github.workflow_commands([one]) == ["::error file=src/k.cu,line=3,title=k::m"]


def test_what_is_of_no_kernel_is_shown_where_the_rule_or_the_limits_stand():
    check = replace(parse_rule("registers<=64").checks[0], where="gate.yaml:7")
    lost = StaticRule(kernel="gone", checks=(check,), where="gate.yaml:6")
    found = outcome([*judge([lost], Builds(pairs=((None, kernel("k")),)), Facts({})), TIMING[0]])
    places = [
        result["locations"][0]["physicalLocation"]
        for result in sarif_of(findings(found, AS_IT_IS))["results"]
    ]
    base = {"uriBaseId": "%SRCROOT%"}
    assert places == [
        {"artifactLocation": {"uri": "perfkit.yaml", **base}},
        {"artifactLocation": {"uri": "gate.yaml", **base}, "region": {"startLine": 7}},
    ]


def test_the_same_finding_has_the_same_fingerprint():
    one, two = (sarif_of(FINDINGS)["results"] for _ in range(2))
    prints = [result["partialFingerprints"]["perfkitGate/v1"] for result in one]
    assert prints == [result["partialFingerprints"]["perfkitGate/v1"] for result in two]
    assert len(set(prints)) == len(prints)


def test_nothing_wrong_is_an_empty_list_of_results():
    assert sarif_of([], 0)["results"] == []


# --- GitHub ---------------------------------------------------------------------------------------

COMMAND = re.compile(r"::(error|warning|notice) ([^:\r\n]*)::([^\r\n]*)")


def test_no_name_turns_the_direction_of_a_log():
    one = replace(FINDINGS[0], title="k\u202edet\u2066s", message="m\u2028")
    assert github.workflow_commands([one])[0].endswith("title=k\ufffddet\ufffds::m\ufffd")


def test_workflow_commands_are_one_line_each_and_escaped():
    lines = github.workflow_commands(FINDINGS)
    for line in lines:
        assert COMMAND.fullmatch(line), line
    hostile = next(line for line in lines if "100%25" in line)
    assert "title=two%0Alines" in hostile
    assert "%2C 100%25%3A ]]></x>" in hostile
    assert lines[0] == (
        "::error file=k.cu,line=12,title=gemm<64%2C 64>|*bold* (sm_90)%3A registers<=64"
        "::168 registers, at most 64 allowed"
    )


def test_no_more_annotations_than_github_shows():
    lines = github.workflow_commands(findings(MANY, AS_IT_IS))
    assert MANY.counts["fail"] > github.MOST
    assert len(lines) == github.MOST


# --- the table ------------------------------------------------------------------------------------


def test_the_summary_counts():
    assert summary(MIXED).startswith("FAIL: ")
    assert summary(outcome(TIMING[1:2])) == "CANNOT TELL: 1 cannot be told"
    assert summary(outcome(TIMING[2:])) == "PASS: 1 pass"
    assert summary(outcome([])) == "CANNOT TELL: nothing was checked"


def test_failures_are_all_listed_and_passes_counted():
    found = document(MANY)
    fails = MANY.counts["fail"]
    assert [len(table.rows) for table in found.tables] == [20, fails - 20]
    assert found.tables[1].collapsed
    assert f"{MANY.counts['pass']} pass and are not listed" in found.notes
    assert found.tables[0].rows[0][1] == "k25"
    assert len(found.flat.rows) == 26


def test_a_summary_may_be_cut_and_says_so():
    found = document(MANY, most=5)
    assert [len(table.rows) for table in found.tables] == [5]
    assert f"{MANY.counts['fail'] - 5} more are left out here" in found.notes


def test_static_and_timing_verdicts_are_told_apart():
    assert {one.static is not None for one in STATIC} == {True}
    assert {finding.suite for finding in FINDINGS} == {"static", "timing"}
