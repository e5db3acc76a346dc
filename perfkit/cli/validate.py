"""``perfkit validate``: predictions against the card at hand."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.analysis.environment import prefix
from perfkit.cli import options, talk
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.effort_options import DevicesOption
from perfkit.cli.emit import emit, write
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.interrupts import terminable
from perfkit.errors import (
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_NO,
    DeviceError,
    UsageError,
)

if TYPE_CHECKING:
    from perfkit.analysis.validation import Check, ValidationReport

app = new_app()

_TITLE: Final = "perfkit validate"
#: outcome of all checks together -> exit code
_EXIT: Final = {
    "pass": 0,
    "fail": EXIT_NO,
    "skipped": EXIT_INCONCLUSIVE,
    "unfinished": DeviceError.exit_code,
}


class ValidateFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


@app.command(
    epilog=examples(
        "perfkit validate --quick --chart validate.svg",
        "perfkit validate --only residency,driver-occupancy --seed 7",
        "perfkit validate --device all --save reports",
    )
)
@grouped
def validate(
    device: DevicesOption = "0",
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAMES", help="Some checks: attributes,residency."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer configurations.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", min=0, help="Repeat the configurations of another run."
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", min=1, help="Of each check."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FOLDER", help="Write JSON, Markdown and HTML there, too."),
    ] = None,
    *,
    drawing: ChartOptions,
    format: Annotated[ValidateFormat, options.FORMAT] = ValidateFormat.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Hold perfkit's predictions against the card at hand.

    Attributes, occupancy, blocks counted on the SMs, launches, clusters, access counters, copies
    and latencies: fresh random configurations each time, each check in a process of its own. What
    cannot be compared here is skipped, with the reason. The exit code is 0 if all that was
    compared agrees, 1 if something differs, 3 if nothing could be compared.
    """
    from perfkit.device.items import devices_of
    from perfkit.device.validate import questions
    from perfkit.device.validate import validate as run
    from perfkit.report.views import validate as view

    names = [name.strip() for name in only.split(",")] if only is not None else []
    questions(names)  # a typing error is told before a card is asked for
    drawing.check(is_table=format is ValidateFormat.TABLE, output=output)
    with terminable():
        report = run(
            devices_of(device),
            only=names,
            quick=quick,
            seed=seed,
            seconds=time_limit,
            on_start=_tell,
            on_check=lambda index, check: talk.note(prefix(index) + _line(check)),
        )
    if save is not None:
        _save(report, save)
    _emit(report, format, output, drawing)
    if any(card.interrupted for card in report.cards):
        raise typer.Exit(EXIT_INTERRUPTED)
    if code := _EXIT[view.overall(report)]:
        raise typer.Exit(code)


def _tell(index: int | None, name: str) -> None:
    """What runs, where somebody watches."""
    if sys.stderr is not None and sys.stderr.isatty():
        talk.note(f"{prefix(index)}{name} …")


def _line(check: Check) -> str:
    differing = f", {check.differing:,} differ" if check.differing else ""
    return f"{check.name}: {check.status}, {check.compared:,} compared{differing}"


def _emit(
    report: ValidationReport,
    format: ValidateFormat,  # noqa: A002
    output: Path | None,
    drawing: ChartOptions | None = None,
) -> None:
    from perfkit.report.views import validate as view

    if format is ValidateFormat.HTML:
        from perfkit.report import html

        write(html.render(view.document(report), title=_TITLE), output)
        if drawing is not None and (drawn := drawing.drawn("validate", view.content(report))):
            write(drawn, None)
        return
    emit(
        "validate",
        document=lambda: view.document(report),
        content=lambda: view.content(report),
        format=options.Format(format.value),
        output=output,
        chart=drawing,
        measured=True,
    )


def _save(report: ValidationReport, folder: Path) -> None:
    """``h200-sxm-2026-11-30.json``, ``.md`` and ``.html``."""
    cards = [card.environment for card in report.cards]
    products = "-".join(dict.fromkeys(about.product or about.device for about in cards))
    name = re.sub(r"[^a-z0-9]+", "-", products.lower()).strip("-")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--save {folder}: {error.strerror or error}") from None
    for ending, format in (  # noqa: A001
        ("json", ValidateFormat.JSON),
        ("md", ValidateFormat.MARKDOWN),
        ("html", ValidateFormat.HTML),
    ):
        _emit(report, format, folder / f"{name}-{cards[0].date[:10]}.{ending}")
