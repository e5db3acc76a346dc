"""``perfkit inspect``: what compiled kernels need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.cli import kernel_options, options
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.kernel_options import KernelOptions

if TYPE_CHECKING:
    from perfkit.compiled.reading import Reading

app = new_app()


@app.command(
    epilog=examples(
        "perfkit inspect kernel.cubin",
        "perfkit inspect libkernels.so -g h100 --kernel gemm",
        "perfkit inspect ~/.triton/cache",
        "perfkit inspect build.log",
        "perfkit inspect kernel.cu -g h100,a100 -I include -D TILE=32",
        "perfkit inspect kernel.cu -g sm_90a --instantiate 'axpy<float, 256>'",
    )
)
@grouped
def inspect(
    path: Annotated[Path, typer.Argument(help="Any file or directory with kernels; - for stdin.")],
    gpu: options.GpuOption = None,
    *,
    kernels: KernelOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """List what compiled kernels need: registers, memory, barriers.

    Sources and PTX are compiled for each architecture of --gpu. Of cubins, object files,
    libraries, wheels, directories and Triton's caches --gpu chooses the code that such a GPU
    would load; without it everything is shown. So with the logs of nvcc -Xptxas -v and cuobjdump's
    resource reports, which are also read from a pipe.
    """
    if kernel_options.is_source(path):
        names = dict.fromkeys(arch for arch, _ in options.architectures(gpu))
        readings = [kernels.reading(path, arch) for arch in names]
    else:
        readings = [_narrowed(path, kernels.reading(path, kernel_options.named_arch(gpu)), gpu)]
    found = [kernel for reading in readings for kernel in reading.kernels]
    notes = list(dict.fromkeys(note for reading in readings for note in reading.notes))
    from perfkit.report.views import inspect as view

    emit(
        "inspect",
        document=lambda: view.document(found, notes),
        content=lambda: view.content(found, notes, sum(reading.unread for reading in readings)),
        format=format,
        output=output,
    )


def _narrowed(path: Path, reading: Reading, gpu: str | None) -> Reading:
    """Of a compiled file what the GPUs asked about would load; everything if none is named."""
    if not gpu or isinstance(gpu, options.DefaultGpu):
        return reading
    from perfkit.cli.loaded import running

    chosen = {
        id(kernel)
        for target in options.targets(gpu)
        for kernel in running(path, reading.kernels, target)
    }
    return replace(reading, kernels=tuple(k for k in reading.kernels if id(k) in chosen))
