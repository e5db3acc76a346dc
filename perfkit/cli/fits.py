"""``perfkit fits``: which kernels launch on which GPUs, why not, and what would help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.analysis import fits as analysis
from perfkit.analysis.obstacles import ResourceDemand
from perfkit.cli import kernel_options, options
from perfkit.cli.emit import emit
from perfkit.cli.groups import Without, grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.compiled.origins import library
from perfkit.errors import EXIT_INCONCLUSIVE, EXIT_NO, CompileError, Unavailable, UsageError
from perfkit.models.compatibility import ptx_compiles_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.analysis.fits import Fit
    from perfkit.arch.types import Capability, Target
    from perfkit.errors import PerfkitError
    from perfkit.kernel import KernelResources

app = new_app()


@app.command(
    epilog=examples(
        "perfkit fits kernel.cu -g a100,rtx-4090,h100 --smem-dynamic 100K",
        "perfkit fits libkernels.so -g all --check --failed",
        "perfkit fits -g 8.9,9.0 -t 512 -r 168 -s 64K",
    )
)
@grouped
def fits(
    path: Annotated[
        Path | None, typer.Argument(help="Any file with kernels; without one give numbers.")
    ] = None,
    gpu: options.GpuOption = None,
    *,
    launch: Annotated[LaunchOptions, Without("carveout", "barriers", "grid")],
    check: Annotated[
        bool, typer.Option("--check", help="Exit code 1 if anything does not fit.")
    ] = False,
    failed: Annotated[
        bool,
        typer.Option(
            "--failed", help="Show only what does not launch or cannot be told; all is counted."
        ),
    ] = False,
    kernels: KernelOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show which kernels launch on which GPUs.

    Where one does not: why, with both numbers, and the smallest changes that would make it fit.
    Without --threads a kernel is launched with as many as its launch bounds allow. With --check
    the exit code is 1 if anything does not fit, and 3 if all that is known fits but not all is
    known, or not all of the file can be read.
    """
    found, unread = _found(path, gpu, kernels, launch)
    from perfkit.report.views import fits as view

    emit(
        "fits",
        document=lambda: view.document(found, failed=failed),
        content=lambda: view.content(found, failed=failed),
        format=format,
        output=output,
    )
    verdicts = {fit.launches for fit in found}
    if check and (verdicts != {True} or unread):
        raise typer.Exit(EXIT_NO if False in verdicts else EXIT_INCONCLUSIVE)


def _found(
    path: Path | None, gpu: str | None, kernels: KernelOptions, launch: LaunchOptions
) -> tuple[list[Fit], int]:
    """A verdict for every kernel on every target; kernels first, as in the file.

    Beside them how much of the file could not be read.
    """
    wanted = options.architectures(gpu)
    unread = 0
    if path is None:
        kernels.refuse_without_file()
        return [
            analysis.fits(target, _typed(launch, target.capability, arch))
            for arch, target in wanted
        ], unread
    if kernel_options.is_source(path):
        found = _compiled(path, wanted, kernels, launch)
    else:
        file = kernels.reading(path, kernel_options.named_arch(gpu))
        unread = file.unread
        kernel_options.say(file)
        found = [
            fit for _, target in wanted for fit in _loaded(file.kernels, target, launch, file.ptx)
        ]
    order = {name: place for place, name in enumerate(dict.fromkeys(fit.kernel for fit in found))}
    # what has no kernel to name comes last
    return sorted(found, key=lambda fit: (fit.kernel is None, order[fit.kernel])), unread


def _compiled(
    path: Path,
    wanted: tuple[tuple[str, Target], ...],
    kernels: KernelOptions,
    launch: LaunchOptions,
) -> list[Fit]:
    """A target that the compiler refuses, or does not know, is a verdict too, if others compile.

    Raises:
        CompileError: nothing compiles, and not because of the targets.
        Unavailable: there is no compiler for any of the targets.
    """
    read: dict[str, tuple[KernelResources, ...] | CompileError | Unavailable] = {}
    for arch in dict.fromkeys(arch for arch, _ in wanted):
        try:
            read[arch] = kernels.read(path, arch)
        except (CompileError, Unavailable) as error:
            read[arch] = error
    _raise_where_nothing_is_known(list(read.values()))
    return [fit for arch, target in wanted for fit in _verdicts(read[arch], arch, target, launch)]


def _raise_where_nothing_is_known(
    results: list[tuple[KernelResources, ...] | CompileError | Unavailable],
) -> None:
    from perfkit.compiled.refusals import concerns_target

    errors: list[PerfkitError] = [
        result
        for result in results
        if isinstance(result, Unavailable)
        or (isinstance(result, CompileError) and not concerns_target(result.log))
    ]
    if len(errors) == len(results):
        raise errors[0]


