"""Every step against a scan of all values by the forward rule, and no step that is not one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perfkit.analysis.steps import Launch, steps
from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
SEED = 20_240_605
LAUNCHES = 25


def launches(capability):
    """Random launches, many of them near a limit."""
    random = np.random.default_rng([SEED, *capability.compute_capability])
    top = capability.shared_memory.max_per_block_optin_bytes
    yield Launch(threads=64, regs=16, smem=top // 3)  # shared memory alone binds
    yield Launch(threads=64, regs=100, smem=0)  # registers alone
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
        )


def scan(capability, launch, **axis):
    """Blocks at every value of one input."""
    carveout = -1 if launch.carveout is None else launch.carveout
    inputs = {"threads": launch.threads, "regs": launch.regs, "smem": launch.smem} | axis
    found = blocks_per_sm(
        capability, **inputs, carveout=carveout, barriers=launch.barriers, rule=launch.rule
    )
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

    sizes = np.arange(32, min(1024, launch.max_threads or 1024) + 1, 32)
    blocks = scan(capability, launch, threads=sizes)
    warps = blocks * (sizes // 32)
    worse = (sizes > launch.threads) & (warps < now.warps_per_sm)
    note("block_size", "cost", sizes[worse], blocks[worse])
    better = warps > now.warps_per_sm
    # the nearest; of two equally near the smaller
    order = np.lexsort((sizes[better], abs(sizes[better] - launch.threads)))
    note("block_size", "gain", sizes[better][order], blocks[better][order])
    return found


@EACH
def test_no_step_is_missing_and_none_is_invented(capability):
    kinds = set()
    for launch in launches(capability):
        wanted = expected(capability, launch)
        there = steps(capability, launch)
        found = {(s.quantity, s.kind): (s.value, s.blocks_per_sm) for s in there}
        assert found == wanted, launch
        kinds |= set(wanted)
    assert len(kinds) == 6  # the launches are worth something


@EACH
def test_a_step_says_what_the_launch_would_be_there(capability):
    names = {"registers": "regs", "shared_memory": "smem", "block_size": "threads"}
    for launch in launches(capability):
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


def test_the_hardware_s_rule_is_ignored():
    hopper = catalog.capability("9.0")
    launch = Launch(threads=64, regs=16, smem=1024, carveout=14)
    assert steps(hopper, replace(launch, rule="hardware")) == steps(hopper, launch)


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
