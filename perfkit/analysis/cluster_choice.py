"""Which cluster size to launch with: none, unless the kernel has a use for clusters.

A cluster gives a kernel what plain blocks lack: shared memory of other blocks, one copy of the
tensor memory accelerator for several blocks, a barrier among them. A kernel that uses none of this
gains nothing, and loses blocks where clusters do not fit the groups of SMs. So the size is the one
that the launch is asked or compiled for, and otherwise 1; beside it stands the largest portable one
that leaves no SM without work, for a kernel that is to be written for clusters.

Source: CUDA C++ Programming Guide 13.0, Thread Block Clusters and Distributed Shared Memory; the
counts by ``models.cluster``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from perfkit.models.cluster import ClusterOccupancy, active_clusters, check_cluster, largest_known
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.block_sizes import Place, Wish

_SIZES: Final = (1, 2, 4, 8, 16)


class Why(StrEnum):
    ASKED = "asked"  #: the launch asks for it, or the kernel is compiled for it
    NO_USE = "no_use"  #: nothing is known that the kernel would use a cluster for


@record
class ClusterChoice:
    """The cluster size to use on a product that has clusters."""

    size: int  #: blocks per cluster; 1: no cluster
    why: Why
    #: largest portable size with which every SM has a block; None: the product's groups of SMs are
    #: not known
    largest_on_every_sm: int | None
    sizes: tuple[ClusterOccupancy, ...]  #: every power of two, and ``size``, ascending


def choose(place: Place, wish: Wish) -> ClusterChoice | None:
    """None: no clusters there, or the target is a capability, which has no number of SMs."""
    target = place.request.target
    if target.gpu is None or target.capability.cluster is None:
        return None
    size = wish.cluster or 1
    most = largest_known(check_cluster(target.capability, size))
    found = tuple(resident(place, n) for n in sorted({n for n in _SIZES if n <= most} | {size}))
    full = [one for one in found if one.sms_in_use_at_most == target.gpu.sm_count]
    return ClusterChoice(
        size=size,
        why=Why.NO_USE if wish.cluster is None else Why.ASKED,
        largest_on_every_sm=max((one.size for one in full if one.portable), default=1)
        if all(one.exact for one in found if one.portable)
        else None,
        sizes=found,
    )


def resident(place: Place, size: int) -> ClusterOccupancy:
    """Clusters of ``size`` blocks that the product of ``place`` holds at once."""
    target = place.request.target
    assert target.gpu is not None  # noqa: S101 - the callers looked
    return active_clusters(
        target.capability,
        target.gpu,
        size=size,
        blocks_per_sm=place.occupancy.blocks_per_sm,
    )
