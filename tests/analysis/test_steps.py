"""Every step against a scan of all values by the forward rule, and no step that is not one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perfkit.analysis.launch import Launch
from perfkit.analysis.next_block import next_block
from perfkit.analysis.steps import steps
from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
RULES = pytest.mark.parametrize("rule", ["driver", "hardware"])
SEED = 20_240_605
LAUNCHES = 12


def launches(capability, rule):
    """Random launches, many of them near a limit."""
    random = np.random.default_rng([SEED, *capability.compute_capability])
    top = capability.shared_memory.max_per_block_optin_bytes
    yield Launch(threads=64, regs=16, smem=top // 3, rule=rule)  # shared memory alone binds
    yield Launch(threads=64, regs=100, smem=0, rule=rule)  # registers alone
    for _ in range(LAUNCHES):
        threads = int(random.choice([random.integers(1, 1025), 32 * random.integers(1, 33)]))
        bound = int(random.integers(threads, 1025))
        yield Launch(
            threads=threads,
            regs=int(random.choice([0, random.integers(1, 256), 8 * random.integers(1, 32)])),
            smem=int(random.choice([0, random.integers(0, 4096), random.integers(0, top + 1)])),
            carveout=None if random.random() < 0.5 else int(random.integers(0, 101)),
            barriers=int(random.choice([0, 1, 16])),
            max_threads=None if random.random() < 0.5 else bound,
            rule=rule,
            cluster=2 if random.random() < 0.3 else None,
        )


def scan(capability, launch, **axis):
    """Blocks at every value of one input."""
    carveout = -1 if launch.carveout is None else launch.carveout
    inputs = {"threads": launch.threads, "regs": launch.regs, "smem": launch.smem} | axis
    found = blocks_per_sm(
        capability, **inputs, carveout=carveout, barriers=launch.barriers, rule=launch.rule
    )
    slots = capability.cluster.max_blocks_per_sm if capability.cluster else None
    if launch.cluster is not None and launch.rule == "hardware" and slots is not None:
        found = np.minimum(found, slots)
    return found.astype(int)


def expected(capability, launch):
    """``(quantity, kind) -> (value, blocks)``, by looking at everything."""
    now = launch.on(capability)
    found = {}

    def note(quantity, kind, values, blocks):
        if len(values):
            found[quantity, kind] = (int(values[0]), int(blocks[0]))

    regs = np.arange(256)
    blocks = scan(capability, launch, regs=regs)
    if launch.regs:
        worse = (regs > launch.regs) & (blocks < now.blocks_per_sm)
        note("registers", "cost", regs[worse], blocks[worse])
        better = (regs < launch.regs) & (regs > 0) & (blocks > now.blocks_per_sm)
        note("registers", "gain", regs[better][::-1], blocks[better][::-1])

    smem = np.arange(capability.shared_memory.max_per_block_optin_bytes + 2)
    blocks = scan(capability, launch, smem=smem)
    worse = (smem > launch.smem) & (blocks < now.blocks_per_sm)
    note("shared_memory", "cost", smem[worse], blocks[worse])
    better = (smem < launch.smem) & (blocks > now.blocks_per_sm)
    note("shared_memory", "gain", smem[better][::-1], blocks[better][::-1])

    bound = min(1024, launch.max_threads or 1024)
    # whole warps, and all that the launch bounds leave of the last one
    sizes = np.array(sorted({*range(32, bound + 1, 32), bound} - {launch.threads}))
    blocks = scan(capability, launch, threads=sizes)
    warps = blocks * -(-sizes // 32)
    worse = (sizes > launch.threads) & (warps < now.warps_per_sm)
    note("block_size", "cost", sizes[worse], blocks[worse])
    better = warps > now.warps_per_sm
    # the nearest; of two equally near the smaller
    order = np.lexsort((sizes[better], abs(sizes[better] - launch.threads)))
    note("block_size", "gain", sizes[better][order], blocks[better][order])
    return found


@EACH
@RULES
def test_no_step_is_missing_and_none_is_invented(capability, rule):
    kinds = set()
    for launch in launches(capability, rule):
        wanted = expected(capability, launch)
        there = steps(capability, launch)
        found = {(s.quantity, s.kind): (s.value, s.blocks_per_sm) for s in there}
        assert found == wanted, launch
        kinds |= set(wanted)
    assert len(kinds) == 6  # the launches are worth something


@EACH
@RULES
def test_a_step_says_what_the_launch_would_be_there(capability, rule):
    names = {"registers": "regs", "shared_memory": "smem", "block_size": "threads"}
    for launch in launches(capability, rule):
        now = launch.on(capability)
        for step in steps(capability, launch):
            name = names[step.quantity]
            there = replace(launch, **{name: step.value}).on(capability)
            assert step.change == step.value - getattr(launch, name)
            assert (step.blocks_per_sm, step.warps_per_sm, step.ratio) == (
                there.blocks_per_sm,
                there.warps_per_sm,
                there.ratio,
            )
            assert (step.ratio > now.ratio) is (step.kind == "gain")
            assert (step.ratio < now.ratio) is (step.kind == "cost")


def test_the_hardware_holds_more_and_has_other_steps():
    """5 % of 228 KiB are 11,673 B: by the API 16 KiB, 8 blocks of 2 KiB.

    The SM makes room for the own kilobytes of 11 blocks and their reserves, 22 KiB: 32 KiB, 16.
    """
    hopper = catalog.capability("9.0")
    launch = Launch(threads=128, regs=32, smem=1024, carveout=5)
    found = {(s.quantity, s.kind): s.value for s in steps(hopper, launch)}
    assert found["shared_memory", "cost"] == 1025
    assert found["shared_memory", "gain"] == 768  # 9 blocks of 1,792 B in 16 KiB
    real = replace(launch, rule="hardware")
    assert real.on(hopper).blocks_per_sm == 16  # which is all that warps and registers allow
    found = {(s.quantity, s.kind): s.value for s in steps(hopper, real)}
    assert found["registers", "cost"] == 33
    assert ("shared_memory", "gain") not in found


@pytest.mark.parametrize(("bound", "gain"), [(100, 100), (96, None), (128, 128)])
def test_the_last_warp_that_the_launch_bounds_leave(bound, gain):
    # 13 blocks of 17 KiB whatever the block size: 39 warps of 3 to a block, 52 of 4
    launch = Launch(threads=71, regs=32, smem=16384, max_threads=bound)
    found = {(s.quantity, s.kind): s.value for s in steps(catalog.capability("10.3"), launch)}
    assert found.get(("block_size", "gain")) == gain


def test_no_other_block_size_of_a_kernel_compiled_for_one():
    launch = Launch(threads=96, regs=32, smem=0, fixed_threads=True)
    assert {s.quantity for s in steps(catalog.capability("9.0"), launch)} == {
        "registers",
        "shared_memory",
    }


def test_nothing_is_gained_from_one_of_two_limits():
    hopper = catalog.capability("9.0")
    # 256 threads and 32 registers: warps and registers both allow 8 blocks
    found = {(s.quantity, s.kind) for s in steps(hopper, Launch(threads=256, regs=32, smem=0))}
    assert not any(kind == "gain" for _, kind in found)


def test_the_known_cliff():
    ampere = catalog.capability("8.0")
    found = {(s.quantity, s.kind): s for s in steps(ampere, Launch(threads=256, regs=33, smem=0))}
    # 33 registers take 40 x 32 a warp: 12 warps a partition, 6 blocks; 32 take 16 warps, 8 blocks
    assert found["registers", "gain"].value == 32
    assert found["registers", "gain"].blocks_per_sm == 8
    assert found["registers", "cost"].value == 41


# --- what one more block takes ------------------------------------------------------------------

FIELDS = {"registers": "regs", "shared_memory": "smem", "barriers": "barriers"}


@EACH
@RULES
def test_one_more_block_takes_this_and_no_less(capability, rule):
    """With all of the amounts it is there; with one byte or register more of any it is not."""
    seen = set()
    for launch in launches(capability, rule):
        now, found = launch.on(capability), next_block(capability, launch)
        if found is None:
            assert now.ratio == 1
            continue
        assert {need.resource for need in found.needs} == set(now.binding)
        seen |= {need.resource for need in found.needs}
        if not found.is_possible:
            for need in found.needs:
                if need.at_most is None and need.resource in FIELDS:
                    least = {FIELDS[need.resource]: 0 if need.resource == "shared_memory" else 1}
                    limit = getattr(replace(launch, **least).on(capability).limits, need.resource)
                    assert limit <= now.blocks_per_sm
            continue
        there = replace(launch, **{FIELDS[need.resource]: need.at_most for need in found.needs})
        assert there.on(capability).blocks_per_sm == found.blocks_per_sm > now.blocks_per_sm
        assert there.on(capability).ratio == found.ratio
        for need in found.needs:
            assert need.at_most < need.now == getattr(launch, FIELDS[need.resource])
            more = replace(there, **{FIELDS[need.resource]: need.at_most + 1})
            assert more.on(capability).blocks_per_sm <= now.blocks_per_sm, (launch, need)
    assert {"registers", "shared_memory", "warps"} <= seen


def test_two_limits_that_tie_are_both_named():
    """8.9, 256 threads: 96 registers are 3,072 a warp, 5 warps a partition, 20, 2 blocks of 8.

    33,280 B take 33.5 KiB, of which 2 fit in 100. A third block: a third of the SM is 34,048 B in
    whole units, less 1 KiB; 24 warps are 6 a partition, 2,560 registers each, 80 per thread.
    """
    ada = catalog.capability("8.9")
    found = next_block(ada, Launch(threads=256, regs=96, smem=33280))
    assert [(need.resource, need.at_most, need.now) for need in found.needs] == [
        ("registers", 80, 96),
        ("shared_memory", 33024, 33280),
    ]
    assert (found.blocks_per_sm, found.ratio) == (3, 0.5)


def test_what_is_impossible_at_this_block_size():
    hopper = catalog.capability("9.0")
    found = next_block(hopper, Launch(threads=288, regs=32, smem=0))  # 7 blocks of 9 warps
    assert [(need.resource, need.at_most) for need in found.needs] == [
        ("warps", None),
        ("registers", 24),
    ]
    assert (found.blocks_per_sm, found.is_possible) == (8, False)
    assert next_block(hopper, Launch(threads=256, regs=32, smem=0)) is None  # full


def test_a_launch_that_fails_says_what_the_first_block_takes():
    hopper = catalog.capability("9.0")
    found = next_block(hopper, Launch(threads=1024, regs=65, smem=0))
    assert [(need.resource, need.at_most) for need in found.needs] == [("registers", 64)]
    bound = next_block(hopper, Launch(threads=512, regs=32, smem=0, max_threads=100))
    assert [(need.resource, need.at_most) for need in bound.needs] == [("launch_bounds", 100)]
    # 100 threads are 4 warps: 16 blocks, by warps and by registers
    assert bound.blocks_per_sm == 16
