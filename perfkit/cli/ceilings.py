"""``perfkit ceilings``: how fast the card at hand really is, part by part."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.cli import options, talk
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.cli.interrupts import terminable
from perfkit.errors import EXIT_INTERRUPTED, DeviceError

if TYPE_CHECKING:
    from perfkit.analysis.measured_ceilings import Ceiling, CeilingsReport

app = new_app()


@app.command(
    epilog=examples(
        "perfkit ceilings",
        "perfkit ceilings --only dram,tensor -f json -o own.json",
        "perfkit ceilings --device 1 --quick",
    )
)
def ceilings(
    device: Annotated[
        int, typer.Option("--device", metavar="N", help="Which card, as CUDA counts them.")
    ] = 0,
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
    """Measure how fast the card at hand really is, part by part.

    Bandwidths, rates of arithmetic, latencies, copies and launches. Every figure is the best over
    many access mixes and launch shapes, with the clock that was held and what the data sheet says.
    'perfkit roofline' and others read the JSON file: --ceilings own.json.
    """
    from perfkit.device.ceilings import measure_ceilings
    from perfkit.device.child import Limits
    from perfkit.report.views import ceilings as view

    groups = [name.strip() for name in only.split(",")] if only is not None else []
    with terminable():
        report = measure_ceilings(
            device,
            groups=groups,
            quick=quick,
            limits=Limits(seconds=time_limit),
            on_ceiling=_tell,
        )
    if not report.ceilings:
        raise _nothing(report)
    emit(
        "ceilings",
        document=lambda: view.document(report),
        content=lambda: view.content(report),
        format=format,
        output=output,
    )
    if report.unmeasured:
        for one in report.unmeasured:
            talk.note(f"{one.group} is not measured: {one.message}")
        ended = any(one.message == "interrupted" for one in report.unmeasured)
        raise typer.Exit(EXIT_INTERRUPTED if ended else DeviceError.exit_code)


def _tell(ceiling: Ceiling) -> None:
    """Each figure as it comes, where somebody watches."""
    if sys.stderr is not None and sys.stderr.isatty():
        from perfkit.report.views.ceilings import amount

        shown = amount(ceiling.value, ceiling.unit)
        talk.note(f"{ceiling.group} {ceiling.name}: {shown.text if shown else '-'}")


def _nothing(report: CeilingsReport) -> DeviceError:
    first = report.unmeasured[0] if report.unmeasured else None
    return DeviceError(
        f"nothing could be measured: {first.message if first else 'this card has none of it'}",
        hint=first.hint if first else None,
    )
