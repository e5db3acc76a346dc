"""How much is measured, in ``perfkit measure`` and where candidates are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.cli import options
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.measure import Plan

DevicesOption = Annotated[
    str,
    typer.Option("--device", metavar="NUMBERS", help="Which cards: 0, 0,1 or all."),
]
RestOption = Annotated[
    float,
    typer.Option(
        "--rest",
        metavar="SECONDS",
        min=0,
        max=60,
        help="The card idles so long before each burst of 20 ms: its rate before power limits it.",
    ),
]


@record
class Effort:
    """How much is measured, and where."""

    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, max=100, help="Processes.")] = 3
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", min=1, max=10000, help="Of each run.")
    ] = 30
    cold: Annotated[
        bool | None,
        typer.Option(
            "--cold/--hot",
            help="Empty L2 before each sample, or not; if not given as each kernel has it.",
        ),
    ] = None
    rest: RestOption = 0.0
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            min=0.1,
            help="Of one kernel in one run; rests do not count.",
        ),
    ] = 60.0
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit", metavar="SIZE", help="Of host and card each: 8G; 64G of the host."
        ),
    ] = None
    device: DevicesOption = "0"


def plan_of(effort: Effort) -> Plan:
    """How much is measured.

    Raises:
        UsageError: the memory limit is no size.
    """
    from perfkit.device.measure import Plan

    return Plan(
        runs=effort.runs,
        samples=effort.samples,
        rest_s=effort.rest,
        time_limit_s=effort.time_limit,
        memory_limit_bytes=options.size(effort.memory_limit, "--memory-limit"),
    )
