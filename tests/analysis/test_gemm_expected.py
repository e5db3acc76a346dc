"""Products of perfkit's own kernels: the model of ``perfkit gemm``, held against an H200."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from perfkit.analysis.gemm import GemmQuestion, estimate
from perfkit.analysis.gemm_expected import TiledProduct
from perfkit.analysis.prediction import Machine
from perfkit.analysis.roofline import RooflineQuestion
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.kernel import DType
from perfkit.models.gemm_tile import Tiling
from perfkit.models.gemm_traffic import Problem
from perfkit.models.roofs import ACCUMULATE
from perfkit.readers.ceilings import read

DATA = Path(__file__).parents[1] / "data" / "h200"
#: with what an empty kernel took in the same runs as the products
CEILINGS = replace(read(DATA / "ceilings_2026-11-30.json"), launch_s=3.3e-6)
H200 = Machine(
    gpu=catalog.gpu("h200"),
    capability=catalog.capability("9.0"),
    ceilings=CEILINGS,
    l2_bytes=60 * 2**20,
)
RESULTS = {"bf16": "bf16", "f16": "f16", "tf32": "f32", "f8": "bf16", "s8": "s32"}


def product(row):
    dtype = DType(row["dtype"])
    problem = Problem(
        m=int(row["m"]),
        n=int(row["n"]),
        k=int(row["k"]),
        dtype=dtype,
        accumulate=ACCUMULATE.get(dtype, DType.F32),
        out=DType(RESULTS[row["dtype"]]),
    )
    names = Tiling.__dataclass_fields__
    sizes = {name: int(row[name]) for name in names if row.get(name)}
    sizes |= {"warp_n": int(row["warp_n"] or row["tile_n"]), "warp_k": int(row["tile_k"])}
    kind = row["kind"]
    return TiledProduct(
        problem=problem,
        tiling=Tiling(**sizes),
        kind=kind,
        is_fed=kind == "wgmma",
        group=int(row["group"]),
    )


def measured():
    with (DATA / "products_2026-11-30.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def ratios(rows):
    """Measured over expected."""
    return [
        float(row["us"]) * 1e-6 / product(row).expected_s(H200, int(row["blocks_per_sm"]))
        for row in rows
    ]


#: fed by TMA, with the library's tiles: docs/validation/h200-2026-11-30-gemm.md
FED_TFLOP_PER_S = {
    ("bf16", 4096): 557,
    ("bf16", 8192): 560,
    ("f16", 4096): 544,
    ("f16", 8192): 547,
    ("tf32", 4096): 280,
    ("tf32", 8192): 282,
    ("s8", 4096): 987,
    ("s8", 8192): 1126,
    ("f8", 4096): 526,
    ("f8", 8192): 548,
}


@pytest.mark.parametrize(("dtype", "size"), FED_TFLOP_PER_S)
def test_warps_that_tma_feeds_wait_less(dtype, size):
    row = {"dtype": dtype, "m": size, "n": size, "k": size, "kind": "mma", "group": 16}
    row |= {"tile_m": 128, "tile_n": 256, "tile_k": 1024 // DType(dtype).bits}
    row |= {"warp_m": 64, "warp_n": 64, "stages": 4}
    fed = replace(product(row), is_fed=True)
    expected = fed.expected_s(H200, 1)
    measured_s = 2 * size**3 / FED_TFLOP_PER_S[dtype, size] * 1e-12
    assert measured_s == pytest.approx(expected, rel=0.15)
    assert expected < product(row).expected_s(H200, 1)


@pytest.mark.parametrize("kind", ["wgmma", "mma"])
def test_measured_products_are_expected_within_a_quarter(kind):
    rows = [row for row in measured() if row["kind"] == kind]
    found = ratios(rows)
    assert len(found) >= 60
    within = [0.8 <= ratio <= 1.25 for ratio in found]
    assert sum(within) / len(within) >= 0.95
    assert median(found) == pytest.approx(1, abs=0.1)
    # what anybody would use: three stages or more, slices of whole lines, tiles of 128 x 128
    usual = [
        ratio
        for row, ratio in zip(rows, found, strict=True)
        if int(row["stages"]) >= 3
        and int(row["tile_m"]) * int(row["tile_n"]) >= 128 * 128
        and int(row["tile_k"]) * DType(row["dtype"]).bits >= 1024
    ]
    assert len(usual) >= 30
    assert max(usual) <= 1.35


def test_nothing_is_faster_than_the_bound():
    rows = [row for row in measured() if row["kind"] == "wgmma"]
    target = Target(label="h200-sxm", capability=H200.capability, gpu=H200.gpu)
    for row in rows[::7]:
        one = product(row)
        p, t = one.problem, one.tiling
        if (p.m + p.n) * p.k * p.dtype.bits / 8 + p.out_bytes <= 50 * 2**20:
            continue  # nothing of it came from DRAM
        asked = GemmQuestion(
            m=p.m,
            n=p.n,
            k=p.k,
            out=p.out,
            roofs=RooflineQuestion(dtype=p.dtype, ceilings=(CEILINGS,)),
            instruction=(64, t.tile_n, 256 // p.dtype.bits),
        )
        assert estimate(target, asked, t).schedule.bound.time_s <= float(row["us"]) * 1e-6


WIDE = product(
    {"dtype": "bf16", "m": 4096, "n": 4096, "k": 4096, "kind": "wgmma", "group": 8, "tile_m": 128,
     "tile_n": 256, "tile_k": 64, "warp_m": 16, "warp_n": None, "stages": 4, "cluster_m": 2,
     "cluster_n": 1}
)  # fmt: skip


def test_it_is_the_model_of_perfkit_gemm():
    """But for the order of the blocks, which no cluster cares about."""
    target = Target(label="h200-sxm", capability=H200.capability, gpu=H200.gpu)
    known = RooflineQuestion(dtype=DType.BF16, ceilings=(CEILINGS,))
    asked = GemmQuestion(m=4096, n=4096, k=4096, roofs=known, instruction=(64, 256, 16))
    found = estimate(target, asked, WIDE.tiling).schedule
    assert WIDE.expected_s(H200, 1) == pytest.approx(found.expected_s, rel=0.02)
    assert WIDE.expected_s(H200, None) == WIDE.expected_s(H200, 1)


def test_no_instruction_or_no_rate():
    a100 = Machine(gpu=catalog.gpu("a100"), capability=catalog.capability("8.0"))
    assert WIDE.expected_s(a100, 1) is None
    unknown = replace(H200, gpu=replace(H200.gpu, rate_class="", published=()), ceilings=None)
    assert WIDE.expected_s(unknown, 1) is None
