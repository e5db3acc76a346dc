"""Ceilings of products: which one a data type means, other clocks, measured ones."""

from __future__ import annotations

import dataclasses

import pytest

from perfkit.arch import catalog
from perfkit.arch.peaks import PeakKey, peaks
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.roofs import (
    Ceilings,
    choose,
    levels,
    measured_levels,
    measured_roofs,
    roofs,
)

BF16 = PeakKey(DType.BF16, DType.F32, "dense", "tensor")


def ask(key, clock=None):
    gpu = catalog.gpu(key)
    return gpu, catalog.capability(str(gpu.compute_capability)), clock


def chosen(key, dtype, **wanted):
    return choose(roofs(*ask(key)), DType(dtype), label=key, **wanted)


@pytest.mark.parametrize(
    ("key", "dtype", "label"),
    [
        ("h100", "f16", "f16/f32 dense tensor"),
        ("rtx-4090", "f16", "f16/f32 dense tensor"),  # the slower of its two accumulators
        ("h100", "f64", "f64/f64 dense tensor"),
        ("rtx-4090", "f64", "f64/f64 dense simt"),
        ("h100", "f32", "f32/f32 dense simt"),
        ("h100", "tf32", "tf32/f32 dense tensor"),
        ("h100", "s8", "s8/s32 dense tensor"),
        ("tesla-p100-sxm2", "f16", "f16/f16 dense simt"),  # has no other
        ("gtx-1660-ti", "f16", "f16/f16 dense simt"),  # 7.5 without tensor cores
    ],
)
def test_what_a_data_type_alone_means(key, dtype, label):
    assert chosen(key, dtype).label == label


def test_geforce_accumulates_in_f32_at_half_the_rate():
    half = chosen("rtx-4090", "f16")
    full = chosen("rtx-4090", "f16", accumulate=DType.F16)
    assert full.flop_per_s == 2 * half.flop_per_s


def test_sparse_is_never_meant_by_default():
    for gpu in catalog.all_gpus():
        found = roofs(*ask(gpu.key))
        for dtype in {roof.dtype for roof in found}:
            assert choose(found, dtype, label=gpu.key).sparsity == "dense"


def test_roofs_are_the_peaks():
    for key in ("h100", "b300", "t4"):
        gpu, cc, _ = ask(key)
        expected = {peak.key: peak.flop_per_s for peak in peaks(gpu, cc)}
        assert {roof.key: roof.flop_per_s for roof in roofs(gpu, cc)} == expected


def test_a_roof_knows_the_clock_of_its_unit():
    clocks = {roof.label: roof.clock_hz for roof in roofs(*ask("h100"))}
    assert clocks["f16/f32 dense tensor"] == 1830e6
    assert clocks["f64/f64 dense tensor"] == clocks["f32/f32 dense simt"] == 1980e6
    assert {roof.clock_hz for roof in roofs(*ask("b300")) if roof.basis == "published"} == {None}


def test_another_clock_scales_everything_that_has_one():
    usual = {roof.key: roof for roof in roofs(*ask("h100"))}
    for roof in roofs(*ask("h100", 915 * 10**6)):
        before = usual[roof.key]
        assert roof.flop_per_s == pytest.approx(before.flop_per_s * 915e6 / before.clock_hz)
        assert roof.clock_hz == 915e6
    # a figure without a clock cannot be scaled
    at_clock = {roof.key for roof in roofs(*ask("b300", 10**9))}
    assert PeakKey(DType.F4, DType.F32, "dense", "tensor") not in at_clock


@pytest.mark.parametrize(
    ("key", "wanted", "says", "hint"),
    [
        ("v100", {"dtype": "bf16"}, "no bf16 arithmetic", "f64, f32, f16, s8"),
        ("h100", {"dtype": "f64", "sparsity": "sparse"}, "no 'sparse' f64", "dense"),
        ("h100", {"dtype": "f32", "unit": "tensor"}, "on its tensor units", "simt"),
        ("h100", {"dtype": "f16", "accumulate": DType.S32}, "accumulates in s32", "f16, f32"),
    ],
)
def test_what_a_product_lacks_is_an_error_that_says_what_it_has(key, wanted, says, hint):
    with pytest.raises(UsageError) as error:
        chosen(key, **wanted)
    assert says in error.value.message
    assert key in error.value.message
    assert hint in error.value.hint


