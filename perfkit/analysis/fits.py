"""Does a launch fit a GPU? It does, it does not and why, or it cannot be told.

``analysis.obstacles`` has the rule, ``analysis.launchable`` the same for many launches at once.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from perfkit.analysis.launch import Launch
from perfkit.analysis.obstacles import (
    Obstacle,
    Reason,
    Remedy,
    ResourceDemand,
    obstacles,
    static_shared,
)
from perfkit.arch.types import ComputeCapability
from perfkit.compiled.origins import library
from perfkit.compiled.refusals import first_error, shared_excesses
from perfkit.models.cluster import is_open
from perfkit.models.compatibility import is_exact, runs_on
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from perfkit.arch.types import Capability, Target
    from perfkit.kernel import KernelResources
    from perfkit.models.occupancy import Occupancy


@record
class Fit:
    """The verdict on one launch and one GPU."""

    target: Target
    kernel: str | None  #: as shown; None: only numbers were given
    launches: bool | None  #: None: cannot be told, ``unknown`` says why
    arch: str | None = None  #: what the code is compiled for
    demand: ResourceDemand | None = None  #: None: there is no code to launch
    obstacles: tuple[Obstacle, ...] = ()
    conditions: tuple[Remedy, ...] = ()  #: what the host must ask for, or the launch fails
    unknown: tuple[str, ...] = ()
    occupancy: Occupancy | None = None  #: None: does not launch, or depends on the block size
    origin: str | None = None  #: where the code was read


def fits(target: Target, demand: ResourceDemand, *, kernel: str | None = None) -> Fit:
    """The verdict on ``demand`` on ``target``.

    Args:
        target: product or capability.
        demand: the launch. Without a block size the verdict is that for every block size, if
            there is one.
        kernel: the kernel's name, for the reader.

    Raises:
        InvalidLaunch: a number that no launch can have, such as no thread at all.
    """
    capability = target.capability
    blocking = tuple(obstacles(capability, demand))
    unknown = (*demand.unknown, *_open(capability, demand))
    launches = False if blocking else None if unknown else True
    conditions = () if blocking else tuple(_conditions(capability, demand))
    occupancy = _occupancy(capability, demand) if launches else None
    return Fit(
        target=target,
        kernel=kernel,
        launches=launches,
        arch=demand.arch,
        demand=demand,
        obstacles=blocking,
        conditions=conditions,
        unknown=() if blocking else unknown,
        occupancy=occupancy,
    )


def _conditions(capability: Capability, demand: ResourceDemand) -> Iterator[Remedy]:
    """Above what every block gets, and above clusters of portable size, the host must opt in."""
    if demand.dynamic_bytes and demand.smem_bytes > capability.shared_memory.max_per_block_bytes:
        yield Remedy(kind="opt_in_shared", value=demand.dynamic_bytes)
    if capability.cluster is not None and demand.cluster > capability.cluster.max_portable:
        yield Remedy(kind="opt_in_cluster", value=demand.cluster)


def _open(capability: Capability, demand: ResourceDemand) -> Iterator[str]:
    """What would have to be known, of the hardware or of the block size."""
    limits = capability.cluster
    if limits is not None and is_open(limits, demand.cluster):
        yield (
            f"{capability.label} takes clusters of {limits.max_portable}; whether of "
            f"{demand.cluster} is not known"
        )
    if demand.threads is None:
        largest = _largest_block(capability, demand)
        if largest < capability.limits.max_threads_per_block:
            yield f"blocks of up to {largest} threads launch, and the block size is not known"


def _largest_block(capability: Capability, demand: ResourceDemand) -> int:
    """Obstacles only grow with the block: what holds for the largest holds for all."""
    warp, most = capability.limits.warp_size, capability.limits.max_threads_per_block

    def refused(warps: int) -> bool:
        return any(obstacles(capability, replace(demand, threads=warps * warp)))

    if not refused(most // warp):
        return most
    return (bisect_left(range(1, most // warp), 1, key=refused)) * warp


def _occupancy(capability: Capability, demand: ResourceDemand) -> Occupancy | None:
    if demand.threads is None:
        return None
    return Launch(
        threads=demand.threads,
        regs=demand.regs or 0,
        smem=demand.smem_bytes,
        barriers=demand.barriers,
    ).on(capability)


# --- what is there to launch ----------------------------------------------------------------------


class Images(NamedTuple):
    """The machine code of one kernel, and what of it a GPU would load."""

    kernel: str  #: as shown
    loaded: tuple[KernelResources, ...]  #: none: no code runs; several: the file has several
    there: tuple[KernelResources, ...]  #: all of it, in file order


def images(kernels: Iterable[KernelResources], capability: ComputeCapability) -> Iterator[Images]:
    """Every kernel of a file, in its order.

    Of a wheel or a directory with several libraries every kernel of each: code for a GPU in one
    of them is no help to another.
    """
    by_name: dict[tuple[str, str | None], list[KernelResources]] = {}
    for kernel in kernels:
        by_name.setdefault((kernel.demangled, library(kernel.origin)), []).append(kernel)
    for (name, _), found in by_name.items():
        running = [kernel for kernel in found if runs_on(kernel.arch, capability)]
        best = max((_closeness(kernel.arch) for kernel in running), default=None)
        loaded = tuple(kernel for kernel in running if _closeness(kernel.arch) == best)
        yield Images(kernel=name, loaded=loaded, there=tuple(found))


def _closeness(arch: str) -> tuple[ComputeCapability, bool]:
    """The higher minor, and of equals the code for that chip alone."""
    return ComputeCapability.parse(arch), is_exact(arch)


def no_code(target: Target, demand: ResourceDemand, *, kernel: str, archs: Iterable[str]) -> Fit:
    """The verdict where a file has the kernel for other architectures only.

    What ``demand`` asks for on any architecture may be too much once it is compiled for this one:
    that is said as well. Registers are another matter after another compilation.
    """
    asked = replace(demand, regs=None, arch=None, unknown=())
    obstacle = Obstacle(
        reason=Reason.ARCHITECTURE,
        resource="machine_code",
        detail=", ".join(dict.fromkeys(archs)),
        changes=(Remedy(kind="compile_for", target=target.capability.compilation.gencode[0]),),
    )
    return Fit(
        target=target,
        kernel=kernel,
        launches=False,
        demand=asked,
        obstacles=(obstacle, *obstacles(target.capability, asked)),
    )


def not_compiled(target: Target, *, arch: str, log: str) -> Fit:
    """The verdict where the compiler refuses the source for ``arch``; ``log`` is what it says."""
    refused = shared_excesses(log)
    excesses = tuple(
        obstacle
        for kernel, needed, allowed in refused
        for obstacle in static_shared(target.capability, needed, allowed, kernel=kernel)
    )
    error = Obstacle(reason=Reason.COMPILATION, resource="source", detail=first_error(log))
    return Fit(
        target=target,
        kernel=refused[0].kernel if len(refused) == 1 else None,
        launches=False,
        arch=arch,
        obstacles=excesses or (error,),
    )


def not_known(target: Target, *, why: str) -> Fit:
    """No verdict, for instance because the compiler here does not know the target."""
    return Fit(target=target, kernel=None, launches=None, unknown=(why,))
