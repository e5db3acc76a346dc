"""The whole answer for one launch on one target: both rules, the cache split, cliffs, waves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.analysis.launch import Launch
from perfkit.analysis.next_block import NextBlock, next_block
from perfkit.analysis.shared_capacity import configured_shared_bytes
from perfkit.analysis.steps import Step, steps
from perfkit.models.carveout import NO_PREFERENCE, l1_bytes
from perfkit.models.cluster import check_cluster
from perfkit.models.launch import within
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Capability, Target
    from perfkit.kernel import KernelResources
    from perfkit.models.cluster import ClusterOccupancy
    from perfkit.models.occupancy import Occupancy
    from perfkit.models.waves import Waves


@record
class Hardware:
    """What the SM itself does, where that can differ from the occupancy API."""

    occupancy: Occupancy
    configured_shared_bytes: int  #: what the driver will give to shared memory
    l1_bytes: int  #: what that leaves for L1
    evidence: str  #: measured | assumed on this capability; dedicated: nothing to configure
    is_upper_bound: bool  #: small register-limited blocks were seen to stay below it
    steps: tuple[Step, ...]  #: those of the hardware's rule
    next_block: NextBlock | None


@record
class Estimate:
    """One launch on one target."""

    target: Target
    kernel: KernelResources | None
    driver: Occupancy
    hardware: Hardware | None  #: None: nothing is resident
    steps: tuple[Step, ...]  #: those of the occupancy API
    next_block: NextBlock | None  #: by the occupancy API; None: the SM is full
    carveout_asked_bytes: int | None  #: the capacity, where the preference was given as one
    grid: int | None
    waves: Waves | None
    cluster_size: int | None  #: blocks per cluster asked about
    cluster: ClusterOccupancy | None  #: None: not asked, or a capability, which has no SM count

    @property
    def hardware_differs(self) -> bool:
        """Whether the steps of the hardware are not those of the occupancy API."""
        there = self.hardware
        return there is not None and (
            there.steps != self.steps or there.next_block != self.next_block
        )


def estimate(
    target: Target,
    launch: Launch,
    *,
    kernel: KernelResources | None = None,
    grid: int | None = None,
    cluster: int | None = None,
    carveout_asked_bytes: int | None = None,
) -> Estimate:
    """Occupancy of ``launch`` on ``target`` by both rules, with everything that follows from it.

    Args:
        target: product or bare capability; waves and clusters need a product.
        launch: threads, registers, shared memory, carveout and barriers; its rule and cluster
            are ignored.
        kernel: what the numbers were read from, if they were.
        grid: blocks in the grid, for waves.
        cluster: blocks per cluster, if the kernel is launched in clusters.
        carveout_asked_bytes: what the launch's percentage stands for, if a capacity was asked for.

    Raises:
        InvalidLaunch: an input beyond the limits of the capability.
    """
    capability, gpu = target.capability, target.gpu
    if grid is not None:
        within(capability, "grid", grid, 1, None, "")
    if cluster is not None:
        check_cluster(capability, cluster)
    launch = replace(launch, rule="driver", cluster=cluster)
    driver = launch.on(capability)
    cliffs, more = steps(capability, launch), next_block(capability, launch)
    hardware = _hardware(capability, launch, cliffs, more) if driver.blocks_per_sm else None
    # waves and clusters are about the card, not about what the API says of it
    resident = hardware.occupancy.blocks_per_sm if hardware else 0
    clusters = _cluster(target, cluster, resident) if cluster is not None else None
    held = None if gpu is None else gpu.sm_count * resident
    return Estimate(
        target=target,
        kernel=kernel,
        driver=driver,
        hardware=hardware,
        steps=cliffs,
        next_block=more,
        carveout_asked_bytes=carveout_asked_bytes,
        grid=grid,
        waves=_waves(grid, clusters.active_blocks if clusters else held),
        cluster_size=cluster,
        cluster=clusters,
    )


def _waves(grid: int | None, held: int | None) -> Waves | None:
    """``held``: blocks that the whole GPU holds at once."""
    if grid is None or held is None:
        return None
    from perfkit.models.waves import waves

    return waves(grid=grid, sm_count=1, blocks_per_sm=held)


def _cluster(target: Target, size: int, resident: int) -> ClusterOccupancy | None:
    from perfkit.models.cluster import active_clusters

    if target.gpu is None:
        return None
    return active_clusters(target.capability, target.gpu, size=size, blocks_per_sm=resident)


def _hardware(
    capability: Capability, launch: Launch, cliffs: tuple[Step, ...], more: NextBlock | None
) -> Hardware:
    """``cliffs`` and ``more`` of the occupancy API are the hardware's where the rules agree."""
    shared = capability.shared_memory
    real = replace(launch, rule="hardware")
    found = real.on(capability)
    if launch.carveout is not None or launch.cluster is not None:
        cliffs, more = steps(capability, real), next_block(capability, real)
    configured: int = configured_shared_bytes(
        capability,
        launch.threads,
        launch.regs,
        launch.smem,
        NO_PREFERENCE if launch.carveout is None else launch.carveout,
    )
    return Hardware(
        occupancy=found,
        configured_shared_bytes=configured,
        l1_bytes=l1_bytes(capability.l1, configured),
        evidence=shared.carveout_evidence or "dedicated",
        steps=cliffs,
        next_block=more,
        is_upper_bound="registers" in found.binding
        and launch.threads <= _PLACEMENT_IS_EXACT_ABOVE_WARPS * capability.limits.warp_size,
    )


#: Register-limited blocks of one or two warps are not always packed perfectly onto the four
#: partitions: 19 to 29 resident where 32 fit (31,321 launches on one H200).
_PLACEMENT_IS_EXACT_ABOVE_WARPS = 2
