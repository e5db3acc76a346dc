"""Questions about peaks and rooflines that people asked in public, with the verified answers."""

from __future__ import annotations

import pytest

from perfkit.analysis.roofline import RooflineQuestion, roofline
from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.operations import operation
from perfkit.report.views.roofline_notes import notes
from tests.cases.questions import cases, steps

CASES = {case["id"]: case for case in cases("roofline")}
#: how a case names a product -> its key; the peak is per product, so the spelling decides nothing
GPUS = {
    "H100 SXM": "h100-sxm5",
    "A100 SXM": "a100-sxm4-80gb",
    "A100": "a100-sxm4-80gb",
    "A100 40GB": "a100-sxm4-40gb",
    "RTX 4090 (FP16, FP32 accumulate)": "rtx-4090",
}


def answer(gpu, dtype, **more):
    (target,) = catalog.targets(GPUS.get(gpu, gpu))
    return roofline(target, RooflineQuestion(dtype=DType.parse(dtype), **more))


def checks(case):
    return list(steps([CASES[case]]))


def test_all_cases_are_there():
    assert set(CASES) == {"e02", "e04", "e05", "e08", "e09", "e12"}
    assert len(checks("e02")) == 5
    assert len(checks("e05")) == 7


@pytest.mark.parametrize(("given", "expected"), [*checks("e02"), *checks("e05")])
def test_peaks_by_type_accumulator_and_sparsity(given, expected):
    found = answer(
        given["gpu"],
        given["precision"],
        accumulate=DType.parse(given.get("accumulate", "f32")),
        sparsity="sparse" if given["sparsity"] else "dense",
        flops=1e12,
    )
    tolerance = expected["tolerance_pct"] / 100
    assert found.bound.peak_flop_per_s == pytest.approx(
        expected["peak_tflops"] * 1e12, rel=tolerance
    )


@pytest.mark.parametrize(("given", "expected"), checks("e04"))
def test_ridge_points(given, expected):
    found = answer(given["gpu"], "f16", flops=1e12, bytes=1e9)
    assert found.bound.peak_flop_per_s == pytest.approx(given["peak_tflops"] * 1e12, rel=0.01)
    assert found.dram.bytes_per_s == given["bandwidth_GBps"] * 1e9
    tolerance = expected["tolerance_pct"] / 100
    assert found.bound.ridge == pytest.approx(expected["ridge_flop_per_byte"], rel=tolerance)


def test_more_than_the_rated_peak_is_told_with_the_clock():
    (one,) = checks("e08")
    given, expected = one.values
    flops = given["measured_tflops"] * 1e12
    rated = answer(given["gpu"], "f16", flops=flops, time_s=1.0)
    assert rated.bound.peak_flop_per_s == pytest.approx(given["rated_tflops"] * 1e12, rel=1e-3)
    assert rated.roof.clock_hz == given["rated_mhz"] * 1e6
    share = 100 * rated.bound.measured.share_of_peak
    assert share == pytest.approx(expected["percent_of_rated"], abs=expected["tolerance"])
    (said,) = [note for note in notes(rated) if "MHz" in note]
    assert said.startswith("102.02% of the peak at 2460 MHz: the SMs ran at 2510 MHz or more")
    actual = answer(
        given["gpu"], "f16", flops=flops, time_s=1.0, clock_mhz=float(given["actual_mhz"])
    )
    share = 100 * actual.bound.measured.share_of_peak
    assert share == pytest.approx(expected["percent_at_actual_clock"], abs=expected["tolerance"])
    assert not any("MHz" in note for note in notes(actual))


def test_a_measured_gemm():
    (one,) = checks("e09")
    given, expected = one.values
    work = operation(f"gemm:{given['m']}x{given['n']}x{given['k']}", DType.F32)
    found = answer("RTX 5080", given["dtype"], work=work, time_s=given["time_ms"] / 1000).bound
    assert found.peak_flop_per_s == pytest.approx(given["peak_tflops"] * 1e12, rel=1e-3)
    assert found.measured.flop_per_s / 1e12 == pytest.approx(expected["tflops"], abs=0.005)
    assert 100 * found.measured.share_of_peak == pytest.approx(
        expected["percent_of_peak"], abs=0.06
    )
    assert found.intensity == pytest.approx(expected["intensity"], abs=0.05)
    assert found.ridge == pytest.approx(expected["ridge"], abs=0.05)
    assert found.bound_by == expected["bound"]


@pytest.mark.parametrize(("given", "expected"), checks("e12"))
def test_utilisation(given, expected):
    found = answer(given["gpu"], "bf16", flops=given["achieved_tflops"] * 1e12, time_s=1.0).bound
    assert 100 * found.measured.share_of_peak == pytest.approx(
        expected["mfu_pct"], abs=expected["tolerance"]
    )


def test_the_wrong_answers_do_not_come_out():
    # 989 is not the dense TF32 figure of H100, and sparse is never the default
    dense = answer("H100 SXM", "tf32", flops=1e12).bound.peak_flop_per_s
    assert dense == pytest.approx(494.7e12, rel=5e-3)
    # GeForce accumulates in f32 at half the rate: 71, not 142, for RTX 3090
    assert answer("RTX 3090", "bf16", flops=1e12).bound.peak_flop_per_s < 72e12