def _verdicts(
    result: tuple[KernelResources, ...] | CompileError | Unavailable,
    arch: str,
    target: Target,
    launch: LaunchOptions,
) -> Iterator[Fit]:
    if isinstance(result, CompileError):
        yield analysis.not_compiled(target, arch=arch, log=result.log)
    elif isinstance(result, Unavailable):
        yield analysis.not_known(target, why=result.message)
    else:
        yield from _loaded(result, target, launch)


def _loaded(
    kernels: tuple[KernelResources, ...],
    target: Target,
    launch: LaunchOptions,
    ptx: tuple[str, ...] = (),
) -> Iterator[Fit]:
    """``ptx``: targets of PTX in the file, which the driver compiles where no code runs."""
    capability = target.capability
    compiled = [one for one in ptx if ptx_compiles_for(one, capability.compute_capability)]
    for name, loaded, there in analysis.images(kernels, capability.compute_capability):
        where = library(there[0].origin)
        if not loaded and compiled:
            why = f"the driver compiles PTX for {compiled[-1]}, and what that needs is not known"
            yield replace(analysis.not_known(target, why=why), kernel=name, origin=where)
        elif not loaded:
            demand = _of_kernel(launch, capability, there[0])
            archs = [kernel.arch for kernel in there]
            fit = analysis.no_code(target, demand, kernel=name, archs=archs)
            yield replace(fit, origin=where)
        for kernel in loaded:
            fit = analysis.fits(target, _of_kernel(launch, capability, kernel), kernel=name)
            yield replace(fit, origin=kernel.origin)


def _typed(launch: LaunchOptions, capability: Capability, arch: str) -> ResourceDemand:
    one = launch.launch(capability, None)
    static = launch.static_bytes(None) or 0
    return ResourceDemand(
        threads=one.threads,
        regs=one.regs,
        static_bytes=static,
        dynamic_bytes=one.smem - static,
        cluster=_cluster(launch, None),
        arch=arch,
    )


def _of_kernel(
    launch: LaunchOptions, capability: Capability, kernel: KernelResources
) -> ResourceDemand:
    """What was not typed comes from the kernel, or is not known, and says why."""
    block_is_known = launch.threads is not None or kernel.usual_threads is not None
    regs_are_known = launch.regs is not None or kernel.registers_per_thread is not None
    shared = (launch.smem, launch.smem_static, kernel.static_shared_bytes)
    shared_is_known = any(size is not None for size in shared)
    # stand-ins, so that everything else is read in the usual way
    one = replace(
        launch,
        threads=launch.threads if block_is_known else "1",
        regs=launch.regs if regs_are_known else 0,
        smem_static=launch.smem_static if shared_is_known else "0",
    ).launch(capability, kernel)
    static = launch.static_bytes(kernel)
    missing = {
        "registers_per_thread": not regs_are_known,
        "static_shared_bytes": not shared_is_known,
    }
    return ResourceDemand(
        threads=one.threads if block_is_known else None,
        regs=one.regs if regs_are_known else None,
        static_bytes=static,
        dynamic_bytes=one.smem - (static or 0),
        cluster=_cluster(launch, kernel),
        barriers=one.barriers,
        arch=kernel.arch,
        max_threads=kernel.max_threads,
        required_threads=kernel.required_threads,
        required_cluster=kernel.required_cluster_blocks,
        max_cluster=kernel.max_cluster_blocks,
        unknown=(
            *(
                f"{_WORDS[name]}: {kernel.unknown.get(name, 'not in the file')}"
                for name, is_missing in missing.items()
                if is_missing
            ),
            *_dynamic_is_open(launch, capability, kernel, static or 0),
        ),
    )


def _cluster(launch: LaunchOptions, kernel: KernelResources | None) -> int:
    """Blocks per cluster; 1 where nothing asks for clusters."""
    size = launch.cluster_size(kernel)
    if size is None:
        return 1
    if size < 1:
        raise UsageError(
            f"--cluster {launch.cluster}: at least 1 block per cluster",
            hint="leave it out for a launch without clusters",
        )
    return size


def _dynamic_is_open(
    launch: LaunchOptions, capability: Capability, kernel: KernelResources, static: int
) -> Iterator[str]:
    """The kernel uses dynamic shared memory, and neither the file nor an option says how much."""
    sizes = (launch.smem, launch.smem_dynamic, kernel.dynamic_shared_bytes)
    if kernel.uses_dynamic_shared and all(size is None for size in sizes):
        most = capability.shared_memory.max_per_block_optin_bytes - static
        yield (
            f"it launches with up to {most:,} B of dynamic shared memory, and how much it gets is "
            "not known: --smem-dynamic says it"
        )


_WORDS: Final = {
    "registers_per_thread": "registers are not known",
    "static_shared_bytes": "static shared memory is not known",
}
