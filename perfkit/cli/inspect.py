"""``perfkit inspect``: what compiled kernels need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perfkit.cli import kernel_options, options
from perfkit.cli.emit import emit
from perfkit.cli.kernel_options import KernelOptions

app = typer.Typer(rich_markup_mode=None)


@app.command(
    epilog="Examples: perfkit inspect kernel.cubin; perfkit inspect kernel.cu -g h100,a100 "
    "-I include -D TILE=32; perfkit inspect kernel.cu -g 9.0 --instantiate 'axpy<float, 256>'"
)
def inspect(
    path: Annotated[Path, typer.Argument(help="A .cu file or a cubin.")],
    gpu: options.GpuOption = None,
    kernel: options.KernelOption = None,
    include: kernel_options.IncludeOption = None,
    define: kernel_options.DefineOption = None,
    std: kernel_options.StdOption = None,
    maxrregcount: kernel_options.MaxRegistersOption = None,
    fast_math: kernel_options.FastMathOption = False,
    instantiate: kernel_options.InstantiateOption = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """List registers, shared memory, stack, barriers and launch bounds of every kernel.

    A source is compiled for each architecture of --gpu; a cubin needs no --gpu and no NVIDIA tool.
    """
    read = KernelOptions(
        include=include,
        define=define,
        std=std,
        max_registers=maxrregcount,
        fast_math=fast_math,
        instantiate=instantiate,
        kernel=kernel,
    )
    if kernel_options.is_source(path):
        capabilities = {t.capability.compute_capability: None for t in options.targets(gpu)}
        found = [k for capability in capabilities for k in read.read(path, capability)]
    else:
        found = list(read.read(path, None))
    from perfkit.report.views import inspect as view

    emit(
        "inspect",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
