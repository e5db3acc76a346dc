"""``--measure`` of ``gemm`` and ``recommend``: candidates tried on the card at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.cli import options
from perfkit.cli.effort_options import RestOption
from perfkit.cli.emit import emit
from perfkit.cli.interrupts import terminable
from perfkit.cli.progress import progress
from perfkit.errors import EXIT_INTERRUPTED, DeviceError, UnknownTarget, UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perfkit.analysis.tuning import Tuning
    from perfkit.arch.types import Target
    from perfkit.cli.chart_options import ChartOptions
    from perfkit.device.properties import Device
    from perfkit.device.tuning import Try
    from perfkit.models.roofs import Ceilings


@record
class TuneOptions:
    """How much is tried."""

    tries: Annotated[
        int, typer.Option("--tries", metavar="N", min=1, max=1000, help="Candidates to measure.")
    ] = 12
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=100, help="Processes, measuring.")
    ] = 3
    rest: RestOption = 0.0


def refuse_unmeasured(mine: TuneOptions, hint: str) -> None:
    """Raise ``UsageError`` for what says how to measure where nothing is measured."""
    for name in ("tries", "runs", "rest"):
        if getattr(mine, name) != getattr(TuneOptions(), name):
            raise UsageError(f"--{name} says how to measure: it needs --measure", hint=hint)


def present(asked: Sequence[Target]) -> tuple[Device, Target]:
    """The card, which is the one product asked about.

    Raises:
        Unavailable: there is no card.
        UsageError: another product was asked about.
    """
    from perfkit.device.properties import read_device, target_of

    device = read_device()
    here = target_of(device)
    if any(target.label != here.label for target in asked):
        names = ", ".join(target.label for target in asked)
        raise UsageError(
            f"--measure runs on this machine's card, {here.label}, not on {names}",
            hint="write --gpu device",
        )
    if here.gpu is None:
        raise UnknownTarget(
            f"the database has no product {device.name!r}: the model has no SMs and clocks to "
            "rank with",
            hint="CONTRIBUTING says how to add one",
        )
    return device, here


def tune(
    work: Callable[[Try], Tuning],
    mine: TuneOptions,
    *,
    ceilings: Sequence[Ceilings],
    format: options.Format,  # noqa: A002
    output: Path | None,
    drawing: ChartOptions | None = None,
) -> None:
    """Run a tuning and write what it found; a failure of all candidates is one of the device."""
    from perfkit.device.measure import Plan
    from perfkit.device.tuning import Try
    from perfkit.report.views import tuning as view

    plan = Plan(runs=mine.runs, samples=20, most_seconds=0.5, warmup_s=0.03, rest_s=mine.rest)
    with progress("measuring") as tell, terminable():
        found = work(Try(most=mine.tries, plan=plan, ceilings=ceilings, tell=tell))
    emit(
        "tuning",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
        chart=drawing,
        measured=True,
    )
    if found.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if found.chosen is None:
        raise DeviceError(f"none of {len(found.tried)} candidates gave a right result")
