"""``perfkit access``: what the accesses and branches of a warp cost."""

from __future__ import annotations

from typing import Annotated

import typer

from perfkit.cli import access_options as given
from perfkit.cli import access_question as question
from perfkit.cli import options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.errors import UsageError

app = new_app(
    no_args_is_help=True,
    help="Memory accesses and branches of a warp.",
    epilog=examples(
        "perfkit access coalescing --stride 2 --width 4",
        "perfkit access banks --tile 32,32 --row lane --column 0",
    ),
)


@app.command(
    epilog=examples(
        "perfkit access coalescing --stride 2",
        "perfkit access coalescing --index 'threadIdx.y * 100 + threadIdx.x' -t 8,32",
        "perfkit access coalescing --struct 'float3 v; half h' -t 256",
    )
)
@grouped
def coalescing(
    *,
    asked: question.Question,
    where: question.BlockOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Count the sectors of accesses to global memory.

    Sectors of 32 bytes (the access to one is a transaction in NVIDIA's Best Practices Guide), cache
    lines of four sectors, and how much of what moves is used. Elements count from the start of an
    aligned array.
    """
    from perfkit.analysis.access import coalescing as cost
    from perfkit.report.views import coalescing as view

    found = tuple(cost(access, asked.warp) for access in asked.accesses(where.read()))
    struct_layout = asked.layout()
    emit(
        "access-coalescing",
        document=lambda: view.document(found, struct_layout),
        content=lambda: view.content(found, struct_layout),
        format=format,
        output=output,
    )


@app.command(
    epilog=examples(
        "perfkit access banks --stride 2 --chart",
        "perfkit access banks --tile 32,32 --row threadIdx.x --column 0",
        "perfkit access banks --index 'lane * 64' --element 2 --width 16",
    )
)
@grouped
def banks(
    *,
    asked: question.Question,
    tile: question.TileOptions,
    store: given.StoreOption = False,
    where: question.BlockOptions,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Count the bank conflicts of accesses to shared memory.

    The wavefronts that each warp takes, the banks that conflict, and the padding or the XOR
    swizzle that removes the conflicts.
    """
    from perfkit.analysis.access import banking
    from perfkit.report.views import banks as view

    accesses = asked.accesses(where.read(), tile)
    found = tuple(banking(access, asked.warp, store=store) for access in accesses)
    struct_layout = asked.layout()
    fixes = (
        {}
        if asked.struct is not None
        else {one.access.label: asked.fixes(one, tile) for one in found}
    )
    emit(
        "access-banks",
        document=lambda: view.document(found, fixes, struct_layout),
        content=lambda: view.content(found, fixes, struct_layout),
        format=format,
        output=output,
        chart=drawing,
    )


@app.command(
    epilog=examples(
        "perfkit access divergence --condition 'threadIdx.x % 2 == 0' -t 256",
        "perfkit access divergence --switch 'threadIdx.x / 4 % 3' -t 128",
        "perfkit access divergence --trips 'threadIdx.x + 1' -t 64",
    )
)
@grouped
def divergence(
    condition: Annotated[
        str | None,
        typer.Option("--condition", metavar="EXPR", help="A branch: true where it is not 0."),
    ] = None,
    switch: Annotated[
        str | None,
        typer.Option("--switch", metavar="EXPR", help="A branch: one path for each value."),
    ] = None,
    trips: Annotated[
        str | None,
        typer.Option("--trips", metavar="EXPR", help="A loop: how often each lane runs it."),
    ] = None,
    *,
    where: question.BlockOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show which warps diverge at a branch or in a loop.

    The serial factor is the time over that of a warp whose lanes all go the same way.
    """
    asked = {"condition": condition, "switch": switch, "trips": trips}
    chosen = [(kind, text) for kind, text in asked.items() if text is not None]
    if len(chosen) != 1:
        raise UsageError(
            "one of --condition, --switch and --trips says what to look at",
            hint="write --condition 'threadIdx.x % 2 == 0'",
        )
    kind, text = chosen[0]
    values = where.read().values(question.expression(text))
    from perfkit.analysis.divergence import divergence as cost
    from perfkit.report.views import divergence as view

    found = cost(text.strip(), kind, values)
    emit(
        "access-divergence",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
