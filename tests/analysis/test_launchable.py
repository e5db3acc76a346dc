"""Many configurations at once answer as each on its own does."""

from __future__ import annotations

import numpy as np
import pytest

from perfkit.analysis.fits import fits
from perfkit.analysis.launchable import launchable, reasons
from perfkit.analysis.obstacles import Reason, ResourceDemand, obstacles
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.errors import UsageError
from perfkit.models.occupancy import occupancy

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
ROWS = 300


def configurations(capability):
    """Around every limit as well as anywhere."""
    random = np.random.default_rng([7, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    return (
        random.choice([*range(1, 1025, 31), 1024, 1025, 2000], ROWS),
        random.choice([*range(256), 0, 255, 256, 300], ROWS),
        random.choice([0, 1024, most - 1, most, most + 1, *range(0, 2 * most, 4099)], ROWS),
        random.choice([0, 1, 1, 1, 2, 8, 9, 16, 17], ROWS),
    )


@EACH
def test_one_by_one_and_all_at_once(capability):
    columns = configurations(capability)
    target = Target(label="", capability=capability, gpu=None)
    found = launchable(capability, *columns)
    why = reasons(capability, *columns)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for row, launches, reason in zip(rows, found.tolist(), why.tolist(), strict=True):
        threads, regs, smem, cluster = row
        demand = ResourceDemand(
            threads=threads, regs=regs, static_bytes=0, dynamic_bytes=smem, cluster=cluster
        )
        assert launches is (fits(target, demand).launches is True), row
        first = next((one.reason for one in obstacles(capability, demand)), None)
        # a size of which nobody knows is no obstacle to one launch, and no promise for many
        known = first or (None if launches else Reason.CLUSTER)
        assert reason == known, row
    assert 0 < found.sum() < ROWS
    expected = {Reason.THREADS, Reason.CLUSTER, Reason.SHARED_MEMORY, Reason.REGISTERS, None}
    assert set(why.tolist()) == expected


@EACH
def test_it_is_the_occupancy_rule(capability):
    threads, regs, smem, _ = configurations(capability)
    legal = (threads <= 1024) & (regs <= 255)
    threads, regs, smem = threads[legal], regs[legal], smem[legal]
    resident = [
        occupancy(capability, threads=t, regs=r, smem=s).blocks_per_sm > 0
        for t, r, s in zip(threads.tolist(), regs.tolist(), smem.tolist(), strict=True)
    ]
    assert launchable(capability, threads, regs, smem).tolist() == resident


def test_inputs_broadcast():
    hopper = catalog.capability("9.0")
    found = launchable(hopper, [[128], [1024]], [0, 64, 65], 0)
    assert found.tolist() == [[True, True, True], [True, True, False]]
    assert reasons(hopper, [[128], [1024]], [0, 64, 65], 0)[1].tolist() == [
        None, None, Reason.REGISTERS,
    ]  # fmt: skip
    assert launchable(hopper, 128, 0, 0).tolist() is True
    assert reasons(hopper, 2048, 0, 0).item() is Reason.THREADS


@pytest.mark.parametrize("cluster", [[-1], [1.5], ["a"]])
def test_bad_clusters(cluster):
    with pytest.raises(UsageError, match="cluster"):
        launchable(catalog.capability("9.0"), 128, 0, 0, cluster)
