"""``perfkit occupancy``: blocks and warps per SM, what limits them, and where the cliffs are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.analysis.occupancy import Estimate, estimate
from perfkit.cli import loaded, options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit
from perfkit.cli.failures import Failures
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions, refuse_what_fits_nowhere

if TYPE_CHECKING:
    from perfkit.arch.types import Target
    from perfkit.kernel import KernelResources

app = new_app()


@app.command(
    epilog=examples(
        "perfkit occupancy kernel.cu -g v100,a100,rtx-4090,h100",
        "perfkit occupancy kernel.cu -g h100 -t 256 --smem-dynamic 48K --grid 4096",
        "perfkit occupancy libkernels.so -g h100 --kernel gemm -f json",
        "perfkit occupancy ~/.triton/cache",
        "perfkit occupancy -g h100 -t 256 -r 40 -s 16K --chart",
    )
)
@grouped
def occupancy(
    path: Annotated[
        Path | None,
        typer.Argument(help="Any file or directory with kernels; without one give --regs."),
    ] = None,
    gpu: options.GpuOption = None,
    *,
    launch: LaunchOptions,
    kernels: KernelOptions,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show how many blocks fit on an SM, and what limits them.

    Also what a little more registers, shared memory or threads would cost, and what a little less
    would gain. What the options leave open is read from the kernel.

    Where some of the targets or kernels have no answer, the others are shown, the errors follow on
    stderr, and the exit code is 2, or 4 if only something is missing here.
    """
    failures = Failures()
    found = estimates(loaded.pairs(path, gpu, kernels, failures), launch, failures)
    if not found:
        failures.raise_first()
    from perfkit.report.views import occupancy as view

    emit(
        "occupancy",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
        chart=drawing,
    )
    failures.report()


def estimates(
    pairs: list[tuple[Target, KernelResources | None]], launch: LaunchOptions, failures: Failures
) -> tuple[Estimate, ...]:
    """The answers for pairs of target and kernel; errors of single ones go to ``failures``.

    Raises:
        InvalidLaunch: shared memory was typed that no block of any target can have.
    """
    launches = []
    for target, kernel in pairs:
        with failures.collected():
            launch.refuse_impossible_clusters(kernel)
            launches.append((target, kernel, launch.launch(target.capability, kernel)))
    refuse_what_fits_nowhere(
        [(target.capability, one.smem) for target, _, one in launches], launch.shared_option()
    )
    found = []
    for target, kernel, one in launches:
        with failures.collected():
            found.append(
                estimate(
                    target,
                    one,
                    kernel=launch.launched(kernel),
                    grid=launch.blocks_in_grid(target.capability),
                    cluster=launch.cluster_size(kernel),
                    carveout_asked_bytes=launch.carveout_asked_bytes(),
                )
            )
    return tuple(found)
