"""Which kernels of a file are asked about on which GPUs, and what to say of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from perfkit.cli import kernel_options, options
from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from perfkit.arch.types import Target
    from perfkit.cli.kernel_options import KernelOptions
    from perfkit.kernel import KernelResources


def running(
    path: Path, kernels: Sequence[KernelResources], target: Target
) -> tuple[KernelResources, ...]:
    """The machine code that ``target`` would load, in file order: the closest of each kernel.

    Raises:
        UsageError: it would load none.
    """
    from perfkit.analysis.fits import images

    capability = target.capability.compute_capability
    found = list(images(kernels, capability))
    chosen = {id(kernel) for _, loaded, _ in found for kernel in loaded}
    without = [name for name, loaded, _ in found if not loaded]
    if not chosen:
        archs = ", ".join(dict.fromkeys(kernel.arch for kernel in kernels))
        whose = without[0] if len(without) == 1 else f"every kernel of {path}"
        raise UsageError(
            f"{whose} is compiled for {archs}, which does not run on {capability}",
            hint=f"leave --gpu out to see what is there, or compile for {capability.sm}",
        )
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        typer.echo(f"perfkit: note: {without[0]}{more}: no code runs on {target.label}", err=True)
    return tuple(kernel for kernel in kernels if id(kernel) in chosen)


def with_own_target(
    path: Path, kernels: Sequence[KernelResources]
) -> list[tuple[Target, KernelResources]]:
    """Each kernel with the capability that it is compiled for.

    Raises:
        UnknownTarget: the database has none of them.
    """
    known: dict[str, Target | UnknownTarget] = {}
    for arch in dict.fromkeys(kernel.arch for kernel in kernels):
        try:
            (known[arch],) = options.targets(arch)
        except UnknownTarget as error:
            known[arch] = error
    found = [
        (target, kernel)
        for kernel in kernels
        if not isinstance(target := known[kernel.arch], UnknownTarget)
    ]
    unknown = [arch for arch, one in known.items() if isinstance(one, UnknownTarget)]
    if not found:
        raise next(one for one in known.values() if isinstance(one, UnknownTarget))
    if unknown:
        typer.echo(
            f"perfkit: note: {path}: {len(kernels) - len(found)} kernels left out, for "
            f"{', '.join(unknown)}, of which the database has no facts",
            err=True,
        )
    return found


def pairs(
    path: Path | None, gpu: str | None, kernels: KernelOptions
) -> list[tuple[Target, KernelResources | None]]:
    """Every kernel with every target it is asked about; kernels first, as in the file."""
    if path is None:
        kernels.refuse_without_file()
        return [(target, None) for target in options.targets(gpu)]
    if not kernel_options.is_source(path):
        return _of_file(path, kernels.read(path, kernel_options.named_arch(gpu)), gpu)
    by_arch: dict[str, tuple[KernelResources, ...]] = {}
    found: list[tuple[int, Target, KernelResources]] = []
    for arch, target in options.architectures(gpu):
        if arch not in by_arch:
            by_arch[arch] = kernels.read(path, arch)
        found += [(position, target, k) for position, k in enumerate(by_arch[arch])]
    return [(target, kernel) for _, target, kernel in sorted(found, key=lambda pair: pair[0])]


def _of_file(
    path: Path, kernels: tuple[KernelResources, ...], gpu: str | None
) -> list[tuple[Target, KernelResources | None]]:
    """Compiled kernels with the targets asked about, or with what they are compiled for."""
    if not gpu:
        return [*with_own_target(path, kernels)]
    place = {id(kernel): number for number, kernel in enumerate(kernels)}
    found = [
        (place[id(kernel)], target, kernel)
        for target in options.targets(gpu)
        for kernel in running(path, kernels, target)
    ]
    return [(target, kernel) for _, target, kernel in sorted(found, key=lambda pair: pair[0])]
