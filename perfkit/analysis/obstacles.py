"""What keeps a launch from a GPU, and the smallest changes that take each obstacle away.

The rule is ``models.occupancy``: nothing launches where no block would be resident. To it come
limits that are no matter of occupancy: launch bounds, clusters, static shared memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum

from perfkit.analysis.launch import Launch
from perfkit.arch.types import Capability
from perfkit.models.compatibility import static_shared_limit
from perfkit.models.inverse import max_registers
from perfkit.record import record


class Reason(StrEnum):
    """Why a launch fails. Where several hold, the order of ``obstacles`` is this one."""

    COMPILATION = "compilation"  #: the compiler refuses the source for this target
    ARCHITECTURE = "architecture"  #: no machine code that this GPU runs
    THREADS = "threads"  #: a larger block than any kernel may have
    CLUSTER = "cluster"  #: no clusters here, or not of this size
    SHARED_MEMORY = "shared_memory"
    STATIC_SHARED_MEMORY = "static_shared_memory"  #: more than may be declared statically
    REGISTERS = "registers"
    LAUNCH_BOUNDS = "launch_bounds"  #: another block or cluster than the kernel was compiled for


@record
class Remedy:
    """What to do: ``value`` is what the quantity must become, ``target`` what to compile for."""

    kind: str
    value: int | None = None
    target: str | None = None


@record
class Obstacle:
    """``needed`` of ``resource`` is not what is ``allowed``; each change takes it away."""

    reason: Reason
    resource: str
    needed: int | None = None
    allowed: int | None = None
    detail: str | None = None
    changes: tuple[Remedy, ...] = ()


@record
class ResourceDemand:
    """What one launch asks for. ``None``: not known, or not declared."""

    threads: int | None
    regs: int | None
    static_bytes: int | None
    dynamic_bytes: int = 0
    cluster: int = 1
    barriers: int = 1
    arch: str | None = None  #: what the code is compiled for; None: the GPU's plain target
    max_threads: int | None = None  #: the kernel's launch bound
    required_threads: int | None = None
    required_cluster: int | None = None
    max_cluster: int | None = None  #: most blocks per cluster by the kernel's launch bounds
    unknown: tuple[str, ...] = ()  #: what would have to be known, and why it is not

    @property
    def smem_bytes(self) -> int:
        return (self.static_bytes or 0) + self.dynamic_bytes


def obstacles(capability: Capability, demand: ResourceDemand) -> Iterator[Obstacle]:
    """Everything that keeps ``demand`` from launching. What is not known is no obstacle.

    Raises:
        InvalidLaunch: a number that no launch can have, such as no thread at all.
    """
    most = capability.limits.max_threads_per_block
    threads = demand.threads if demand.threads is not None else capability.limits.warp_size
    if threads > most:
        yield _obstacle(Reason.THREADS, "threads_per_block", threads, most, "smaller_block")
    yield from _cluster(capability, demand.cluster)
    yield from _shared(capability, demand)
    yield from _registers(capability, min(threads, most), demand.regs or 0)
    yield from _bounds(demand)


def _obstacle(reason: Reason, resource: str, needed: int, allowed: int, change: str) -> Obstacle:
    """One whose only change is to have what is allowed."""
    changes = (Remedy(kind=change, value=allowed),)
    return Obstacle(
        reason=reason, resource=resource, needed=needed, allowed=allowed, changes=changes
    )


def _bounds(demand: ResourceDemand) -> Iterator[Obstacle]:
    """What the kernel was compiled for."""
    threads, why = demand.threads, Reason.LAUNCH_BOUNDS
    exactly, most, cluster = demand.required_threads, demand.max_threads, demand.required_cluster
    if threads is not None and exactly is not None and threads != exactly:
        yield _obstacle(why, "required_block", threads, exactly, "block_of")
    elif threads is not None and most is not None and threads > most:
        yield _obstacle(why, "launch_bounds", threads, most, "smaller_block")
    if cluster is not None and demand.cluster != cluster:
        change = "cluster_of" if cluster > 1 else "no_cluster"
        yield _obstacle(why, "required_cluster", demand.cluster, cluster, change)
    bound = demand.max_cluster
    if bound is not None and demand.cluster > bound:
        yield _obstacle(why, "cluster_bounds", demand.cluster, bound, "smaller_cluster")


def _cluster(capability: Capability, size: int) -> Iterator[Obstacle]:
    limits, why = capability.cluster, Reason.CLUSTER
    if size <= 1:
        return
    if limits is None:
        change = Remedy(kind="no_cluster")
        yield Obstacle(reason=why, resource="cluster_support", needed=size, changes=(change,))
    elif limits.max_nonportable is not None and size > limits.max_nonportable:
        yield _obstacle(why, "cluster_size", size, limits.max_nonportable, "smaller_cluster")


def _shared(capability: Capability, demand: ResourceDemand) -> Iterator[Obstacle]:
    shared, total = capability.shared_memory, demand.smem_bytes
    refusal = Launch(threads=1, regs=0, smem=total).on(capability).refusal
    if refusal is not None:
        yield _obstacle(
            Reason.SHARED_MEMORY, refusal.resource, total, refusal.allowed, "less_shared"
        )
    arch = demand.arch or capability.compute_capability.sm
    limit = static_shared_limit(arch, shared)
    # where nobody can opt in to more, the total says it already
    if limit < shared.max_per_block_optin_bytes:
        yield from static_shared(capability, demand.static_bytes or 0, limit)


def static_shared(
    capability: Capability, declared: int, limit: int, *, kernel: str | None = None
) -> Iterator[Obstacle]:
    """The obstacle where ``declared`` bytes are more than the ``limit`` of the assembler."""
    if declared <= limit:
        return
    changes = [Remedy(kind="less_static", value=limit)]
    if declared <= capability.shared_memory.max_per_block_optin_bytes:
        changes = [Remedy(kind="dynamic_shared", value=declared)]
        exact = f"{capability.compute_capability.sm}a"
        if exact in capability.compilation.targets:
            changes.append(Remedy(kind="assemble_for", target=exact))
    yield Obstacle(
        reason=Reason.STATIC_SHARED_MEMORY,
        resource="static_shared_bytes",
        needed=declared,
        allowed=limit,
        detail=kernel,
        changes=tuple(changes),
    )


def _registers(capability: Capability, threads: int, regs: int) -> Iterator[Obstacle]:
    most, why = capability.registers.max_per_thread, Reason.REGISTERS
    launch = Launch(threads=threads, regs=min(regs, most), smem=0)
    refusal = launch.on(capability).refusal
    if refusal is None and regs <= most:
        return
    fewer = max_registers(capability, threads=threads, blocks=1)
    if regs > most or refusal is None:
        yield replace(
            _obstacle(why, "registers_per_thread", regs, most, "fewer_registers"),
            changes=(Remedy(kind="fewer_registers", value=fewer),),
        )
        return
    changes = [Remedy(kind="fewer_registers", value=fewer)]
    warp = capability.limits.warp_size
    block = _largest(capability, launch, range((threads - 1) // warp * warp, 0, -warp))
    if block is not None:
        changes.append(Remedy(kind="smaller_block", value=block))
    yield Obstacle(
        reason=why,
        resource=refusal.resource,
        needed=refusal.needed,
        allowed=refusal.allowed,
        changes=tuple(changes),
    )


def _largest(capability: Capability, launch: Launch, sizes: Iterable[int]) -> int | None:
    return next(
        (t for t in sizes if replace(launch, threads=t).on(capability).refusal is None), None
    )
