"""``perfkit roofline``: the least time of a piece of work, and what decides it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.analysis import roofline as analysis
from perfkit.cli import bound_options, options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import block, examples, new_app
from perfkit.cli.quantities import naming
from perfkit.errors import UsageError
from perfkit.models.operations import OPERATIONS, operation, usage
from perfkit.units import parse_count, parse_traffic

if TYPE_CHECKING:
    pass

app = new_app()


class Unit(StrEnum):
    SIMT = "simt"
    TENSOR = "tensor"


@app.command(
    epilog=block("Operations", *map(usage, OPERATIONS))
    + "\n\n"
    + examples(
        "perfkit roofline -g h100 --dtype f16 --op gemm:4096",
        "perfkit roofline -g a100,h100 --dtype bf16 --op attention:8x32x4096x128",
        "perfkit roofline -g hopper --dtype f8 --op gemm:8192 --chart roofline.svg",
        "perfkit roofline -g h100 --dtype f16 --flops 137G --bytes 100M",
        "perfkit roofline -g rtx-5080 --dtype f32 --op gemm:4096 --time 3ms",
    ),
)
@grouped
def roofline(
    gpu: bound_options.GpuOption = None,
    dtype: bound_options.DTypeOption = None,
    op: Annotated[
        str | None,
        typer.Option(
            "--op",
            metavar="OPERATION",
            help="A named operation and its sizes, below; 1M is 2^20. With "
            "',out=f32' the type of the result.",
        ),
    ] = None,
    flops: Annotated[
        str | None, typer.Option("--flops", metavar="N", help="FLOP by hand: 137.4G or 1e12.")
    ] = None,
    bytes: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="Bytes through DRAM: 100MB; 100M and 100MiB are 100 MiB.",
        ),
    ] = None,
    l2_bytes: Annotated[
        str | None,
        typer.Option("--l2-bytes", metavar="SIZE", help="Bytes through L2, if more than DRAM's."),
    ] = None,
    l1_bytes: Annotated[
        str | None,
        typer.Option(
            "--l1-bytes", metavar="SIZE", help="Bytes through L1 and shared memory, likewise."
        ),
    ] = None,
    accumulate: bound_options.AccumulateOption = None,
    sparse: Annotated[
        bool, typer.Option("--sparse", help="The rate for 2:4 structured sparsity.")
    ] = False,
    unit: Annotated[
        Unit | None, typer.Option("--unit", help="The unit that computes; if not given the faster.")
    ] = None,
    clock_mhz: bound_options.ClockOption = None,
    ceilings: bound_options.CeilingsOption = None,
    time: bound_options.TimeOption = None,
    *,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Bound the time of a piece of work, and say what bounds it.

    For a named operation, or FLOP and bytes by hand. Peaks are dense unless --sparse says
    otherwise. With --time also the share of the peak and of the bound that was reached.
    """
    targets, named = bound_options.products(gpu)
    kind = bound_options.required_dtype(dtype)
    if op is not None and (flops is not None or bytes is not None):
        raise UsageError("--op knows its FLOP and bytes", hint="leave out --flops and --bytes")
    with naming("--op"):
        work = None if op is None else operation(op, kind)
    question = analysis.RooflineQuestion(
        dtype=kind,
        work=work,
        flops=bound_options.number(flops, "--flops", parse_count),
        bytes=bound_options.number(bytes, "--bytes", parse_traffic),
        l2_bytes=bound_options.number(l2_bytes, "--l2-bytes", parse_traffic),
        l1_bytes=bound_options.number(l1_bytes, "--l1-bytes", parse_traffic),
        accumulate=bound_options.dtype(accumulate, "--accumulate"),
        sparsity="sparse" if sparse else "dense",
        unit=None if unit is None else unit.value,
        clock_mhz=clock_mhz,
        ceilings=bound_options.ceilings(ceilings, targets),
        time_s=bound_options.seconds(time),
    )
    if op is None and flops is None and bytes is None and l2_bytes is None and l1_bytes is None:
        raise UsageError(
            "no work given", hint="write --op gemm:4096x4096x4096, or --flops 137G --bytes 100M"
        )
    found, left_out = bound_options.answers(
        targets, named, lambda target: analysis.roofline(target, question)
    )
    from perfkit.report.views import roofline as view

    emit(
        "roofline",
        document=lambda: view.document(found, left_out),
        content=lambda: view.content(found, left_out),
        format=format,
        output=output,
        chart=drawing,
    )
