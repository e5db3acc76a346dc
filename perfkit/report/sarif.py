"""Findings -> SARIF 2.1.0, which code scanning shows at the lines of the source.

What passed is left out: the format is a list of what is wrong. Paths are relative to where the
command ran, as ``%SRCROOT%``, unless they were given otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from perfkit import __version__
from perfkit.report.findings import Finding, place

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


#: where limits are changed
_ELSEWHERE: Final = "perfkit.yaml"


def render(findings: Sequence[Finding], *, exit_code: int) -> str:
    """A log of one run; ASCII, like all JSON of perfkit.

    GitHub refuses a log with a finding that no file is named for: what is of no file, such as a
    benchmark, is shown at ``perfkit.yaml``.
    """
    shown = [finding for finding in findings if finding.level != "none"]
    rules = sorted({_rule(finding) for finding in shown})
    run = {
        "tool": {
            "driver": {
                "name": "perfkit",
                "semanticVersion": __version__,
                "rules": [_descriptor(rule) for rule in rules],
            }
        },
        "invocations": [{"executionSuccessful": True, "exitCode": exit_code}],
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "where the gate ran"}}},
        "results": [_result(finding, rules) for finding in shown],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(finding: Finding) -> str:
    return f"{finding.suite}/{finding.rule}"


def _descriptor(rule: str) -> dict[str, Any]:
    suite, _, name = rule.partition("/")
    words = name.replace("_", " ")
    what = "of a compiled kernel" if suite == "static" else "against the baseline"
    return {"id": rule, "name": name, "shortDescription": {"text": f"{words} {what}"}}


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    step = f". Next: {finding.next_step}" if finding.next_step else ""
    identity = "\0".join((_rule(finding), finding.title))
    found: dict[str, Any] = {
        "ruleId": _rule(finding),
        "ruleIndex": rules.index(_rule(finding)),
        "level": finding.level,
        "message": {"text": _text(f"{finding.title}: {finding.message}{step}")},
        "locations": [_location(finding)],
        "partialFingerprints": {
            "perfkitGate/v1": sha256(identity.encode("utf-8", "replace")).hexdigest()
        },
        "properties": {"reason": finding.reason},
    }
    return found


def _location(finding: Finding) -> dict[str, Any]:
    kind = "function" if finding.suite == "static" else "member"
    name = _text(finding.subject)
    physical: dict[str, Any] = {"artifactLocation": _artifact(finding.file or _ELSEWHERE)}
    if finding.file is not None and finding.line is not None:
        physical["region"] = {"startLine": finding.line}
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": name, "kind": kind}],
    }


def _artifact(file: str) -> dict[str, str]:
    path = place(file)
    if path.is_absolute():
        return {"uri": "file://" + _quoted(path)}
    return {"uri": _quoted(path), "uriBaseId": "%SRCROOT%"}


def _quoted(path: Path) -> str:
    return quote(path.as_posix(), errors="replace")


def _text(text: str) -> str:
    """Lone surrogates, of names that are no text, have no place in JSON that others read."""
    return text.encode("utf-8", "replace").decode("utf-8")
