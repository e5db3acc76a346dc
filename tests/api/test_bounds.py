"""``perfkit.roofline`` and ``perfkit.gemm``: by name, with everything that may go wrong."""

from __future__ import annotations

import json

import pytest

import perfkit
from perfkit.arch import catalog
from perfkit.errors import InputError, UnknownTarget, UsageError
from perfkit.kernel import DType
from tests.readers.test_ceilings import WHOLE

GEMM = {"m": 4096, "n": 4096, "k": 4096, "dtype": "f16"}


@pytest.mark.parametrize(
    "target",
    ["h100", "NVIDIA H100 80GB HBM3", perfkit.gpu("h100"), *catalog.targets("h100")],
    ids=str,
)
def test_a_product_may_be_named_or_held(target):
    found = perfkit.roofline(target, dtype="fp16", op="gemm:4096")
    assert found.time_s == pytest.approx(0.1389e-3, rel=1e-3)
    assert perfkit.gemm(target, **GEMM).share_of_peak > 0.95


@pytest.mark.parametrize(
    "target", ["9.0", "sm_90a", perfkit.capability("9.0"), "hopper", "all", "a100,h100", "h1000"]
)
def test_one_product_has_to_be_named(target):
    for ask in (
        lambda: perfkit.roofline(target, dtype="f16", flops=1e9),
        lambda: perfkit.gemm(target, **GEMM),
    ):
        with pytest.raises(UnknownTarget) as error:
            ask()
        assert error.value.hint


def test_types_may_be_named_or_held():
    by_name = perfkit.roofline("rtx-4090", dtype="half", accumulate="fp16", flops=1e12)
    held = perfkit.roofline("rtx-4090", dtype=DType.F16, accumulate=DType.F16, flops=1e12)
    assert by_name == held
    assert by_name.loads[0].roof == "f16/f16 dense tensor"


def test_sparse_and_unit():
    dense = perfkit.roofline("h100", dtype="f16", flops=1e15).time_s
    assert perfkit.roofline("h100", dtype="f16", flops=1e15, sparsity="sparse").time_s == dense / 2
    simt = perfkit.roofline("h100", dtype="f64", flops=1e15, unit="simt").time_s
    assert simt == pytest.approx(2 * perfkit.roofline("h100", dtype="f64", flops=1e15).time_s)


