"""Of a compiled file: which of its kernels a GPU would load, and what to say of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from perfkit.arch.types import Target
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
    from perfkit.cli import options

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