def test_no_clock_no_roof():
    assert roofs(*ask("t239")) == ()
    with pytest.raises(UsageError, match="no peak rate is known"):
        choose((), DType.F16, label="t239")


def test_shared_memory_delivers_128_bytes_per_clock_per_sm():
    for key in ("gtx-1080-ti", "v100", "a100", "rtx-4090", "h100", "b200"):
        gpu, cc, _ = ask(key)
        l1 = levels(gpu, cc)[2]
        assert l1.bytes_per_s == 128 * gpu.sm_count * gpu.boost_clock_hz
        assert levels(gpu, cc, 10**9)[2].bytes_per_s == 128 * gpu.sm_count * 1e9
    # one example by hand: V100, 80 SMs at 1530 MHz
    assert levels(*ask("v100"))[2].bytes_per_s == pytest.approx(15.667e12, rel=1e-4)


@pytest.mark.parametrize(
    ("key", "per_clock", "clock_hz"), [("a100", 5120, 1410e6), ("v100", 2048, 1530e6)]
)
def test_l2_of_the_products_whose_paper_tells_it(key, per_clock, clock_hz):
    """NVIDIA's A100 whitepaper has both figures."""
    gpu, cc, _ = ask(key)
    l2 = levels(gpu, cc)[1]
    assert (l2.bytes_per_s, l2.basis) == (pytest.approx(per_clock * clock_hz), "derived")
    assert levels(gpu, cc, 10**9)[1].bytes_per_s == per_clock * 10**9
    clockless = levels(dataclasses.replace(gpu, boost_clock_hz=None), cc)[1]
    assert (clockless.bytes_per_s, clockless.roof) == (None, "no clock is known")


def test_what_is_not_known_says_so():
    gpu, cc, _ = ask("h100")
    assert levels(gpu, cc)[1].bytes_per_s is None
    assert "no L2 bandwidth" in levels(gpu, cc)[1].roof
    blank = dataclasses.replace(
        gpu,
        boost_clock_hz=None,
        memory=dataclasses.replace(gpu.memory, bandwidth_bytes_per_s=None),
        unknown={"memory.bandwidth_bytes_per_s": "not announced"},
    )
    dram, _, l1 = levels(blank, cc)
    assert (dram.bytes_per_s, l1.bytes_per_s) == (None, None)
    assert dram.roof == "no figure: not announced"


MEASURED = Ceilings(
    gpu="h200-sxm",
    compute={BF16: 688e12, BF16._replace(dtype=DType.F6): 1e12},
    memory={"dram": 4.369e12, "l2": 9e12},
    clock_hz=1.5e9,
    origin="h200.json",
)


def test_measured_ceilings_take_the_place_of_peaks():
    gpu, cc, _ = ask("h200")
    found = {roof.key: roof for roof in measured_roofs(roofs(gpu, cc), MEASURED)}
    assert set(found) == {*(roof.key for roof in roofs(gpu, cc)), *MEASURED.compute}
    roof = found[BF16]
    assert (roof.flop_per_s, roof.basis, roof.clock_hz) == (688e12, "measured", 1.5e9)
    assert roof.peak_flop_per_s == pytest.approx(989.4e12, rel=1e-3)
    # what only the measurement knows is there, too
    assert found[BF16._replace(dtype=DType.F6)].peak_flop_per_s is None
    assert found[BF16._replace(sparsity="sparse")].basis == "derived"


def test_measured_bandwidths_take_the_place_of_the_data_sheet():
    gpu, cc, _ = ask("h200")
    dram, l2, l1 = measured_levels(levels(gpu, cc), MEASURED)
    assert (dram.bytes_per_s, dram.basis, dram.clock_hz) == (4.369e12, "measured", None)
    assert (l2.bytes_per_s, l2.basis, l2.clock_hz) == (9e12, "measured", 1.5e9)
    assert l1.basis == "derived"
