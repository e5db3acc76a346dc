"""Peaks and ridge points of products as their vendor prints them.

Peaks in TFLOPS (TOPS) and bandwidth in GB/s from the documents that ``perfkit gpu show KEY
--sources`` names; the ridge point is their quotient, done here. Derived peaks may differ from what
is printed by the rounding of two or three digits: 1 %.
"""

from __future__ import annotations

from collections import Counter

import pytest

from perfkit.analysis.roofline import RooflineQuestion, roofline
from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.roofs import choose, roofs

# product, bandwidth, then what each type reaches, dense: type/accumulator: peak
PRINTED = {
    # NVIDIA Ampere Architecture In-Depth (blog), Table 1
    "tesla-p100-sxm2": (720, {"f64/f64": 5.3, "f32/f32": 10.6, "f16/f16": 21.2}),
    "v100-sxm2-16gb": (900, {"f64/f64": 7.8, "f32/f32": 15.7, "f16/f32": 125}),
    "a100-sxm4-40gb": (1555, {"f64/f64": 19.5, "f32/f32": 19.5, "tf32/f32": 156, "f16/f32": 312,
                              "bf16/f32": 312, "s8/s32": 624, "s4/s32": 1248}),
    # A100 data sheet
    "a100-sxm4-80gb": (2039, {"tf32/f32": 156, "bf16/f32": 312, "f16/f16": 312}),
    "a100-pcie-80gb": (1935, {"tf32/f32": 156, "bf16/f32": 312}),
    # Tesla V100S and V100 PCIe data sheets
    "v100s": (1134, {"f64/f64": 8.2, "f32/f32": 16.4, "f16/f32": 130}),
    "v100-pcie-16gb": (900, {"f64/f64": 7, "f32/f32": 14, "f16/f32": 112}),
    # Tesla T4, A2, A10, A16, A30, A40, L4, L40 and L40S data sheets
    "t4": (320, {"f32/f32": 8.1, "f16/f32": 65, "s8/s32": 130, "s4/s32": 260}),
    "a2": (200, {"f32/f32": 4.5, "tf32/f32": 9, "f16/f32": 18, "s8/s32": 36}),
    "a10": (600, {"f32/f32": 31.2, "tf32/f32": 62.5, "bf16/f32": 125, "s8/s32": 250}),
    "a16": (200, {"f32/f32": 4.5, "tf32/f32": 9, "f16/f32": 17.9, "s8/s32": 35.9}),
    "a30": (933, {"f64/f64": 10.3, "f32/f32": 10.3, "tf32/f32": 82, "f16/f32": 165, "s8/s32": 330}),
    "a40": (696, {"f32/f32": 37.4, "tf32/f32": 74.8, "s8/s32": 299.3}),
    "l4": (300, {"f32/f32": 30.3, "tf32/f32": 60, "bf16/f32": 121, "f8/f32": 242.5}),
    "l40": (864, {"f32/f32": 90.5, "tf32/f32": 90.5, "f16/f32": 181, "s8/s32": 362}),
    "l40s": (864, {"f32/f32": 91.6, "tf32/f32": 183, "f8/f32": 733}),
    # Turing Architecture (blog) and whitepaper
    "gtx-1080-ti": (484, {"f32/f32": 11.3}),
    "rtx-2080-ti": (616, {"f32/f32": 13.4, "f16/f32": 53.8, "f16/f16": 107.6, "s8/s32": 215.2}),
    "titan-rtx": (672, {"f32/f32": 16.3, "f16/f32": 130.5, "s8/s32": 261}),
    # GA102 whitepaper, Tables 2 and 9
    "rtx-3090": (936, {"f32/f32": 35.6, "tf32/f32": 35.6, "f16/f32": 71, "f16/f16": 142}),
    "rtx-a6000": (768, {"f32/f32": 38.7, "tf32/f32": 77.4, "bf16/f32": 154.8, "s8/s32": 309.7}),
    # Ada whitepapers, GeForce and professional
    "rtx-4080": (716.8, {"f32/f32": 48.7, "tf32/f32": 48.7, "s8/s32": 389.9}),
    "rtx-4090": (1008, {"f32/f32": 82.6, "f16/f32": 165.2, "f16/f16": 330.3, "f8/f32": 330.3,
                        "f8/f16": 660.6}),
    "rtx-6000-ada": (960, {"f32/f32": 91.1, "f16/f32": 364.2}),
    # H100 whitepaper 1.04, Table 3; H200 product page
    "h100-sxm5": (3350, {"f64/f64": 66.9, "f32/f32": 66.9, "tf32/f32": 494.7, "bf16/f32": 989.4,
                         "f16/f32": 989.4, "f8/f32": 1978.9, "s8/s32": 1978.9}),
    "h100-pcie": (2039, {"f32/f32": 51.2, "tf32/f32": 378, "f16/f32": 756, "f8/f32": 1513}),
    "h200-sxm": (4800, {"f64/f64": 67, "f32/f32": 67, "bf16/f32": 989.5, "f8/f32": 1979}),
    # HGX B200 and B300 data sheets: FP4 of B300 is no multiple of its FP8
    "b200": (7700, {"f64/f64": 37, "f32/f32": 75, "bf16/f32": 2250, "f8/f32": 4500,
                    "f4/f32": 9000}),
    "b300": (7700, {"f64/f64": 1.2, "bf16/f32": 2250, "f8/f32": 4500, "f4/f32": 14000,
                    "s8/s32": 153.5}),
    # RTX Blackwell whitepaper
    "rtx-5080": (960, {"f32/f32": 56.3, "f16/f32": 112.6, "f8/f32": 225.1}),
    "rtx-5090": (1792, {"f32/f32": 104.8, "bf16/f32": 209.5, "f16/f16": 419, "f4/f32": 1676}),
    # Jetson data sheets: 85 of the 275 sparse TOPS of AGX Orin are the GPU's, dense
    "jetson-agx-orin-64gb": (204.8, {"f32/f32": 5.3, "s8/s32": 85}),
    "jetson-thor-t5000": (273, {"f8/f32": 517.5, "f4/f32": 1035}),
}  # fmt: skip

