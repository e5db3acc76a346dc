"""Findings -> GitHub Actions: annotations on the lines of a pull request.

GitHub reads workflow commands from stdout and stderr alike, shows ten errors and ten warnings of a
step, and leaves the rest to the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perfkit.report.findings import Finding, Level

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
    place = {"file": finding.file, "line": finding.line if finding.file else None}
    settings = {**place, "title": finding.title}
    said = ",".join(
        f"{name}={_setting(str(value))}" for name, value in settings.items() if value is not None
    )
    step = f"\n{finding.next_step}" if finding.next_step else ""
    return f"::{command} {said}::{_data(finding.message + step)}"


def _data(text: str) -> str:
    """As ``@actions/core`` escapes: percent first, then what ends a line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _setting(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