def test_ceilings_from_a_file_or_held(tmp_path):
    from perfkit.readers.ceilings import parse

    path = tmp_path / "h200.json"
    path.write_text(json.dumps(WHOLE))
    for ceilings in (path, str(path), parse(path.read_bytes(), "held")):
        found = perfkit.roofline("h200", dtype="bf16", flops=6.88e14, ceilings=ceilings)
        assert found.time_s == pytest.approx(1)
        tiled = perfkit.gemm("h200", **(GEMM | {"dtype": "bf16"}), ceilings=ceilings)
        assert tiled.machine.roof.basis == "measured"
    with pytest.raises(UsageError, match="the ceilings of h200-sxm, not of h100-sxm5"):
        perfkit.roofline("h100", dtype="bf16", flops=1e9, ceilings=path)
    with pytest.raises(InputError, match="cannot be read"):
        perfkit.roofline("h200", dtype="bf16", flops=1e9, ceilings=tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        perfkit.roofline("h200", dtype="bf16", flops=1e9, ceilings="a\0b")


def test_a_measured_time():
    found = perfkit.roofline("rtx-4060", dtype="f16", flops=30.84e12, time_s=1)
    assert found.measured.share_of_peak == pytest.approx(1.02, abs=0.001)


def test_the_example_of_the_docstring_and_its_neighbours():
    asked = {"tile": (128, 128, 32), "warp": (64, 64, 32), "stages": 3}
    found = perfkit.gemm("h100", **GEMM, **asked)
    assert (found.block.warps, found.block.shared_bytes) == (4, 49152)
    assert found.fused_bytes == 32 * 2**20
    assert perfkit.gemm("h100", **GEMM, **asked, split_k=0).tiling.schedule == "stream-k"
    assert perfkit.gemm("h100", **GEMM, **asked, out="f32").fused_bytes == 64 * 2**20
    assert perfkit.gemm("h100", **GEMM, **(asked | {"tile": [128, 128, 32]})) == found
    wide = perfkit.gemm(
        "h100",
        **GEMM,
        tile=(128, 256, 64),
        warp=(16, 256, 64),
        instruction=(64, 256, 16),
        stages=3,
        cluster=(2, 1),
    )
    assert wide.block.instruction.kind == "wgmma"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"dtype": 16}, "16 is not a data type"),
        ({"dtype": "f17"}, "unknown data type 'f17'"),
        ({"dtype": "f6"}, "no f6 arithmetic"),
        ({"m": 0}, "m = 0"),
        ({"m": float("nan")}, "m = nan"),
        ({"m": -5}, "m = -5"),
        ({"n": 2**31}, "n = 2147483648"),
        ({"k": "4096"}, "k = '4096'"),
        ({"tile": (128, 128)}, "tile = (128, 128): must be three sizes"),
        ({"tile": "128x128x32"}, "tile = '128x128x32': must be three sizes"),
        ({"tile": (128, 128, 32)}, "tile and warp belong together"),
        ({"cluster": 2}, "cluster = 2: must be two sizes"),
        ({"tile": (128, 128, 32), "warp": (64.0, 64, 32)}, "warp = 64.0x64x32"),
        ({"tile": (128, 128, 32), "warp": (64, 64, 32), "stages": "3"}, "stages = 3"),
        ({"clock_mhz": 0}, "clock_mhz = 0"),
        ({"accumulate": "s32"}, "accumulates in s32"),
    ],
)
def test_what_gemm_refuses(more, says):
    with pytest.raises(UsageError) as error:
        perfkit.gemm("h100", **(GEMM | more))
    assert says in error.value.message


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"flops": 0}, "flops = 0"),
        ({"flops": -1}, "flops = -1"),
        ({"bytes": float("nan")}, "bytes = nan"),
        ({"flops": 10**5000}, "flops = too large"),
        ({"flops": "1G"}, "flops must be a number"),
        ({"op": "gemm:0"}, "size 0"),
        ({"op": "gemm:4", "flops": 5}, "knows its FLOP"),
        ({"flops": 1e9, "time_s": -1}, "time_s = -1"),
        ({"flops": 1e9, "clock_mhz": float("inf")}, "clock_mhz = too large"),
        ({}, "nothing to do"),
    ],
)
def test_what_roofline_refuses(more, says):
    with pytest.raises(UsageError) as error:
        perfkit.roofline("h100", dtype="f16", **more)
    assert says in error.value.message


def test_scalars_of_numpy_are_numbers_of_python():
    import numpy as np

    plain = perfkit.roofline("h100", dtype="f16", flops=1e9, bytes=5, time_s=0.5)
    found = perfkit.roofline(
        "h100", dtype="f16", flops=np.float32(1e9), bytes=np.int64(5), time_s=np.float16(0.5)
    )
    assert (found, type(found.time_s)) == (plain, float)  # 1e9 and 0.5 are exact in so few bits
    sizes = {name: np.int32(4096) for name in "mnk"}
    tiles = {"tile": tuple(np.array([128, 128, 32])), "warp": (64, np.uint8(64), 32)}
    assert perfkit.gemm("h100", **(GEMM | sizes | tiles | {"stages": np.int8(3)})) == perfkit.gemm(
        "h100", **GEMM, tile=(128, 128, 32), warp=(64, 64, 32), stages=3
    )
    for refused in (np.bool_(1), np.array([1.0, 2.0])):
        with pytest.raises(UsageError, match="must be a number"):
            perfkit.roofline("h100", dtype="f16", flops=refused)
