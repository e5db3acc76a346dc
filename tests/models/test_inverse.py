"""Inverse questions: the answer fits, one more byte or register does not, and NVIDIA agrees."""

from __future__ import annotations

import numpy as np
import pytest

from perfkit.arch import catalog
from perfkit.errors import DoesNotFit
from perfkit.models.inverse import (
    available_smem,
    block_sizes_reaching,
    max_potential_block_size,
    max_registers,
)
from perfkit.models.occupancy import occupancy
from tests.oracle import header
from tests.oracle.rows import rows

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
SEED = 20_240_602


# --- block size ---------------------------------------------------------------------------------


def test_potential_block_size_of_the_h200():
    """The driver heeds a preference of 0 % here and no other; the header heeds all of them."""
    hopper = catalog.capability("9.0")
    table = rows("h200/h200_potential_block_size.csv.gz")
    assert len(table) == 1_116
    unlike_the_header = 0
    for row in table:
        percent = int(row["carveout"])

        def suggest(carveout, regs=int(row["num_regs"]), smem=int(row["dyn_smem"])):
            return max_potential_block_size(
                hopper, regs=regs, sm_count=132, smem=smem, carveout=carveout
            )

        driver = int(row["min_grid"]), int(row["block"])
        assert suggest(0 if percent == 0 else None) == driver, row
        unlike_the_header += suggest(None if percent < 0 else percent) != driver
    assert unlike_the_header == 24


@EACH
def test_potential_block_size_of_the_header(capability):
    oracle = header.require(capability, sm_count=10)
    random = np.random.default_rng([SEED, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    for _ in range(30):
        regs, carveout, bound = (
            int(random.integers(*span)) for span in ((256,), (-1, 101), (1, 1025))
        )
        static, per_thread = int(random.integers(most // 8)), int(random.integers(0, 129))
        for smem in (static, lambda block, each=per_thread: block * each):
            kernel = oracle.kernel(regs=regs, carveout=carveout, max_threads=bound)
            expected = oracle.potential_block_size(kernel, dynamic_smem=smem)
            found = max_potential_block_size(
                capability,
                regs=regs,
                sm_count=10,
                smem=smem,
                carveout=None if carveout < 0 else carveout,
                max_threads=bound,
            )
            assert found == expected, (regs, carveout, bound, static, per_thread)


@EACH
def test_block_sizes_reaching_a_ratio(capability):
    found = block_sizes_reaching(capability, ratio=0.5, regs=40, smem=2048)
    for threads in range(32, 1025, 32):
        ratio = occupancy(capability, threads=threads, regs=40, smem=2048).ratio
        assert (threads in found) == (ratio >= 0.5)


# --- shared memory ------------------------------------------------------------------------------


def test_available_smem_of_the_h200():
    """The driver forgets each block's reserve; with it the driver's answer and ours agree."""
    hopper = catalog.capability("9.0")
    shared = hopper.shared_memory
    table = rows("h200/h200_available_smem.csv.gz")
    assert len(table) == 1_500
    too_much = 0
    for row in table[::3]:
        blocks = int(row["num_blocks"])
        launch = {
            "threads": int(row["block"]),
            "regs": int(row["num_regs"]),
            "carveout": None if row["carveout"] == "-1" else int(row["carveout"]),
        }
        if occupancy(hopper, **launch).blocks_per_sm < blocks:
            assert row["err"] == "1", row
            with pytest.raises(DoesNotFit):
                available_smem(hopper, blocks=blocks, **launch)
            continue
        assert row["err"] == "0", row
        answer = int(row["avail"])
        found = available_smem(hopper, blocks=blocks, **launch)
        fits = answer <= shared.max_per_block_optin_bytes and (
            occupancy(hopper, smem=answer, **launch).blocks_per_sm >= blocks
        )
        # where the driver's answer fits it is no larger than ours; where not, it is
        assert (answer <= found) == fits, (row, found)
        too_much += not fits
    assert too_much > 30


@EACH
def test_available_smem_is_the_largest_that_fits(capability):
    oracle = header.require(capability)
    random = np.random.default_rng([SEED, 3, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    answered = 0
    for _ in range(60):
        threads, regs, carveout = (
            int(random.integers(*span)) for span in ((1, 1025), (0, 128), (-1, 101))
        )
        blocks, static = int(random.integers(1, 9)), int(random.integers(0, 12_000))
        launch = {"threads": threads, "regs": regs}
        percent = None if carveout < 0 else carveout
        kernel = oracle.kernel(regs=regs, static_smem=static, carveout=carveout)

        def resident(dynamic, kernel=kernel, threads=threads):
            return oracle.one(kernel, threads=threads, dynamic_smem=dynamic).blocks

        try:
            found = available_smem(
                capability, blocks=blocks, static_smem=static, carveout=percent, **launch
            )
        except DoesNotFit:
            # no amount fits, not even where a larger block makes the driver configure more
            candidates = range(0, most - static + 1, 128)
            assert all(resident(dynamic) < blocks for dynamic in candidates), launch
            continue
        answered += 1
        assert resident(found) >= blocks
        beyond = range(found + 1, most - static + 1, 64)
        assert all(resident(dynamic) < blocks for dynamic in beyond)
    assert answered >= 5


def test_two_blocks_on_hopper():
    """NVIDIA answers 116,736 bytes, with which one block fits: 228 KiB / 2 - 1 KiB is right."""
    hopper = catalog.capability("9.0")
    assert available_smem(hopper, threads=128, regs=32, blocks=2) == 228 * 1024 // 2 - 1024
    oracle = header.require(hopper)
    assert oracle.available_dynamic(oracle.kernel(regs=32), blocks=2, threads=128) == 116_736


# --- registers ----------------------------------------------------------------------------------


@EACH
def test_max_registers_is_the_largest_that_fits(capability):
    oracle = header.require(capability)
    for threads in (1, 32, 33, 64, 96, 128, 224, 256, 512, 1024):
        for blocks in (1, 2, 3, 4, 5, 8, 16, 24, 32):

            def resident(regs, threads=threads):
                return oracle.one(oracle.kernel(regs=regs), threads=threads).blocks

            try:
                found = max_registers(capability, threads=threads, blocks=blocks)
            except DoesNotFit:
                assert resident(1) < blocks
                continue
            assert resident(found) >= blocks
            assert all(resident(regs) < blocks for regs in range(found + 1, 256))


def test_by_the_hardware_s_rule_less_shared_memory_can_be_fewer_blocks():
    """A preference is kept where it is enough for a block: smaller ones leave the SM less."""
    a100 = catalog.capability("8.0")
    launch = {"threads": 32, "regs": 16, "carveout": 50, "rule": "hardware"}
    fits = [
        occupancy(a100, smem=smem, **launch).blocks_per_sm >= 22 for smem in range(0, 8192, 128)
    ]
    most = max(i for i, enough in enumerate(fits) if enough)
    assert not all(fits[:most])
    assert available_smem(a100, blocks=22, **launch) == 128 * most
