"""What must hold for every launch, whatever the numbers are."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog
from perfkit.errors import InvalidLaunch
from perfkit.models.occupancy import occupancy

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
THREADS = np.arange(1, 1025)
REGS = np.arange(1, 256)
SEED = 20_240_603


def smem_axis(capability):
    """Every allocation unit up to beyond the opt-in limit, its last byte and its first."""
    shared = capability.shared_memory
    ends = np.arange(
        0, shared.max_per_block_optin_bytes + 1024, shared.allocation_unit_bytes, dtype=np.int64
    )
    return np.sort(np.concatenate([ends, ends + 1]))


def never_rises(blocks, axis):
    return bool((np.diff(blocks, axis=axis) <= 0).all())


@EACH
def test_more_of_a_resource_is_never_more_blocks(capability):
    by_block = blocks_per_sm(capability, THREADS[:, None], REGS[None, :], 0)
    assert by_block.shape == (1024, 255)
    assert never_rises(by_block, 0)
    assert never_rises(by_block, 1)
    by_barriers = blocks_per_sm(capability, 32, 8, 0, -1, np.arange(1, 17))
    assert never_rises(by_barriers, 0)


@EACH
def test_shared_memory_and_preference(capability):
    smem, percent = smem_axis(capability)[:, None], np.arange(101)[None, :]
    found = {
        rule: blocks_per_sm(capability, 32, 8, smem, percent, rule=rule)
        for rule in ("driver", "hardware")
    }
    automatic = blocks_per_sm(capability, 32, 8, smem)
    assert never_rises(found["driver"], 0)
    for blocks in found.values():
        assert never_rises(-blocks, 1)  # a larger preference is never fewer blocks
        assert (blocks <= automatic).all()
    # the SM was never seen to hold fewer blocks than the API says
    assert (found["hardware"] >= found["driver"]).all()
    assert (automatic == blocks_per_sm(capability, 32, 8, smem, rule="hardware")).all()


@EACH
def test_whole_warps_cost_the_same(capability):
    """33 to 64 threads are two warps."""
    blocks = blocks_per_sm(capability, THREADS[:, None], REGS[None, :], 2048)
    by_warp = blocks.reshape(32, 32, -1)
    assert (by_warp == by_warp[:, :1]).all()


@EACH
def test_every_kernel_without_needs_launches(capability):
    assert (blocks_per_sm(capability, THREADS, 16, 0) > 0).all()
    assert (blocks_per_sm(capability, np.array([0, 1025, 4096]), 16, 0) == 0).all()


@EACH
@pytest.mark.parametrize("rule", ["driver", "hardware"])
def test_the_smallest_limit_binds(capability, rule):
    random = np.random.default_rng([SEED, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    seen = set()
    for _ in range(300):
        found = occupancy(
            capability,
            threads=int(random.integers(1, 1025)),
            regs=int(random.integers(0, 256)),
            smem=int(random.integers(0, random.choice([64, 8192, most]))),
            carveout=int(random.integers(0, 101)),
            barriers=int(random.integers(0, 17)),
            virtual_resources=int(random.integers(0, 40)),
            rule=rule,
        )
        limits = {field.name: getattr(found.limits, field.name) for field in fields(found.limits)}
        present = {name: limit for name, limit in limits.items() if limit is not None}
        least = min(present.values())
        assert found.blocks_per_sm == least
        assert set(found.binding) == {name for name, limit in present.items() if limit == least}
        assert found.warps_per_sm == least * -(-found.threads // 32) <= found.max_warps_per_sm
        assert 0 <= found.ratio <= 1
        assert (found.refusal is None) == (least > 0)
        if rule == "driver":
            # the header adds barriers to a set it chose without them
            assert set(found.binding) <= set(found.limited_by)
        seen |= set(found.binding)
    assert {"warps", "registers", "shared_memory"} <= seen


#: resource of a refusal -> the limit that is then 0
REFUSED = {
    "shared_bytes_per_block": "shared_memory",
    "registers_per_block": "registers",
    "warps_by_registers": "registers",
    "threads_per_block": "warps",
    "barriers_per_block": "barriers",
    "virtual_resources_per_block": "virtual_resources",
}


@EACH
@pytest.mark.parametrize("partitioned_caching", ["off", "on", "strict"])
def test_where_nothing_launches_more_is_needed_than_there_is(capability, partitioned_caching):
    """Whatever is too much is what the refusal names, with two numbers that say so."""
    few = replace(capability, limits=replace(capability.limits, block_barriers_per_sm=8))
    random = np.random.default_rng([SEED, 1, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    seen = set()
    for _ in range(400):
        threads = int(random.integers(1, 1025))
        found = occupancy(
            few,
            threads=threads,
            regs=int(random.choice([0, random.integers(1, 256)])),
            smem=int(random.choice([0, random.integers(0, 2 * most)])),
            carveout=int(random.integers(0, 101)),
            barriers=int(random.choice([1, random.integers(0, 17)])),
            virtual_resources=int(random.choice([0, random.integers(0, 300)])),
            opt_in=bool(random.integers(0, 2)),
            partitioned_caching=partitioned_caching,
            max_threads=int(random.choice([1024, random.integers(1, 1025)])),
        )
        if found.blocks_per_sm:
            assert found.refusal is None
            continue
        assert found.refusal.needed > found.refusal.allowed
        assert getattr(found.limits, REFUSED[found.refusal.resource]) == 0
        seen.add(found.refusal.resource)
    assert {"shared_bytes_per_block", "registers_per_block", "threads_per_block"} <= seen
    assert "barriers_per_block" in seen


@pytest.mark.parametrize("mode", ["foo", "", True, False, None, 1, ["on"]])
def test_a_mode_of_partitioned_caching_that_is_none(mode):
    with pytest.raises(InvalidLaunch, match=r"partitioned_caching = .*: one of off, on, strict"):
        occupancy(CAPABILITIES[0], threads=32, regs=8, partitioned_caching=mode)


@pytest.mark.parametrize("bound", [0, -1, True, 1.5, "128"])
def test_a_launch_bound_that_is_none(bound):
    with pytest.raises(InvalidLaunch, match=r"^max_threads "):
        occupancy(CAPABILITIES[0], threads=32, regs=8, max_threads=bound)


def test_half_an_sm_holds_half_the_warps():
    # 6.1 with 64 registers: 2,048 a warp, 8 warps a partition, 16 in the two of half an SM
    pascal = catalog.capability("6.1")
    found = occupancy(pascal, threads=1024, regs=64, partitioned_caching="strict")
    assert found.refusal == ("warps_by_registers", 32, 16, "registers.per_sm")
