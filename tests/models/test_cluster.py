"""Which clusters are refused, which are open, and what an SM holds of a launch in clusters."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.errors import InvalidLaunch
from perfkit.models.cluster import (
    active_clusters,
    check_cluster,
    in_clusters,
    is_open,
    largest_known,
)
from perfkit.models.occupancy import occupancy

HOPPER = catalog.capability("9.0")
WITH_CLUSTERS = [one for one in catalog.all_capabilities() if one.cluster is not None]
EACH = pytest.mark.parametrize(
    "capability", WITH_CLUSTERS, ids=lambda one: one.compute_capability.sm
)


def test_there_are_some_of_either_kind():
    assert len(WITH_CLUSTERS) >= 6
    assert {one.cluster.max_nonportable is None for one in WITH_CLUSTERS} == {True, False}


@EACH
def test_sizes_by_what_the_database_says(capability):
    limits = capability.cluster
    for size in range(-1, 40):
        beyond = limits.max_nonportable is not None and size > limits.max_nonportable
        if size < 1 or beyond:
            with pytest.raises(InvalidLaunch, match=f"^cluster = {size}: ") as error:
                check_cluster(capability, size)
            assert error.value.hint.startswith("cluster.max_")
        else:
            assert check_cluster(capability, size) is limits
            known = size <= limits.max_portable or limits.max_nonportable is not None
            assert is_open(limits, size) is not known
            assert (size <= largest_known(limits)) is known


def test_without_clusters_only_single_blocks_are_known():
    assert largest_known(None) == 1
    assert not is_open(None, 2)


def test_a_size_nobody_knows_of_is_an_upper_bound():
    (target,) = catalog.targets("b300")
    found = active_clusters(target.capability, target.gpu, size=16, blocks_per_sm=4)
    assert found.active_clusters == target.gpu.sm_count * 4 // 16
    assert not found.exact
    assert not found.known
    assert not found.portable


@pytest.mark.parametrize(
    ("threads", "regs", "smem", "blocks", "binding"),
    [
        (32, 16, 0, 8, ("blocks",)),  # 32 without clusters
        (256, 32, 0, 8, ("warps", "blocks", "registers")),  # 64 warps in blocks of 8
        (512, 32, 0, 4, ("warps", "registers")),
        (64, 16, 228 * 1024 // 8 - 1024, 8, ("blocks", "shared_memory")),
        (64, 255, 232448, 1, ("shared_memory",)),
    ],
)
def test_an_sm_of_9_0_has_8_slots_for_blocks_of_clusters(threads, regs, smem, blocks, binding):
    alone = occupancy(HOPPER, threads=threads, regs=regs, smem=smem, rule="hardware")
    found = in_clusters(HOPPER, alone)
    assert (found.limits.blocks, found.blocks_per_sm) == (8, blocks)
    assert found.binding == found.limited_by == binding
    assert found.warps_per_sm == blocks * -(-threads // 32)


def test_a_launch_that_is_impossible_stays_impossible():
    alone = occupancy(HOPPER, threads=1024, regs=65)
    found = in_clusters(HOPPER, alone)
    assert (found.blocks_per_sm, found.warps_per_sm) == (0, 0)
    assert found.refusal == alone.refusal


def test_where_nothing_was_measured_nothing_changes():
    blackwell = catalog.capability("10.0")
    assert blackwell.cluster.max_blocks_per_sm is None
    alone = occupancy(blackwell, threads=32, regs=16)
    assert in_clusters(blackwell, alone) is alone
