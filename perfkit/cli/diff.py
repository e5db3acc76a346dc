"""``perfkit diff``: what a change of the code did to its kernels."""

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
from perfkit.errors import EXIT_INCONCLUSIVE, EXIT_NO, UsageError
from perfkit.files import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.analysis.diff import Diff
    from perfkit.kernel import KernelResources

app = new_app()


@app.command(
    epilog=examples(
        "perfkit diff main.cubin branch.cubin",
        "perfkit diff before.json build.log --check -f markdown",
        "perfkit diff old.cu new.cu -g a100,h100 -t 256",
    )
)
@grouped
def diff(
    old: Annotated[Path, typer.Argument(help="The earlier build: any file with kernels.")],
    new: Annotated[Path, typer.Argument(help="The later one.")],
    gpu: options.GpuOption = None,
    *,
    threads: options.ThreadsOption = None,
    smem_dynamic: options.DynamicOption = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit code 1 if anything got worse.")
    ] = False,
    kernels: KernelOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Compare two builds, the worst change first.

    Worse is lower occupancy, more spills, registers, static shared memory, stack or barriers, or a
    stack that has lost its bound. Kernels are matched by name within one architecture. Sources are
    compiled for --gpu, or for what the other file is compiled for; of compiled files --gpu chooses.
    With --check the exit code is 1 if anything got worse, and 3 if nothing did but something could
    not be compared or read.
    """
    before, after, unread = _builds(old, new, gpu, kernels)
    found = _compared(before, after, threads, smem_dynamic)
    from perfkit.report.views import diff as view

    emit(
        "diff",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
    if check and (code := _exit_code(found, unread)):
        raise typer.Exit(code)


def _exit_code(found: Diff, unread: int) -> int:
    if found.count("worse") or found.count("mixed"):
        return EXIT_NO
    return EXIT_INCONCLUSIVE if found.count("not_comparable") or unread else 0


def _compared(
    before: list[KernelResources],
    after: list[KernelResources],
    threads: str | None,
    smem_dynamic: str | None,
) -> Diff:
    from perfkit.analysis.diff import diff as compare

    return compare(
        before,
        after,
        threads=None
        if threads is None
        else options.volume(options.dimensions(threads, "--threads")),
        dynamic_bytes=options.size(smem_dynamic, "--smem-dynamic"),
    )


def _builds(
    old: Path, new: Path, gpu: str | None, kernels: KernelOptions
) -> tuple[list[KernelResources], list[KernelResources], int]:
    """The kernels of both; a source is compiled for what was asked or for what the other is.

    Beside them how much of the files could not be read.
    """
    if str(old) == str(new) == "-":
        raise UsageError("stdin is one of the two builds, not both", hint="save one to a file")
    sources = [path for path in (old, new) if kernel_options.is_source(path)]
    # options for the compiler are no mistake where one of the two is compiled here
    plain = without_compiler(kernels) if sources else kernels
    compiled: dict[Path, list[KernelResources]] = {}
    unread = 0
    for path in dict.fromkeys((old, new)):
        if path not in sources:
            reading = plain.reading(path, kernel_options.named_arch(gpu))
            kernel_options.say(reading)
            compiled[path] = _chosen(path, reading.kernels, gpu)
            unread += reading.unread
    archs = {kernel.arch: None for side in compiled.values() for kernel in side}
    if sources and (gpu or not archs):
        archs = dict.fromkeys(arch for arch, _ in options.architectures(gpu))
    for path in dict.fromkeys(sources):
        compiled[path] = [kernel for arch in archs for kernel in kernels.read(path, arch)]
    return compiled[old], compiled[new], unread


def without_compiler(kernels: KernelOptions) -> KernelOptions:
    """The options for files that are compiled already, where others are sources."""
    return replace(
        kernels,
        include=None,
        define=None,
        std=None,
        maxrregcount=None,
        fast_math=False,
        instantiate=None,
        compiler="auto",
    )


def _chosen(
    path: Path, kernels: Sequence[KernelResources], gpu: str | None
) -> list[KernelResources]:
    """Of a compiled file what is compiled for one of the GPUs, if any were named."""
    if not gpu or isinstance(gpu, options.DefaultGpu):
        return list(kernels)
    wanted = {target.capability.compute_capability.sm for target in options.targets(gpu)}
    found = [kernel for kernel in kernels if kernel.arch.rstrip("af") in wanted]
    if not found:
        archs = ", ".join(dict.fromkeys(kernel.arch for kernel in kernels))
        raise UsageError(f"{shown(path)} has kernels for {archs}, and none for --gpu {gpu}")
    return found
