"""How the verdicts of a gate leave: every format, and GitHub's summary and annotations."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from perfkit.cli import options, talk
from perfkit.cli.emit import emit
from perfkit.cli.emit import write as write_text
from perfkit.errors import UsageError
from perfkit.gate.verdict import Status
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from perfkit.gate.verdict import Outcome
    from perfkit.report.document import Document

_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
#: what GitHub's summary shows of a long list
_SUMMARY_ROWS: Final = 300


class GateFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    SARIF = "sarif"


@record
class Output:
    """Where the verdicts go."""

    github: Annotated[
        bool,
        typer.Option(
            "--github",
            help="Also annotate the pull request, through stderr, and append the table to "
            "GITHUB_STEP_SUMMARY.",
        ),
    ] = False
    format: Annotated[GateFormat, options.FORMAT] = GateFormat.TABLE
    output: options.OutputOption = None


@record
class Report:
    """What a command says beside its verdicts, in a document and under a JSON topic of its own."""

    topic: str
    document: Callable[[], Document]
    content: Callable[[], Mapping[str, Any]]


def write(
    found: Outcome, on_inconclusive: Mapping[str, str], out: Output, report: Report | None = None
) -> None:
    """Write the verdicts, and end with their exit code if it is not 0.

    Args:
        found: all verdicts.
        on_inconclusive: suite -> what the exit code makes of what cannot be told.
        out: where to.
        report: in place of the verdicts alone, where the format is not one of verdicts.

    Raises:
        Exit: 1 or 3.
        UsageError: something cannot be written.
    """
    from perfkit.report.views import gate as view

    if out.format in {GateFormat.JUNIT, GateFormat.SARIF}:
        write_text(_for_machines(found, on_inconclusive, out.format), out.output)
    else:
        emit(
            report.topic if report else "gate",
            document=report.document if report else lambda: view.document(found),
            content=report.content if report else lambda: view.content(found),
            format=options.Format(out.format.value),
            output=out.output,
        )
    if out.output is not None or out.format not in {GateFormat.TABLE, GateFormat.MARKDOWN}:
        talk.note(view.summary(found))
    if found.status is Status.INCONCLUSIVE and not found.exit_code:
        talk.note("nothing fails and not all can be told: exit code 0 by --on-inconclusive pass")
    if out.github:
        _github(found, on_inconclusive)
    if found.exit_code:
        raise typer.Exit(found.exit_code)


def _for_machines(
    found: Outcome,
    on_inconclusive: Mapping[str, str],
    format: GateFormat,  # noqa: A002
) -> str:
    from perfkit.report import junit, sarif
    from perfkit.report.views.gate import findings

    listed = findings(found, on_inconclusive)
    if format is GateFormat.JUNIT:
        return junit.render(listed)
    return sarif.render(listed, exit_code=found.exit_code)


def _github(found: Outcome, on_inconclusive: Mapping[str, str]) -> None:
    """Annotations go to stderr: GitHub reads both streams, and stdout is for the data."""
    from perfkit.report import github, markdown
    from perfkit.report.views import gate as view

    for line in github.workflow_commands(view.findings(found, on_inconclusive)):
        talk.say(line)
    place = os.environ.get(_SUMMARY)
    if not place:
        talk.note(f"{_SUMMARY} is not set: no summary is written")
        return
    rows: int | None = _SUMMARY_ROWS
    text = markdown.render(view.document(found, most=rows))
    while len(text.encode("utf-8", "replace")) > github.MOST_SUMMARY_BYTES and rows:
        rows //= 2
        text = markdown.render(view.document(found, most=rows))
    try:
        with Path(place).open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(f"### perfkit gate\n\n{text}\n")
    except OSError as error:
        raise UsageError(f"{_SUMMARY}={place}: {error.strerror or error}") from None
