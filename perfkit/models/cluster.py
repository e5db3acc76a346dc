"""How many thread block clusters are resident on a whole GPU.

A cluster lives inside one GPC, so a GPC with ``s`` SMs that each hold ``b`` blocks holds
``s * b // size`` clusters. SMs outside such groups hold clusters of one or two blocks only. Which
SMs a chip has in which GPC is fused at the factory: with a product's measured groups the count is
that of the measured card, otherwise ``sm_count * b // size`` is an upper bound and says so.

Source: 240 answers of ``cuOccupancyMaxActiveClusters`` on one H200. Valid from 9.0 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from perfkit.arch.types import Capability, ClusterLimits, Gpu
from perfkit.errors import InvalidLaunch

#: Largest cluster that SMs outside the GPC groups were seen to hold.
_PAIR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOccupancy:
    size: int  #: blocks per cluster
    portable: bool  #: every GPU with clusters takes this size
    active_clusters: int
    exact: bool  #: False: an upper bound
    active_blocks: int
    sms_in_use_at_most: int


def check_cluster(capability: Capability, size: int) -> ClusterLimits:
    """The cluster limits, or ``InvalidLaunch`` where no launch can have clusters of ``size``."""
    if capability.cluster is None:
        raise InvalidLaunch(
            f"cluster = {size}: {capability.label} has no thread block clusters",
            hint="clusters exist from compute capability 9.0 on",
        )
    largest = capability.cluster.max_nonportable or capability.cluster.max_portable
    if not 1 <= size <= largest:
        raise InvalidLaunch(
            f"cluster = {size}: {capability.label} takes 1 to {largest} blocks per cluster",
            hint=capability.cite("cluster"),
        )
    return capability.cluster


def active_clusters(
    capability: Capability, gpu: Gpu, *, size: int, blocks_per_sm: int
) -> ClusterOccupancy:
    """Clusters of ``size`` blocks resident on ``gpu`` when an SM holds ``blocks_per_sm`` blocks.

    Raises:
        InvalidLaunch: no clusters on this capability, or a size it does not take.
    """
    limits = check_cluster(capability, size)
    groups = gpu.gpc_sm_counts
    if groups is None:
        count = gpu.sm_count * blocks_per_sm // size
    else:
        count = sum(sms * blocks_per_sm // size for sms in groups)
        if size <= _PAIR:
            count += (gpu.sm_count - sum(groups)) * blocks_per_sm // size
    return ClusterOccupancy(
        size=size,
        portable=size <= limits.max_portable,
        active_clusters=count,
        exact=groups is not None,
        active_blocks=count * size,
        sms_in_use_at_most=min(gpu.sm_count, count * size),
    )
