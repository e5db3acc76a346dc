"""``rule="driver"`` against NVIDIA's header: stored answers, and the header itself at random."""

from __future__ import annotations

import numpy as np
import pytest

from perfkit.analysis import sweep
from perfkit.arch import catalog
from perfkit.errors import InvalidLaunch
from perfkit.models.carveout import shared_block_limit
from perfkit.models.occupancy import (
    BlockLimits,
    _header_limiters,
    barrier_limit,
    occupancy,
    warp_limit,
)
from perfkit.models.registers import register_limit
from tests.oracle import header
from tests.oracle.rows import rows

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
SEED = 20_240_601

#: The only difference from header 13.0: header 13.5 gives 10.3 32 named barriers, 13.0 gives 64.
CORRECTED_BARRIERS = {(10, 3): 32}


def test_all_capabilities_are_asked():
    assert len(CAPABILITIES) >= 20


def driver_answer(capability, kernel, oracle, *, threads, dynamic_smem):
    """Blocks and limiting factors by the header, with 10.3's barriers as in header 13.5."""
    per_sm = CORRECTED_BARRIERS.get(tuple(capability.compute_capability))
    barriers = kernel.barriers
    if per_sm is None or barriers == 0:
        answer = oracle.one(kernel, threads=threads, dynamic_smem=dynamic_smem)
        return answer.blocks, answer.limited_by
    kernel.barriers = 0
    answer = oracle.one(kernel, threads=threads, dynamic_smem=dynamic_smem)
    kernel.barriers = barriers
    fit = per_sm // barriers
    tie = {"barriers"} if fit <= answer.blocks else set()
    return min(answer.blocks, fit), answer.limited_by | tie


# --- the stored answers -------------------------------------------------------------------------

GOLDEN = rows("header/occupancy_golden.csv.gz")
GOLDEN_NAMES = {"smem": "shared_memory", "regs": "registers"}


def golden(capability):
    mine = [row for row in GOLDEN if row["cc"] == str(capability.compute_capability)]
    # the header lets 256 registers per thread pass from 7.0 on; no kernel can have them
    legal = [row for row in mine if int(row["regs_per_thread"]) <= 255]
    return legal, [row for row in mine if int(row["regs_per_thread"]) > 255]


def ask(capability, row):
    return occupancy(
        capability,
        threads=int(row["block_size"]),
        regs=int(row["regs_per_thread"]),
        smem=int(row["dyn_smem"]),
        carveout=None if row["carveout"] == "-1" else int(row["carveout"]),
    )


def no_limit(limit):
    return header.NO_LIMIT if limit is None else limit


def test_every_stored_answer_belongs_to_a_capability():
    known = {str(capability.compute_capability) for capability in CAPABILITIES}
    assert len(GOLDEN) == 20_000
    assert {row["cc"] for row in GOLDEN} <= known
    assert len(known - {row["cc"] for row in GOLDEN}) <= 1  # 8.8 came with CUDA 13


@EACH
def test_stored_answers(capability):
    legal, impossible = golden(capability)
    for row in legal:
        found = ask(capability, row)
        limits = found.limits
        limiters = {GOLDEN_NAMES.get(name, name) for name in row["limiters"].split("+")}
        if tuple(capability.compute_capability) in CORRECTED_BARRIERS and found.blocks_per_sm == 32:
            limiters.add("barriers")  # 32 barriers tie with 32 blocks of one barrier each
        assert found.blocks_per_sm == int(row["active_blocks"]), row
        assert set(found.limited_by) == limiters, row
        assert no_limit(limits.registers) == int(row["lim_regs"]), row
        assert no_limit(limits.shared_memory) == int(row["lim_smem"]), row
        assert limits.warps == int(row["lim_warps"]), row
        assert limits.blocks == int(row["lim_blocks"]), row
        assert found.allocated_registers_per_block == int(row["alloc_regs_per_block"]), row
        assert found.allocated_shared_bytes_per_block == int(row["alloc_smem_per_block"]), row
    for row in impossible:
        with pytest.raises(InvalidLaunch, match="256"):
            ask(capability, row)


@EACH
def test_stored_answers_as_arrays(capability):
    legal, impossible = golden(capability)
    names = ("block_size", "regs_per_thread", "dyn_smem", "carveout", "active_blocks")
    columns = [np.array([int(row[name]) for row in legal], np.int32) for name in names]
    *inputs, expected = columns
    np.testing.assert_array_equal(sweep.blocks_per_sm(capability, *inputs), expected)
    if impossible:
        inputs = [np.array([int(row[name]) for row in impossible]) for name in names[:4]]
        assert not sweep.blocks_per_sm(capability, *inputs).any()


# --- the header itself --------------------------------------------------------------------------


