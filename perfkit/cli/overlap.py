"""``perfkit overlap``: copies and kernels over streams, as one pipeline."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from perfkit.analysis.overlap import OverlapQuestion
from perfkit.analysis.overlap import overlap as answer
from perfkit.cli import options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.quantities import naming, scaled, share
from perfkit.errors import UsageError
from perfkit.models.engines import Plan
from perfkit.models.links import link as link_named
from perfkit.models.overlap import MAX_CHUNKS, MAX_TRIED
from perfkit.units import parse_traffic

app = new_app()

_MOST_CHUNKS: Final = 128


class Order(StrEnum):
    DEPTH = "depth-first"
    BREADTH = "breadth-first"


class Queue(StrEnum):
    READY = "ready"
    IN_ORDER = "in-order"


def _number(option: str, metavar: str, text: str) -> Any:
    return typer.Option(option, metavar=metavar, help=text)


def _share(text: str | None, option: str) -> float | None:
    return None if text is None else share(text, option)


def _count(option: str, most: int, text: str) -> Any:
    return typer.Option(option, metavar="N", min=1, max=most, help=text)


@app.command(
    epilog=examples(
        "perfkit overlap --h2d 1G --d2h 1G --kernel-ms 20 --link pcie4x16 --chunks 8",
        "perfkit overlap --h2d 1G --d2h 1G --kernel-ms 20 --link pcie4x16 --best",
        "perfkit overlap --h2d 1G --kernel-ms 20 --h2d-gb-per-s 22 --best --chart",
    )
)
@grouped
def overlap(
    h2d: Annotated[
        str | None,
        typer.Option(
            "--h2d", metavar="SIZE", help="Bytes to the GPU in all: 1G is 1 GiB, 1GB decimal."
        ),
    ] = None,
    d2h: Annotated[
        str | None, typer.Option("--d2h", metavar="SIZE", help="Bytes back in all.")
    ] = None,
    kernel_ms: Annotated[
        float, _number("--kernel-ms", "MS", "The kernel's time on all data at once.")
    ] = 0.0,
    link: Annotated[
        str | None,
        typer.Option("--link", metavar="LINK", help="pcie4x16, pcie5x8, ... or nvlink-c2c."),
    ] = None,
    pinned: Annotated[
        bool, typer.Option("--pinned/--pageable", help="How the host's memory is allocated.")
    ] = True,
    chunks: Annotated[
        int | None,
        _count("--chunks", MAX_CHUNKS, "Equal parts, one after another."),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="Look for the number of chunks that takes least.")
    ] = False,
    max_chunks: Annotated[
        int | None,
        _count(
            "--max-chunks",
            MAX_TRIED,
            f"With --best: try up to so many; {_MOST_CHUNKS} if not given.",
        ),
    ] = None,
    streams: Annotated[
        int | None,
        _count("--streams", MAX_CHUNKS, "Streams; if not given one for each chunk."),
    ] = None,
    copy_engines: Annotated[
        int,
        _count("--copy-engines", 2, "1, or one for each direction: 2."),
    ] = 2,
    order: Annotated[
        Order, typer.Option("--order", help="Issue chunk by chunk, or stage by stage.")
    ] = Order.DEPTH,
    queue: Annotated[
        Queue,
        typer.Option("--queue", help="What an engine takes first; in-order: GPUs before Hyper-Q."),
    ] = Queue.READY,
    h2d_gb_per_s: Annotated[
        float | None, _number("--h2d-gb-per-s", "N", "Measured rate to the GPU.")
    ] = None,
    d2h_gb_per_s: Annotated[
        float | None, _number("--d2h-gb-per-s", "N", "Measured rate back.")
    ] = None,
    duplex: Annotated[
        str | None,
        _number("--duplex", "SHARE", "Of its rate that a copy keeps while one goes the other way."),
    ] = None,
    copy_overhead_us: Annotated[
        float | None, _number("--copy-overhead-us", "US", "Time of each copy beside its bytes.")
    ] = None,
    launch_overhead_us: Annotated[
        float | None, _number("--launch-overhead-us", "US", "Time of each kernel beside its work.")
    ] = None,
    *,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show what copies and kernels take when they overlap.

    The data go to the GPU, through a kernel and back in equal chunks over several streams. Shows
    the time, the speed-up, what each engine does when, and other numbers of chunks.
    """
    if best and chunks is not None:
        raise UsageError("--best looks for the number of chunks", hint="leave out --chunks")
    if max_chunks is not None and not best:
        raise UsageError("--max-chunks is how far --best looks", hint="write --best, too")
    overheads = {
        "copy_overhead_s": scaled(copy_overhead_us, "--copy-overhead-us", 1e-6, zero=True),
        "launch_overhead_s": scaled(launch_overhead_us, "--launch-overhead-us", 1e-6, zero=True),
    }
    with naming("--link"):
        wire = None if link is None else link_named(link)
    question = OverlapQuestion(
        h2d_bytes=options.size(h2d, "--h2d", parse_traffic) or 0,
        d2h_bytes=options.size(d2h, "--d2h", parse_traffic) or 0,
        kernel_s=scaled(kernel_ms, "--kernel-ms", 1e-3, zero=True) or 0.0,
        link=wire,
        h2d_bytes_per_s=scaled(h2d_gb_per_s, "--h2d-gb-per-s", 1e9),
        d2h_bytes_per_s=scaled(d2h_gb_per_s, "--d2h-gb-per-s", 1e9),
        duplex_share=scaled(_share(duplex, "--duplex"), "--duplex", 1.0, most=1),
        plan=Plan(
            chunks=1 if chunks is None else chunks,
            streams=streams,
            copy_engines=copy_engines,
            pinned=pinned,
            order=order.value,
            queue=queue.value,
        ),
        most_chunks=(max_chunks or _MOST_CHUNKS) if best else None,
        **{name: value for name, value in overheads.items() if value is not None},
    )
    found = answer(question)
    from perfkit.report.views import overlap as view

    emit(
        "overlap",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
        chart=drawing,
    )
