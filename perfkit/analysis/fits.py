"""Does a launch fit a GPU? It does, it does not and why, or it cannot be told.

``analysis.obstacles`` has the rule, ``analysis.launchable`` the same for many launches at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.analysis.obstacles import Change, Demand, Obstacle, Reason, obstacles, static_shared
from perfkit.analysis.steps import Launch
from perfkit.arch.types import ComputeCapability
from perfkit.compiled.refusals import first_error, shared_excesses
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
    demand: Demand | None = None  #: None: there is no code to launch
    obstacles: tuple[Obstacle, ...] = ()
    conditions: tuple[Change, ...] = ()  #: what the host must ask for, or the launch fails
    unknown: tuple[str, ...] = ()
    occupancy: Occupancy | None = None  #: None: does not launch, or depends on the block size


def fits(target: Target, demand: Demand, *, kernel: str | None = None) -> Fit:
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


def _conditions(capability: Capability, demand: Demand) -> Iterator[Change]:
    """Above what every block gets, and above clusters of portable size, the host must opt in."""
    if demand.dynamic_bytes and demand.smem_bytes > capability.shared_memory.max_per_block_bytes:
        yield Change(kind="opt_in_shared", value=demand.dynamic_bytes)
    if capability.cluster is not None and demand.cluster > capability.cluster.max_portable:
        yield Change(kind="opt_in_cluster", value=demand.cluster)


def _open(capability: Capability, demand: Demand) -> Iterator[str]:
    """What would have to be known, of the hardware or of the block size."""
    limits = capability.cluster
    if (
        limits is not None
        and limits.max_nonportable is None
        and demand.cluster > (limits.max_portable)
    ):
        yield (
            f"{capability.label} takes clusters of {limits.max_portable}; whether of "
            f"{demand.cluster} is not known"
        )
    if demand.threads is None:
        largest = _largest_block(capability, demand)
        if largest < capability.limits.max_threads_per_block:
            yield f"blocks of up to {largest} threads launch, and the block size is not known"


def _largest_block(capability: Capability, demand: Demand) -> int:
    """Obstacles only grow with the block: what holds for the largest holds for all."""
    warp, most = capability.limits.warp_size, capability.limits.max_threads_per_block
    sizes = (replace(demand, threads=threads) for threads in range(most, 0, -warp))
    return next((one.threads or 0 for one in sizes if not any(obstacles(capability, one))), 0)


def _occupancy(capability: Capability, demand: Demand) -> Occupancy | None:
    if demand.threads is None:
        return None
    return Launch(
        threads=demand.threads,
        regs=demand.regs or 0,
        smem=demand.smem_bytes,
        barriers=demand.barriers,
    ).on(capability)


# --- what is there to launch ----------------------------------------------------------------------


def images(
    kernels: Iterable[KernelResources], capability: ComputeCapability
) -> Iterator[tuple[str, tuple[KernelResources, ...], tuple[str, ...]]]:
    """Every kernel of a file with the machine code that ``capability`` would load.

    Yields:
        The shown name; what would be loaded, several where the file holds a kernel more than once
        for that architecture, none where no code runs; and every architecture that there is.
    """
    by_name: dict[str, list[KernelResources]] = {}
    for kernel in kernels:
        by_name.setdefault(kernel.demangled, []).append(kernel)
    for name, found in by_name.items():
        running = [kernel for kernel in found if runs_on(kernel.arch, capability)]
        best = max((_closeness(kernel.arch) for kernel in running), default=None)
        chosen = tuple(kernel for kernel in running if _closeness(kernel.arch) == best)
        yield name, chosen, tuple(dict.fromkeys(kernel.arch for kernel in found))


def _closeness(arch: str) -> tuple[ComputeCapability, bool]:
    """The higher minor, and of equals the code for that chip alone."""
    return ComputeCapability.parse(arch), is_exact(arch)


def no_code(target: Target, *, kernel: str, archs: Iterable[str]) -> Fit:
    """The verdict where a file has the kernel for other architectures only."""
    obstacle = Obstacle(
        reason=Reason.ARCHITECTURE,
        resource="machine_code",
        detail=", ".join(archs),
        changes=(Change(kind="compile_for", target=target.capability.compilation.gencode[0]),),
    )
    return Fit(target=target, kernel=kernel, launches=False, obstacles=(obstacle,))


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