def random_inputs(capability, count):
    """Threads, registers, bytes, carveout, barriers; the limits are passed by a little."""
    random = np.random.default_rng([SEED, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    return (
        random.integers(1, 1025, count, np.int32),
        random.integers(0, 256, count, np.int32),
        # half of them small, where many blocks fit and the carveout decides
        random.integers(0, np.where(random.random(count) < 0.5, 8192, most + 512), dtype=np.int32),
        random.integers(-1, 101, count, np.int32),
        random.integers(0, 17, count, np.int32),
    )


def our_limits(capability, threads, regs, smem, carveout, barriers):
    """What each resource allows, by the rule as arrays."""
    limits, shared = capability.limits, capability.shared_memory
    fits = shared_block_limit(shared, smem, carveout, rule="driver", opt_in=True, ops=np)
    warps = -(-threads // limits.warp_size)
    by_registers = register_limit(capability.registers, warps, regs, halves=1, ops=np)
    return {
        "warps": warp_limit(limits, threads, halves=1, ops=np),
        "blocks": np.full(threads.shape, limits.max_blocks_per_sm),
        "registers": by_registers,
        "shared_memory": fits,
        "barriers": barrier_limit(limits, barriers, ops=np),
    }


def our_factors(limits):
    """The header's bits for the limiters that ``models.occupancy`` names, row by row."""
    bits = {name: bit for bit, name in header.FACTORS.items()}
    # a limit above all block slots never binds: whatever it is, the set is the same
    capped = np.stack([np.minimum(limits[name], 63) for name in limits]).astype(np.int64)
    keys = sum(column << (6 * place) for place, column in enumerate(capped))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    found = [
        sum(
            bits[name]
            for name in _header_limiters(
                BlockLimits(**dict(zip(limits, row, strict=True)), virtual_resources=None)
            )
        )
        for row in capped[:, first].T.tolist()
    ]
    return np.array(found, np.uint8)[place]


@EACH
def test_a_random_million(capability):
    """Blocks, what each resource allows, and the set of limiters."""
    inputs = threads, regs, smem, carveout, barriers = random_inputs(capability, 1_000_000)
    oracle = header.require(capability)
    per_sm = CORRECTED_BARRIERS.get(tuple(capability.compute_capability))
    ask = {
        "threads": threads,
        "regs": regs,
        "dynamic_smem": smem,
        "carveout": carveout,
        "barriers": barriers if per_sm is None else 0,
    }
    expected, factors = oracle.batch(oracle.kernel(), **ask)
    limits = oracle.batch_limits(oracle.kernel(), **ask)
    if per_sm is not None:
        fit = np.where(barriers == 0, header.NO_LIMIT, per_sm // np.maximum(barriers, 1))
        factors = factors | np.where(fit <= expected, 0x10, 0).astype(np.uint8)
        limits["barriers"] = fit
        expected = np.minimum(expected, fit)
    ours = our_limits(capability, *inputs)
    found = sweep.blocks_per_sm(capability, *inputs)
    for name, a, b in (
        ("blocks", found, expected),
        ("limiters", our_factors(ours), factors),
        *((f"limit of {name}", ours[name], limits[name]) for name in header.LIMITS),
    ):
        differ = np.flatnonzero(a != b)
        assert differ.size == 0, (name, [column[differ[0]] for column in inputs])
    assert 0.05 < (found > 0).mean() < 0.95  # zeros and answers were both asked for
    assert len(np.unique(factors)) > 8  # and ties too


@EACH
@pytest.mark.parametrize("partitioned_caching", ["off", "on", "strict"])
@pytest.mark.parametrize("opt_in", [True, False])
def test_every_field_at_random(capability, partitioned_caching, opt_in):
    oracle = header.require(capability)
    random = np.random.default_rng([SEED, 1])
    for case in zip(*(column.tolist() for column in random_inputs(capability, 400)), strict=True):
        threads, regs, smem, carveout, barriers = case
        virtual = int(random.integers(0, 40))
        static = int(random.integers(0, smem + 1))
        kernel = oracle.kernel(
            regs=regs,
            static_smem=static,
            carveout=carveout,
            barriers=barriers,
            opt_in=opt_in,
            partitioned_caching=partitioned_caching,
            virtual_resources=virtual,
        )
        answer = oracle.one(kernel, threads=threads, dynamic_smem=smem - static)
        blocks, limiters = driver_answer(
            capability, kernel, oracle, threads=threads, dynamic_smem=smem - static
        )
        found = occupancy(
            capability,
            threads=threads,
            regs=regs,
            smem=smem,
            carveout=None if carveout < 0 else carveout,
            barriers=barriers,
            opt_in=opt_in,
            partitioned_caching=partitioned_caching,
            virtual_resources=virtual,
        )
        limits = found.limits
        assert answer.status == 0
        assert found.blocks_per_sm == blocks, case
        assert set(found.limited_by) == limiters, case
        assert no_limit(limits.registers) == answer.registers, case
        assert no_limit(limits.shared_memory) == answer.shared_memory, case
        assert no_limit(limits.virtual_resources) == answer.virtual_resources, case
        assert (limits.warps, limits.blocks) == (answer.warps, answer.block_slots), case
        if tuple(capability.compute_capability) not in CORRECTED_BARRIERS:
            assert no_limit(limits.barriers) == answer.barriers, case
        assert found.allocated_registers_per_block == answer.allocated_registers, case
        assert found.allocated_shared_bytes_per_block == answer.allocated_shared_bytes, case
        assert found.partitioned_caching == (answer.partitioned_caching != 0), case


@EACH
def test_default_limit_with_much_dynamic_memory(capability):
    """Without opting in a block may have 48 KiB, in any mix of static and dynamic."""
    oracle = header.require(capability)
    for smem in (48 * 1024 - 1, 48 * 1024, 48 * 1024 + 1):
        for static in (0, 1000, smem):
            kernel = oracle.kernel(regs=32, static_smem=static, opt_in=False)
            answer = oracle.one(kernel, threads=128, dynamic_smem=smem - static)
            found = occupancy(capability, threads=128, regs=32, smem=smem, opt_in=False)
            assert found.blocks_per_sm == answer.blocks, (smem, static)


def test_header_130_still_has_64_barriers_on_103():
    """When the oracle is moved to a header that says 32, ``CORRECTED_BARRIERS`` must go."""
    capability = catalog.capability("10.3")
    oracle = header.require(capability)
    answer = oracle.one(oracle.kernel(barriers=4), threads=32)
    assert answer.barriers == 64 // 4
    assert capability.limits.block_barriers_per_sm == 32