ROWS = [
    pytest.param(key, bandwidth, *types.split("/"), tflops, id=f"{key}-{types}")
    for key, (bandwidth, peaks) in PRINTED.items()
    for types, tflops in peaks.items()
]


def test_there_are_enough():
    assert len(PRINTED) >= 25
    assert len(ROWS) >= 100
    generations = Counter(catalog.gpu(key).compute_capability.major for key in PRINTED)
    assert set(generations) >= {6, 7, 8, 9, 10, 12}


@pytest.mark.parametrize(("key", "bandwidth", "dtype", "accumulate", "tflops"), ROWS)
def test_peak_and_ridge_point(key, bandwidth, dtype, accumulate, tflops):
    (target,) = catalog.targets(key)
    question = RooflineQuestion(
        dtype=DType(dtype), accumulate=DType(accumulate), flops=tflops * 1e12, bytes=bandwidth * 1e9
    )
    found = roofline(target, question)
    assert found.bound.peak_flop_per_s == pytest.approx(tflops * 1e12, rel=0.01)
    assert found.dram.bytes_per_s == pytest.approx(bandwidth * 1e9, rel=1e-3)
    # FLOP per byte: TFLOPS * 1000 / (GB/s)
    assert found.bound.ridge == pytest.approx(tflops * 1000 / bandwidth, rel=0.011)
    # a second of work for both: the ridge point itself
    assert found.bound.time_s == pytest.approx(1, rel=0.01)


def test_every_dense_figure_of_the_database_is_a_roof():
    compared = 0
    for gpu in catalog.all_gpus():
        found = roofs(gpu, catalog.capability(str(gpu.compute_capability)))
        for row in gpu.published:
            if row.sparsity != "dense" or row.use == "derived":
                continue
            roof = choose(found, row.dtype, accumulate=row.accumulate, unit=row.unit, label=gpu.key)
            assert roof.flop_per_s == pytest.approx(row.tflops * 1e12, rel=0.01), (gpu.key, row)
            compared += 1
    assert compared > 300
