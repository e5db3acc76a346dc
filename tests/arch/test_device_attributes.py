"""The database against what the driver reports of one H200 (``tests/data/h200``)."""

from __future__ import annotations

import json
from typing import Final

import pytest

from perfkit.arch import catalog
from tests.oracle.rows import DATA

ATTRIBUTES: Final[dict[str, int]] = json.loads(
    (DATA / "h200/h200_device_attributes.json").read_text("utf-8")
)
CC: Final = catalog.capability("9.0")
H200: Final = catalog.gpu("h200")

#: attribute without its prefix -> the database's value
CAPABILITY: Final[dict[str, int]] = {
    "COMPUTE_CAPABILITY_MAJOR": CC.compute_capability.major,
    "COMPUTE_CAPABILITY_MINOR": CC.compute_capability.minor,
    "WARP_SIZE": CC.limits.warp_size,
    "MAX_THREADS_PER_BLOCK": CC.limits.max_threads_per_block,
    "MAX_THREADS_PER_MULTIPROCESSOR": CC.limits.max_threads_per_sm,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": CC.limits.max_blocks_per_sm,
    "MAX_BLOCK_DIM_X": CC.limits.max_block_dim[0],
    "MAX_BLOCK_DIM_Y": CC.limits.max_block_dim[1],
    "MAX_BLOCK_DIM_Z": CC.limits.max_block_dim[2],
    "MAX_GRID_DIM_X": CC.limits.max_grid_dim[0],
    "MAX_GRID_DIM_Y": CC.limits.max_grid_dim[1],
    "MAX_GRID_DIM_Z": CC.limits.max_grid_dim[2],
    "MAX_REGISTERS_PER_BLOCK": CC.registers.max_per_block,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": CC.registers.per_sm,
    "MAX_SHARED_MEMORY_PER_BLOCK": CC.shared_memory.max_per_block_bytes,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": CC.shared_memory.max_per_block_optin_bytes,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": CC.shared_memory.per_sm_bytes,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": CC.shared_memory.reserved_per_block_bytes,
    "CLUSTER_LAUNCH": int(CC.cluster is not None),
}
#: the driver gives clocks in kHz; 2 is FP32 to FP64 outside the tensor cores
PRODUCT: Final[dict[str, float | None]] = {
    "MULTIPROCESSOR_COUNT": H200.sm_count,
    "CLOCK_RATE": H200.boost_clock_hz and H200.boost_clock_hz / 1e3,
    "L2_CACHE_SIZE": H200.memory.l2_bytes,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": (
        CC.throughput.f32 / CC.throughput.f64 if CC.throughput.f32 and CC.throughput.f64 else None
    ),
}


@pytest.mark.parametrize("name", CAPABILITY)
def test_capability(name):
    assert CAPABILITY[name] == ATTRIBUTES[f"CU_DEVICE_ATTRIBUTE_{name}"]


@pytest.mark.parametrize("name", PRODUCT)
def test_product(name):
    assert PRODUCT[name] == ATTRIBUTES[f"CU_DEVICE_ATTRIBUTE_{name}"]


def test_bandwidth_is_that_of_the_bus():
    """Twice the memory clock times the width of the bus; the data sheet prints 4.8 TB/s."""
    clock_hz = ATTRIBUTES["CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE"] * 1e3
    width_bytes = ATTRIBUTES["CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH"] / 8
    assert H200.memory.bandwidth_bytes_per_s == pytest.approx(2 * clock_hz * width_bytes, rel=0.01)
