"""Peaks: 2 x SMs x rate x clock of the unit, and what a published figure changes."""

from __future__ import annotations

import dataclasses

import pytest

from perfkit.arch import catalog, schema
from perfkit.arch.peaks import SPARSE_TYPES, PeakKey, derived, peaks
from perfkit.arch.types import PublishedPeak
from perfkit.kernel import DType
from tests.arch.broken import CAPABILITY, GPU, SAMPLE

CC = schema.read_capability(SAMPLE / CAPABILITY)
TOY = schema.read_gpu(SAMPLE / GPU)  # 100 SMs, boost 2000 MHz, tensor 1500 MHz
F16 = PeakKey(DType.F16, DType.F32, "dense", "tensor")
F32 = PeakKey(DType.F32, DType.F32, "dense", "simt")


def published(tflops: float, use: str | None = None, key: PeakKey = F16) -> PublishedPeak:
    return PublishedPeak(**key._asdict(), tflops=tflops, use=use, note="because" if use else None)


def only(row: PublishedPeak):
    gpu = dataclasses.replace(TOY, published=(row,))
    key = PeakKey(row.dtype, row.accumulate, row.sparsity, row.unit)
    (peak,) = [peak for peak in peaks(gpu, CC) if peak.key == key]
    return peak


def test_each_unit_has_its_clock():
    rates = derived(TOY, CC)
    assert rates[F32] == 2 * 100 * 128 * 2.0e9
    assert rates[F16] == 2 * 100 * 2048 * 1.5e9
    # f64 tensor cores run at the boost clock
    assert rates[PeakKey(DType.F64, DType.F64, "dense", "tensor")] == 2 * 100 * 128 * 2.0e9


def test_without_a_tensor_clock_everything_runs_at_boost():
    gpu = dataclasses.replace(TOY, tensor_clock_hz=None)
    assert derived(gpu, CC)[F16] == 2 * 100 * 2048 * 2.0e9


def test_sparsity_doubles_what_it_can():
    rates = derived(TOY, CC)
    assert rates[F16._replace(sparsity="sparse")] == 2 * rates[F16]
    assert PeakKey(DType.F64, DType.F64, "sparse", "tensor") not in rates
    assert F32._replace(sparsity="sparse") not in rates
    assert DType.F64 not in SPARSE_TYPES
    assert DType.F32 not in SPARSE_TYPES


def test_sparsity_only_where_the_capability_has_it():
    assert CC.tensor_core is not None
    dense_only = dataclasses.replace(CC.tensor_core, sparsity=False)
    rates = derived(TOY, dataclasses.replace(CC, tensor_core=dense_only))
    assert {key.sparsity for key in rates} == {"dense"}


def test_a_dp4a_is_four_multiply_adds():
    throughput = dataclasses.replace(CC.throughput, dp4a=64)
    rates = derived(TOY, dataclasses.replace(CC, throughput=throughput))
    assert rates[PeakKey(DType.S8, DType.S32, "dense", "simt")] == 2 * 100 * 64 * 4 * 2.0e9
    # the sample does not know it, so there is no such peak rather than a zero
    assert PeakKey(DType.S8, DType.S32, "dense", "simt") not in derived(TOY, CC)


def test_no_clock_no_peak():
    assert derived(dataclasses.replace(TOY, boost_clock_hz=None), CC) == {}


@pytest.mark.parametrize("rate_class", ["none", "geforce"])
def test_only_rates_of_its_class(rate_class):
    rates = derived(dataclasses.replace(TOY, rate_class=rate_class), CC)
    assert {key.unit for key in rates} == {"simt"}


def test_no_tensor_cores():
    rates = derived(TOY, dataclasses.replace(CC, tensor_core=None))
    assert {key.unit for key in rates} == {"simt"}


def test_a_published_figure_that_agrees_stands_beside():
    peak = only(published(614))
    assert (peak.basis, peak.published_tflops, peak.note) == ("derived", 614, None)
    assert peak.flop_per_s == 614.4e12


def test_a_published_figure_that_counts_replaces():
    peak = only(published(500, "published"))
    assert (peak.basis, peak.flop_per_s, peak.note) == ("published", 500e12, "because")


def test_a_published_figure_that_does_not_count_is_kept_beside():
    peak = only(published(600, "derived"))
    assert (peak.basis, peak.flop_per_s) == ("derived", 614.4e12)
    assert (peak.published_tflops, peak.note) == (600, "because")


def test_a_published_figure_alone_is_the_peak():
    peak = only(published(1200, None, PeakKey(DType.F4, DType.F32, "dense", "tensor")))
    assert (peak.basis, peak.flop_per_s, peak.published_tflops) == ("published", 1.2e15, 1200)


def test_published_figures_alone_when_there_is_no_clock():
    gpu = dataclasses.replace(TOY, boost_clock_hz=None)
    assert {peak.basis for peak in peaks(gpu, CC)} == {"published"}


def test_order_and_uniqueness():
    keys = [peak.key for peak in peaks(TOY, CC)]
    assert len(set(keys)) == len(keys)
    assert keys[0] == PeakKey(DType.F64, DType.F64, "dense", "simt")
    assert [key.unit for key in keys] == sorted(key.unit for key in keys)


# -- the shipped database -----------------------------------------------------------------------


def test_h100_has_two_clocks():
    """H100 whitepaper 1.04, Table 3: 1830 MHz in tensor work, 1980 otherwise."""
    gpu, cc = catalog.gpu("h100-sxm5"), catalog.capability("9.0")
    found = {peak.key: peak.flop_per_s for peak in peaks(gpu, cc)}
    assert found[F16] == pytest.approx(989.4e12, rel=1e-3)
    assert found[F32] == pytest.approx(66.9e12, rel=1e-3)
    assert found[PeakKey(DType.F64, DType.F64, "dense", "tensor")] == pytest.approx(
        66.9e12, rel=1e-3
    )


def test_f64_tensor_cores_exist_on_three_capabilities_only():
    """CUDA Programming Guide 13, Table 33."""
    having = [
        str(cc.compute_capability)
        for cc in catalog.all_capabilities()
        if cc.tensor_core and DType.F64 in cc.tensor_core.input_types
    ]
    assert having == ["8.0", "9.0", "10.0"]


def test_geforce_halves_f32_accumulation_of_floats_only():
    halved = 0
    for cc in catalog.all_capabilities():
        rates = {
            (rate.rate_class, rate.dtype, rate.accumulate): rate.fma_per_clock_per_sm
            for rate in (cc.tensor_core.rates if cc.tensor_core else ())
        }
        for (rate_class, dtype, accumulate), rate in rates.items():
            full = rates.get(("full", dtype, accumulate))
            if rate_class == "geforce" and full is not None:
                expected = full // 2 if accumulate is DType.F32 and dtype != DType.F4 else full
                assert rate == expected, (cc.compute_capability, dtype, accumulate)
                halved += rate != full
    assert halved >= 9  # f16, tf32, bf16, f8 of 7.5, 8.6, 8.9 and 12.0


def test_wider_types_are_never_faster():
    order = [DType.F64, DType.TF32, DType.F16, DType.F8, DType.F4]
    for cc in catalog.all_capabilities():
        rates = {
            rate.dtype: rate.fma_per_clock_per_sm
            for rate in (cc.tensor_core.rates if cc.tensor_core else ())
            if rate.rate_class == "full"
        }
        ladder = [rates[dtype] for dtype in order if dtype in rates]
        assert ladder == sorted(ladder), cc.compute_capability
