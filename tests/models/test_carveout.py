"""Carveout preferences against the header, and the capacities that one H200 configured."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.models.carveout import NO_PREFERENCE, carveout_bytes, configured_bytes
from perfkit.models.occupancy import occupancy
from tests.oracle import header
from tests.oracle.rows import rows

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)


def test_stored_map():
    table = rows("header/carveout_map.csv")
    assert len(table) == 13 * 102
    for row in table:
        shared = catalog.capability(row["cc"]).shared_memory
        percent = int(row["carveout_percent"])
        wanted = shared.per_sm_bytes if percent < 0 else percent * shared.per_sm_bytes // 100
        assert wanted == int(row["requested_bytes"]), row
        assert carveout_bytes(shared, percent) == int(row["effective_kb"]) * 1024, row


@EACH
def test_every_percentage_as_the_header(capability):
    oracle = header.require(capability)
    for percent in range(NO_PREFERENCE, 101):
        found = carveout_bytes(capability.shared_memory, percent)
        assert found == oracle.carveout_bytes(percent), percent


@EACH
def test_a_larger_preference_is_never_less(capability):
    capacities = [carveout_bytes(capability.shared_memory, percent) for percent in range(101)]
    assert capacities == sorted(capacities)
    assert set(capacities) <= set(capability.shared_memory.capacities_bytes)
    assert capacities[-1] == carveout_bytes(capability.shared_memory, NO_PREFERENCE)


# --- what the driver configured on one H200 -----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"), [("h200_shared_config", 701), ("shared_config_2026-11-30", 6740)]
)
def test_capacity_that_the_h200_configured(name, count):
    hopper = catalog.capability("9.0")
    table = [{k: int(v) for k, v in row.items()} for row in rows(f"h200/{name}.csv.gz")]
    assert len(table) == count
    for launch in table:
        threads, smem = launch["block"], launch["dyn_smem"]
        resident = occupancy(hopper, threads=threads, regs=launch["num_regs"], smem=smem)
        configured = configured_bytes(
            hopper,
            threads=threads,
            smem_bytes=smem,
            blocks_per_sm=resident.blocks_per_sm,
            percent=launch["carveout"],
        )
        assert configured == launch["config_bytes"], launch
