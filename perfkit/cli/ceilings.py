"""``perfkit ceilings``: how fast the card at hand really is, part by part."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.analysis.environment import prefix, told
from perfkit.cli import options, talk
from perfkit.cli.effort_options import DevicesOption
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.cli.interrupts import terminable
from perfkit.errors import EXIT_INTERRUPTED, DeviceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from perfkit.analysis.measured_ceilings import Ceiling, CeilingsReport

app = new_app()


@app.command(
    epilog=examples(
        "perfkit ceilings",
        "perfkit ceilings --only dram,tensor -f json -o own.json",
        "perfkit ceilings --device all --quick -f json -o ours.json",
    )
)
def ceilings(
    device: DevicesOption = "0",
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="GROUPS",
            help="Of dram, l2, l1, shared, simt, tensor, latency, transfer, launch.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer launch shapes.")] = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", min=1, help="Of each group.")
    ] = 180,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Measure how fast the cards at hand really are, part by part.

    Bandwidths, rates of arithmetic, latencies, copies and launches. Rates are the best over many
    access mixes and launch shapes, with the clock that was held and what the data sheet says.
    'perfkit roofline' and others read the JSON file: --ceilings own.json.
    """
    from perfkit.device.ceilings import groups_of, measure_ceilings
    from perfkit.device.child import Limits
    from perfkit.device.items import devices_of
    from perfkit.report.views import ceilings_cards as view

    # a typing error is told before a card is asked for
    groups = groups_of([name.strip() for name in only.split(",")] if only is not None else [])
    with terminable():
        reports = measure_ceilings(
            devices_of(device),
            groups=groups,
            quick=quick,
            limits=Limits(seconds=time_limit),
            on_ceiling=_tell,
        )
    if not any(report.ceilings for report in reports):
        if any(report.interrupted for report in reports):
            raise typer.Exit(EXIT_INTERRUPTED)
        raise _nothing(reports)
    emit(
        "ceilings",
        document=lambda: view.document(reports),
        content=lambda: view.content(reports),
        format=format,
        output=output,
    )
    for text in told([(report.environment, _unmeasured(report)) for report in reports]):
        talk.note(text)
    if any(report.interrupted for report in reports):
        raise typer.Exit(EXIT_INTERRUPTED)
    if any(report.unmeasured for report in reports):
        raise typer.Exit(DeviceError.exit_code)


def _unmeasured(report: CeilingsReport) -> Iterator[str]:
    return (f"{one.group} is not measured: {one.message}" for one in report.unmeasured)


def _tell(index: int | None, ceiling: Ceiling) -> None:
    """Each figure as it comes, where somebody watches."""
    if sys.stderr is not None and sys.stderr.isatty():
        from perfkit.report.views.ceilings import amount

        shown = amount(ceiling.value, ceiling.unit)
        talk.note(f"{prefix(index)}{ceiling.group} {ceiling.name}: {shown.text if shown else '-'}")


def _nothing(reports: Sequence[CeilingsReport]) -> DeviceError:
    first = next((one for report in reports for one in report.unmeasured), None)
    return DeviceError(
        f"nothing could be measured: {first.message if first else 'this card has none of it'}",
        hint=first.hint if first else None,
    )
