"""How many thread block clusters are resident on a whole GPU.

A cluster lives in one group of SMs, a GPC or a part of one, each of its blocks on another SM. Which
SMs a chip has in which group is fused at the factory: with a product's measured groups the count is
that of the measured card, otherwise all SMs count as one group, which is an upper bound and says
so. In a cluster launch an SM holds fewer blocks than usual, at most 8 on 9.0, even in clusters of
one. A size above the portable one of which no source says whether the capability takes it is
answered as an upper bound, too.

Formula:
    clusters of a group of s SMs = s * blocks_per_sm // size  if  s >= size, else 0
    clusters                     = their sum over all groups
    SMs in use at most           = sum over all groups of min(s, clusters of the group * size)

Units: blocks per cluster, SMs, clusters on the whole GPU.

Source: 240 answers of ``cuOccupancyMaxActiveClusters`` on one H200.

Valid: from 9.0 on.

>>> import perfkit
>>> from perfkit.models.cluster import active_clusters
>>> hopper, h200 = perfkit.capability("9.0"), perfkit.gpu("h200")
>>> found = active_clusters(hopper, h200, size=16, blocks_per_sm=1)
>>> found.active_clusters, found.exact
(7, True)
"""

from __future__ import annotations

from dataclasses import replace

from perfkit.arch.types import Capability, ClusterLimits, Gpu
from perfkit.errors import InvalidLaunch
from perfkit.models.occupancy import Occupancy
from perfkit.record import record


@record
class ClusterOccupancy:
    """Clusters of one size resident on a whole GPU."""

    size: int  #: blocks per cluster
    portable: bool  #: every GPU with clusters takes this size
    active_clusters: int
    known: bool  #: False: no source says whether the capability takes this size
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
    limits = capability.cluster
    largest = limits.max_nonportable
    if size < 1 or (largest is not None and size > largest):
        span = "at least 1 block" if largest is None else f"1 to {largest} blocks"
        fact = "max_portable" if largest is None else "max_nonportable"
        raise InvalidLaunch(
            f"cluster = {size}: {capability.label} takes {span} per cluster",
            hint=capability.cite(f"cluster.{fact}"),
        )
    return limits


def largest_known(limits: ClusterLimits | None) -> int:
    """The largest cluster of which a source says that it launches; 1 where there are none."""
    return 1 if limits is None else limits.max_nonportable or limits.max_portable


def is_open(limits: ClusterLimits | None, size: int) -> bool:
    """Whether no source says if clusters of ``size`` blocks launch."""
    return limits is not None and limits.max_nonportable is None and size > limits.max_portable


def in_clusters(capability: Capability, found: Occupancy) -> Occupancy:
    """``found`` of a launch in clusters, where the SM has fewer slots for blocks."""
    slots = capability.cluster.max_blocks_per_sm if capability.cluster else None
    if slots is None or slots >= found.limits.blocks:
        return found
    limits = replace(found.limits, blocks=slots)
    blocks = min(found.blocks_per_sm, slots)
    return replace(
        found,
        limits=limits,
        limited_by=limits.binding(),
        blocks_per_sm=blocks,
        warps_per_sm=found.warps_per_sm // max(found.blocks_per_sm, 1) * blocks,
    )


def active_clusters(
    capability: Capability, gpu: Gpu, *, size: int, blocks_per_sm: int
) -> ClusterOccupancy:
    """Clusters of ``size`` blocks resident on ``gpu``.

    Args:
        capability: the SM.
        gpu: the product.
        size: blocks per cluster.
        blocks_per_sm: what an SM holds of a launch without clusters, by ``models.occupancy``.

    Raises:
        InvalidLaunch: no clusters on this capability, or a size it does not take.
    """
    limits = check_cluster(capability, size)
    if limits.max_blocks_per_sm is not None:
        blocks_per_sm = min(blocks_per_sm, limits.max_blocks_per_sm)
    groups = gpu.cluster_sm_groups
    known = not is_open(limits, size)
    held = [
        (sms, sms * blocks_per_sm // size if sms >= size else 0)
        for sms in groups or (gpu.sm_count,)
    ]
    count = sum(clusters for _, clusters in held)
    return ClusterOccupancy(
        size=size,
        portable=size <= limits.max_portable,
        active_clusters=count,
        known=known,
        exact=groups is not None and known,
        active_blocks=count * size,
        sms_in_use_at_most=sum(min(sms, clusters * size) for sms, clusters in held),
    )
