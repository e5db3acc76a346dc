"""Findings -> JUnit XML, as CI servers read it: failures are failures, what nobody can tell errors.

XML has no way to write most control characters, and names of kernels may hold them: each becomes
U+FFFD, so that the document stays one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from perfkit.report.findings import Finding, Level

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: everything but the characters of XML 1.0
_ILLEGAL: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: level of a finding -> element of its test case
_ELEMENT: Final[dict[Level, str]] = {"error": "failure", "warning": "error", "note": "skipped"}
_COUNTS: Final = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(findings: Sequence[Finding]) -> str:
    """One suite for each kind of check, one test case for each finding."""
    from xml.etree import ElementTree as ET

    root = ET.Element("testsuites", {"name": "perfkit gate", **_counts(findings)})
    for suite in dict.fromkeys(finding.suite for finding in findings):
        inside = [finding for finding in findings if finding.suite == suite]
        element = ET.SubElement(root, "testsuite", {"name": f"perfkit.{suite}", **_counts(inside)})
        for finding in inside:
            _case(element, finding)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: Element, finding: Finding) -> None:
    from xml.etree import ElementTree as ET

    place = {"file": finding.file, "line": finding.line}
    attributes = {name: _legal(str(value)) for name, value in place.items() if value is not None}
    named = {
        "name": _legal(finding.title),
        "classname": f"perfkit.{finding.suite}.{finding.rule}",
        "time": "0",
    }
    case = ET.SubElement(suite, "testcase", named | attributes)
    if (tag := _ELEMENT.get(finding.level)) is not None:
        end = ET.SubElement(case, tag, message=_legal(finding.message), type=finding.reason)
        if finding.next_step:
            end.text = _legal(finding.next_step)


def _counts(findings: Iterable[Finding]) -> dict[str, str]:
    tags = [_ELEMENT.get(finding.level) for finding in findings]
    counts = {name: str(tags.count(tag)) for name, tag in _COUNTS.items()}
    return {"tests": str(len(tags)), **counts}


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
