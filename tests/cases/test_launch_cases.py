"""Questions that people asked in public: the verified answer comes out, the wrong one does not.

``ANSWERS`` maps each key of an expected answer to how perfkit says it; a key without an entry is
an error, so that no part of a case goes unchecked.
"""

from __future__ import annotations

import re

import pytest

from perfkit.arch import catalog
from perfkit.models.carveout import carveout_bytes
from perfkit.models.cluster import active_clusters
from perfkit.models.inverse import max_potential_block_size, max_registers
from perfkit.models.occupancy import occupancy
from perfkit.models.waves import waves
from tests.cases.questions import FOLDER, cases, steps
from tests.oracle.rows import rows

CASES = cases("launch")


def launch(given):
    capability = catalog.capability(given["compute_capability"])
    return occupancy(
        capability,
        threads=given["threads_per_block"],
        regs=given["registers_per_thread"],
        smem=given["static_smem_bytes"] + given["dynamic_smem_bytes"],
        barriers=given.get("barriers_per_block", 1),
    )


OCCUPANCY = {
    "blocks_per_sm": lambda found: found.blocks_per_sm,
    "active_warps_per_sm": lambda found: found.warps_per_sm,
    "occupancy_pct": lambda found: pytest.approx(100 * found.ratio, abs=1e-4),
    "limiting_factors": lambda found: sorted(found.limited_by),
    "registers_allocated_per_block": lambda found: found.allocated_registers_per_block,
    "registers_allocated_per_thread": lambda found: (
        found.allocated_registers_per_block // (-(-found.threads // 32) * 32)
    ),
}


def check_occupancy(given, expected):
    found = launch(given)
    for key, value in expected.items():
        if key == "block_limits":
            assert {name: getattr(found.limits, name) for name in value} == value
        else:
            assert OCCUPANCY[key](found) == (sorted(value) if isinstance(value, list) else value)


def check_block_size(given, expected):
    grid, block = max_potential_block_size(
        catalog.capability(given["compute_capability"]),
        regs=given["registers_per_thread"],
        sm_count=given["sm_count"],
    )
    assert expected == {"block_size": block, "min_grid": grid}


def check_register_cap(given, expected):
    found = max_registers(
        catalog.capability(given["compute_capability"]),
        threads=given["max_threads"],
        blocks=given["min_blocks"],
    )
    assert expected == {"max_registers_per_thread": found}


def check_carveout(given, expected):
    shared = catalog.capability(given["compute_capability"]).shared_memory
    assert carveout_bytes(shared, given["carveout_percent"]) == expected["smem_KB"] * 1024


def check_shared_limit(given, expected):
    """The capacity that the profiler reported, asked for as a preference."""
    capability = catalog.capability(given["compute_capability"])
    found = with_capacity(
        capability, given["smem_config_KB"] * 1024, smem=given["smem_bytes_per_block"]
    )
    assert expected == {"smem_block_limit": found.limits.shared_memory}


def with_capacity(capability, capacity, *, smem, threads=32, regs=16):
    percent = capacity * 100 // capability.shared_memory.per_sm_bytes
    assert carveout_bytes(capability.shared_memory, percent) == capacity
    return occupancy(capability, threads=threads, regs=regs, smem=smem, carveout=percent)


def check_waves(given, expected):
    found = waves(**{key.removesuffix("_blocks"): value for key, value in given.items()})
    assert expected == {
        "blocks_per_wave": found.blocks_per_wave,
        "full_waves": found.full_waves,
        "partial_wave_blocks": found.partial_wave_blocks,
        "waves": pytest.approx(found.waves, abs=0.005),
        "tail_time_share_max_pct": pytest.approx(100 * found.tail_share_max, abs=0.05),
    }


def check_tiles(given, expected):
    tiles = -(-given["m"] // given["tile_m"]) * -(-given["n"] // given["tile_n"])
    found = waves(grid=tiles, sm_count=given["sm_count"], blocks_per_sm=1)
    assert expected == {
        "tiles": tiles,
        "full_waves": found.full_waves,
        "last_wave_tiles": found.partial_wave_blocks,
    }


def check_clusters(given, expected):
    gpu = catalog.gpu("h100")
    capability = catalog.capability(given["compute_capability"])
    assert gpu.sm_count == given["sm_count"]
    found = active_clusters(
        capability, gpu, size=given["cluster_size"], blocks_per_sm=given["blocks_per_sm"]
    )
    assert found.active_clusters == expected["upper_bound_active_clusters"]
    assert found.exact is expected["exact_claim_allowed"]
    assert capability.cluster.max_portable == expected["max_portable_cluster_size"]


def check_table(given, expected):
    """Each column of the profiler's table; 65,536 bytes configured in one row."""
    capability = catalog.capability(given["compute_capability"])
    table = rows(f"cases/{given['table']}")
    assert len(table) == expected["rows"]
    for row in table:
        found = with_capacity(
            capability,
            int(row["config_size"]),
            smem=int(row["static_shmem"]) + int(row["dynamic_shmem"]),
            threads=int(row["wg"]),
            regs=int(row["regs"]),
        )
        limits = found.limits
        assert limits.shared_memory == int(row["limit_shared_blocks"]), row
        assert limits.registers == int(row["limit_reg_blocks"]), row
        assert limits.warps == int(row["limit_warp_blocks"]), row
        assert limits.blocks == int(row["limit_blocks"]), row
        assert 100 * found.ratio == pytest.approx(float(row["max_warps_pct"]), abs=0.005), row


#: a key that only inputs of this kind have -> how the kind is checked
KINDS = {
    "table": check_table,
    "min_blocks": check_register_cap,
    "task": check_block_size,
    "carveout_percent": check_carveout,
    "smem_config_KB": check_shared_limit,
    "cluster_size": check_clusters,
    "threads_per_block": check_occupancy,
    "tile_m": check_tiles,
    "grid_blocks": check_waves,
}


STEPS = list(steps(CASES))


def test_every_kind_of_question_is_there():
    assert len(CASES) == 19
    kinds = {next(key for key in KINDS if key in step.values[0]) for step in STEPS}
    assert kinds == set(KINDS)


@pytest.mark.parametrize(("given", "expected"), STEPS)
def test_verified_answer(given, expected):
    check = next(check for key, check in KINDS.items() if key in given)
    check(given, expected)


@pytest.mark.parametrize(
    "case", [case for case in CASES if "wrong_answer_to_catch" in case], ids=lambda case: case["id"]
)
def test_wrong_public_answer(case):
    wrong = case["wrong_answer_to_catch"]
    if "max_registers_per_thread" in wrong:
        found = launch(case["checks"][6]["input"] | {"registers_per_thread": 85})
        assert found.blocks_per_sm < 3  # with 85 registers three blocks do not fit
    else:
        assert launch(case["input"]).blocks_per_sm != wrong["blocks_per_sm"]


def test_the_compiler_agrees_on_the_register_cap():
    log = (FOLDER / "j03.mb3.sm_86.ptxas.txt").read_text("utf-8")
    used = int(re.search(r"Used (\d+) registers", log)[1])
    assert used == max_registers(catalog.capability("8.6"), threads=256, blocks=3)


def test_waves_of_the_profiled_h20():
    (case,) = [case for case in CASES if case["id"] == "a09"]
    given = case["checks"][0]["input"]
    found = waves(
        grid=given["grid_blocks"],
        sm_count=given["sm_count"],
        blocks_per_sm=launch(given).blocks_per_sm,
    )
    assert found.waves == case["extra_expected"]["waves"]
