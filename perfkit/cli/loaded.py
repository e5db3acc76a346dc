"""Which kernels of a file are asked about on which GPUs, and what to say of the others."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from perfkit.cli import kernel_options, options, talk
from perfkit.errors import UnknownTarget, UsageError
from perfkit.files import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from perfkit.arch.types import Target
    from perfkit.cli.failures import Failures
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
        whose = without[0] if len(without) == 1 else f"every kernel of {shown(path)}"
        raise UsageError(
            f"{whose} is compiled for {archs}, which does not run on {capability}",
            hint=f"leave --gpu out to see what is there, or compile for {capability.sm}",
        )
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        talk.note(f"{without[0]}{more}: no code runs on {target.label}")
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
        talk.note(
            f"{shown(path)}: {len(kernels) - len(found)} kernels left out, for "
            f"{', '.join(unknown)}, of which the database has no facts"
        )
    return found


def pairs(
    path: Path | None, gpu: str | None, kernels: KernelOptions, failures: Failures | None = None
) -> list[tuple[Target, KernelResources | None]]:
    """Every kernel with every target it is asked about; kernels first, as in the file.

    Args:
        path: the file; None: numbers are typed.
        gpu: what ``--gpu`` says.
        kernels: how to compile, and which kernels.
        failures: where errors of single targets go; None: the first of them is raised.
    """
    collected: Callable[[], AbstractContextManager[None]] = (
        nullcontext if failures is None else failures.collected
    )
    if path is None:
        kernels.refuse_without_file()
        return [(target, None) for target in options.targets(gpu)]
    if not kernel_options.is_source(path):
        read = kernels.read(path, kernel_options.named_arch(gpu))
        return _of_file(path, read, gpu, collected)
    by_arch: dict[str, tuple[KernelResources, ...] | None] = {}
    found: list[tuple[Target, KernelResources]] = []
    for arch, target in options.architectures(gpu):
        if arch not in by_arch:
            by_arch[arch] = None
            with collected():
                by_arch[arch] = kernels.read(path, arch)
        found += [(target, kernel) for kernel in by_arch[arch] or ()]
    _say_what_is_lacking(found)
    return _together(found, (kernel.demangled for _, kernel in found))


def _say_what_is_lacking(found: list[tuple[Target, KernelResources]]) -> None:
    """A source may have other kernels for another architecture."""
    every = dict.fromkeys(kernel.demangled for _, kernel in found)
    for label in dict.fromkeys(target.label for target, _ in found):
        there = {kernel.demangled for target, kernel in found if target.label == label}
        if lacking := [name for name in every if name not in there]:
            talk.note(f"{label} has no {', no '.join(lacking)}")


def _together(
    found: list[tuple[Target, KernelResources]], names: Iterable[str]
) -> list[tuple[Target, KernelResources | None]]:
    """By kernel, in the order of their ``names``; within one the targets as asked about."""
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [*sorted(found, key=lambda pair: place[pair[1].demangled])]


def _of_file(
    path: Path,
    kernels: tuple[KernelResources, ...],
    gpu: str | None,
    collected: Callable[[], AbstractContextManager[None]],
) -> list[tuple[Target, KernelResources | None]]:
    """Compiled kernels with the targets asked about, or with what they are compiled for."""
    if not gpu or (isinstance(gpu, options.DefaultGpu) and not _runs_any(kernels, gpu)):
        if gpu:
            talk.note(
                f"PERFKIT_GPU={gpu} runs none of {shown(path)}: shown for what it is compiled for"
            )
        return [*with_own_target(path, kernels)]
    found: list[tuple[Target, KernelResources]] = []
    for target in options.targets(gpu):
        with collected():
            found += [(target, kernel) for kernel in running(path, kernels, target)]
    return _together(found, (kernel.demangled for kernel in kernels))


def _runs_any(kernels: Sequence[KernelResources], gpu: str) -> bool:
    from perfkit.models.compatibility import runs_on

    return any(
        runs_on(kernel.arch, target.capability.compute_capability)
        for target in options.targets(gpu)
        for kernel in kernels
    )
