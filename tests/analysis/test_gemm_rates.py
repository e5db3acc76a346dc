"""One SM's share of what is known of a product, with and without a file of ceilings."""

from __future__ import annotations

import pytest

from perfkit.analysis.gemm_rates import rates
from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.gemm_instructions import instruction
from perfkit.models.roofs import Ceilings, choose, levels, roofs

H200, HOPPER = catalog.gpu("h200"), catalog.capability("9.0")
CEILINGS = Ceilings(
    gpu="h200-sxm",
    compute={},
    memory={},
    clock_hz=None,
    origin="here.json",
    mixes={"read": 4.4e12, "write": 4.6e12},
    latencies_s={"dram": 350e-9},
    instructions={"bf16/f32 mma.sync": 660e12},
    launch_s=3e-6,
)


def found(dtype="bf16", shape=None, ceilings=None, name="h200"):
    gpu = catalog.gpu(name)
    capability = catalog.capability(str(gpu.compute_capability))
    unit = "simt" if dtype == "f32" else "tensor"
    one = instruction(capability, DType(dtype), unit, shape)
    roof = choose(roofs(gpu, capability), DType(dtype), label=name, unit=unit)
    by_name = {level.name: level for level in levels(gpu, capability)}
    return rates(gpu, capability, one, roof, by_name, ceilings)


def test_the_data_sheet_while_the_tensor_cores_work():
    one = found(shape=(64, 256, 16))
    assert one.flop_per_s == pytest.approx(2 * 2048 * 1830e6)
    assert one.clock_hz == 1830e6
    assert one.shared_bytes_per_s == pytest.approx(128 * 1830e6)
    assert one.l2_bytes_per_s is None
    assert one.read_bytes_per_s == one.write_bytes_per_s == pytest.approx(4.8e12 / 132)
    assert one.latency_s == pytest.approx(H200.latency.dram_cycles / 1980e6)
    assert (one.launch_s, one.partitions, one.convert_per_s) == (0, 4, None)
    # other work has the other clock
    assert found("f32").clock_hz == 1980e6


def test_what_was_measured():
    one = found(ceilings=CEILINGS)
    assert one.flop_per_s == pytest.approx(660e12 / 132)
    assert one.read_bytes_per_s == pytest.approx(4.4e12 / 132)
    assert one.write_bytes_per_s == pytest.approx(4.6e12 / 132)
    assert (one.latency_s, one.launch_s) == (350e-9, 3e-6)


def test_mma_sync_where_wgmma_has_the_peak():
    """6 clocks instead of 4; f8 as two products of f16."""
    wide = 2 * 2048 * 1830e6
    assert found().flop_per_s == pytest.approx(wide * 2 / 3)
    eight = found("f8")
    assert eight.flop_per_s == pytest.approx(wide * 2 / 3)
    assert eight.convert_per_s == 64 * 1830e6
    assert eight.add_per_s == 128 * 1830e6
    assert found("f64").flop_per_s == pytest.approx(2 * 128 * 1980e6)
    ada = found("f8", name="rtx-4090")
    assert ada.convert_per_s is None
    assert ada.flop_per_s == pytest.approx(catalog_peak("rtx-4090", "f8"))


def catalog_peak(name, dtype):
    gpu = catalog.gpu(name)
    capability = catalog.capability(str(gpu.compute_capability))
    roof = choose(roofs(gpu, capability), DType(dtype), label=name, unit="tensor")
    return roof.flop_per_s / gpu.sm_count
