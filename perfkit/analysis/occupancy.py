"""The whole answer for one launch on one target: both rules, the cache split, cliffs, waves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.analysis.configured import configured_shared_bytes
from perfkit.analysis.steps import Launch, Step, steps
from perfkit.models.carveout import NO_PREFERENCE
from perfkit.models.launch import within
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Capability, Gpu, Target
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


@record
class Estimate:
    """One launch on one target."""

    target: Target
    kernel: KernelResources | None
    driver: Occupancy
    hardware: Hardware | None  #: None: nothing is resident
    steps: tuple[Step, ...]
    grid: int | None
    waves: Waves | None
    cluster_size: int | None  #: blocks per cluster asked about
    cluster: ClusterOccupancy | None  #: None: not asked, or a capability, which has no SM count


def estimate(
    target: Target,
    launch: Launch,
    *,
    kernel: KernelResources | None = None,
    grid: int | None = None,
    cluster: int | None = None,
) -> Estimate:
    """Occupancy of ``launch`` on ``target`` by both rules, with everything that follows from it.

    Args:
        target: product or bare capability; waves and clusters need a product.
        launch: threads, registers, shared memory, carveout and barriers; its rule is ignored.
        kernel: what the numbers were read from, if they were.
        grid: blocks in the grid, for waves.
        cluster: blocks per cluster, if the kernel is launched in clusters.

    Raises:
        InvalidLaunch: an input beyond the limits of the capability.
    """
    capability, gpu = target.capability, target.gpu
    if grid is not None:
        within(capability, "grid", grid, 1, None, "")
    launch = replace(launch, rule="driver")
    driver = launch.on(capability)
    hardware = _hardware(capability, launch) if driver.blocks_per_sm else None
    # waves and clusters are about the card, not about what the API says of it
    resident = hardware.occupancy.blocks_per_sm if hardware else 0
    return Estimate(
        target=target,
        kernel=kernel,
        driver=driver,
        hardware=hardware,
        steps=steps(capability, launch),
        grid=grid,
        waves=_waves(gpu, grid, resident) if grid is not None else None,
        cluster_size=cluster,
        cluster=_cluster(target, cluster, resident) if cluster is not None else None,
    )


def _waves(gpu: Gpu | None, grid: int, resident: int) -> Waves | None:
    if gpu is None:
        return None
    from perfkit.models.waves import waves

    return waves(grid=grid, sm_count=gpu.sm_count, blocks_per_sm=resident)


def _cluster(target: Target, size: int, resident: int) -> ClusterOccupancy | None:
    from perfkit.models.cluster import active_clusters, check_cluster

    check_cluster(target.capability, size)
    if target.gpu is None:
        return None
    return active_clusters(target.capability, target.gpu, size=size, blocks_per_sm=resident)


def _hardware(capability: Capability, launch: Launch) -> Hardware:
    shared = capability.shared_memory
    found = replace(launch, rule="hardware").on(capability)
    configured: int = configured_shared_bytes(
        capability,
        launch.threads,
        launch.regs,
        launch.smem,
        NO_PREFERENCE if launch.carveout is None else launch.carveout,
    )
    l1 = capability.l1.unified_with_shared_bytes
    return Hardware(
        occupancy=found,
        configured_shared_bytes=configured,
        l1_bytes=(capability.l1.dedicated_bytes or 0) if l1 is None else l1 - configured,
        evidence=shared.carveout_evidence or "dedicated",
        is_upper_bound="registers" in found.binding
        and launch.threads <= _PLACEMENT_IS_EXACT_ABOVE_WARPS * capability.limits.warp_size,
    )


#: Register-limited blocks of one or two warps are not always packed perfectly onto the four
#: partitions: 19 to 29 resident where 32 fit (31,321 launches on one H200).
_PLACEMENT_IS_EXACT_ABOVE_WARPS = 2
