"""Findings -> GitHub Actions: annotations on the lines of a pull request.

GitHub reads workflow commands from stdout and stderr alike, shows ten errors and ten warnings of a
step, and leaves the rest to the summary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from perfkit.report.findings import Finding, Level, place

#: what speaks to a terminal that shows the log, or turns the direction of what follows
_CONTROL: Final = re.compile(
    r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: of each kind, in one step
MOST: Final = 10
_COMMANDS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "notice"}
#: one summary may have 1 MiB
MOST_SUMMARY_BYTES: Final = 1_000_000


def workflow_commands(findings: Sequence[Finding]) -> list[str]:
    """Workflow commands, the first ten of each level in the order given."""
    lines = []
    for level, command in _COMMANDS.items():
        found = [finding for finding in findings if finding.level == level]
        lines += [_command(command, finding) for finding in found[:MOST]]
    return lines


def _command(command: str, finding: Finding) -> str:
    file = None if finding.file is None else place(finding.file).as_posix()
    settings = {"file": file, "line": finding.line if file else None, "title": finding.title}
    said = ",".join(
        f"{name}={_setting(str(value))}" for name, value in settings.items() if value is not None
    )
    step = f"\n{finding.next_step}" if finding.next_step else ""
    return f"::{command} {said}::{_data(finding.message + step)}"


def _data(text: str) -> str:
    """As ``@actions/core`` escapes: percent first, then what ends a line."""
    text = _CONTROL.sub("\ufffd", text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _setting(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
