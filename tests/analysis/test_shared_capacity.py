"""What the driver configures: one launch, many launches, and the launches that were profiled."""

from __future__ import annotations

import numpy as np
import pytest

from perfkit.analysis.shared_capacity import configured_shared_bytes
from perfkit.arch import catalog
from perfkit.errors import UsageError
from tests.oracle.rows import rows

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
HOPPER = catalog.capability("9.0")
SEED = 20_240_606


@EACH
def test_one_by_one_and_all_at_once(capability):
    random = np.random.default_rng([SEED, *capability.compute_capability])
    top = capability.shared_memory.max_per_block_optin_bytes
    threads = random.integers(1, 1025, 300)
    regs = random.integers(0, 256, 300)
    smem = random.integers(0, random.choice([1, 4096, top + 300], 300))
    percent = random.integers(-1, 101, 300)
    found = configured_shared_bytes(capability, threads, regs, smem, percent)
    one_by_one = [
        configured_shared_bytes(capability, *row)
        for row in zip(
            threads.tolist(), regs.tolist(), smem.tolist(), percent.tolist(), strict=True
        )
    ]
    assert found.tolist() == one_by_one
    assert all(isinstance(value, int) for value in one_by_one)
    capacities = {0, *capability.shared_memory.capacities_bytes}
    assert set(one_by_one) <= capacities
    assert len(set(one_by_one)) >= min(3, len(capacities))


def test_axes_broadcast_like_those_of_a_ufunc():
    threads, smem = np.array([64, 128, 1024])[:, None], np.array([0, 1024, 48 * 1024, 300_000])
    found = configured_shared_bytes(HOPPER, threads, 32, smem, np.array([-1, 0, 50])[:, None, None])
    assert found.shape == (3, 3, 4)
    assert (found[..., -1] == 0).all()  # too much for a block: nothing launches
    assert found[0, 1, 2] == configured_shared_bytes(HOPPER, 128, 32, 48 * 1024)
    assert found[2, 0, 1] == configured_shared_bytes(HOPPER, 64, 32, 1024, 50)
    assert configured_shared_bytes(HOPPER, [64, 128], 32, 0).shape == (2,)


@pytest.mark.parametrize("name", ["h200_shared_config", "shared_config_2026-11-30"])
def test_the_profiled_launches(name):
    table = rows(f"h200/{name}.csv.gz")
    assert len(table) > 700
    columns = {key: np.array([int(row[key]) for row in table]) for key in table[0]}
    found = configured_shared_bytes(
        HOPPER, columns["block"], columns["num_regs"], columns["dyn_smem"], columns["carveout"]
    )
    assert (found == columns["config_bytes"]).all()


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ((0, 32, 0), "threads"),
        ((64, 256, 0), "regs"),
        ((64, 32, -1), "smem"),
        ((64, 32, 0, 101), "carveout"),
        ((64, 32, 0, -2), "carveout"),
        (([64], 32, 0, 101), "carveout"),
        (([64], -1, 0), "regs"),
        (([64.0], 32, 0), "threads"),
        (([64], 32, 0, [0.5]), "carveout"),
    ],
)
def test_bad_input_says_which(inputs, says):
    with pytest.raises(UsageError, match=says):
        configured_shared_bytes(HOPPER, *inputs)
