"""What a block needs, against CUTLASS: its documented tiles and 47 of its kernels as compiled."""

from __future__ import annotations

import statistics

import pytest

from perfkit.arch import catalog
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models import gemm_tile
from perfkit.models.gemm_instructions import instruction, instructions
from perfkit.models.gemm_tile import Tiling
from tests.oracle.rows import rows

A100 = catalog.capability("8.0")
H100 = catalog.capability("9.0")
B200 = catalog.capability("10.0")
ROWS = rows("cutlass/kernels.csv")


def tiling(tile: str, warp: str, stages: int = 3, **more) -> Tiling:
    tile_m, tile_n, tile_k = map(int, tile.split("x"))
    warp_m, warp_n, warp_k = map(int, warp.split("x"))
    return Tiling(
        tile_m=tile_m,
        tile_n=tile_n,
        tile_k=tile_k,
        warp_m=warp_m,
        warp_n=warp_n,
        warp_k=warp_k,
        stages=stages,
        **more,
    )


def kernel(row):
    """The tiling of a compiled kernel, its instruction and its types."""
    t = tiling(row["tile"], row["warp"], int(row["stages"]))
    dtype, accumulate = DType(row["operand"]), DType(row["accumulate"])
    if row["threads"] == "384":
        return t, instruction(H100, dtype, "tensor", (64, t.tile_n, 16)), H100, dtype, accumulate
    unit = "simt" if dtype is DType.F32 else "tensor"
    return t, instruction(A100, dtype, unit, None), A100, dtype, accumulate


def test_there_are_kernels_of_every_kind():
    kinds = {kernel(row)[1].kind for row in ROWS}
    assert kinds == {"simt", "mma", "wgmma"}
    assert len(ROWS) == 47
    assert len({(row["operand"], row["accumulate"]) for row in ROWS}) == 6


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['operand']}-{r['tile']}-{r['warp']}")
def test_threads_and_shared_memory_of_cutlass(row):
    t, one, capability, dtype, _ = kernel(row)
    gemm_tile.check(t, one, capability)
    assert gemm_tile.threads(t, one) == int(row["threads"])
    stages = gemm_tile.shared_bytes(t, dtype)
    if one.kind == "wgmma":
        assert int(row["shared_bytes"]) - stages == 33 * 1024  # the epilogue's own
    elif dtype is DType.F32 and t.tile == "64x64x8":
        # SIMT kernels skew the tile of the transposed operand; the epilogue fits in
        assert int(row["shared_bytes"]) == stages
    else:
        assert stages <= int(row["shared_bytes"]) <= stages * 1.07


def test_registers_of_cutlass():
    off = {"mma": [], "simt": [], "wgmma": []}
    for row in ROWS:
        t, one, capability, dtype, accumulate = kernel(row)
        guess = gemm_tile.registers(t, one, capability, dtype, accumulate)
        off[one.kind].append(int(row["registers"]) - guess)
    # the figures of the docstring
    assert (min(off["mma"]), max(off["mma"])) == (-14, 26)
    assert min(off["simt"]) == -10
    assert sorted(off["simt"])[-2:] == [6, 52]
    assert off["wgmma"] == [0, 0]
    assert abs(statistics.median(off["mma"])) <= 2
    assert abs(statistics.median(off["simt"])) <= 2


@pytest.mark.parametrize(
    ("name", "warps", "stage", "shared"),
    [
        # the example of CUTLASS's documentation, "Efficient GEMM in CUDA"
        ("128x128x32 64x64x32 3", 4, 16 * 1024, 48 * 1024),
        # kernels that cutlass_library generates for 8.0, f16
        ("256x128x32 64x64x32 3", 8, 24 * 1024, 72 * 1024),
        ("64x64x32 32x32x32 10", 4, 8 * 1024, 80 * 1024),
        ("128x128x64 64x64x64 4", 4, 32 * 1024, 128 * 1024),
        # k of a slice shared out among the warps
        ("64x64x64 32x64x32 3", 4, 16 * 1024, 48 * 1024),
    ],
)
def test_the_arithmetic_by_hand(name, warps, stage, shared):
    tile, warp, stages = name.split()
    t = tiling(tile, warp, int(stages))
    assert gemm_tile.warps(t) == warps
    assert gemm_tile.stage_bytes(t, DType.F16) == stage
    assert gemm_tile.shared_bytes(t, DType.F16) == shared


def test_accumulators_and_fragments_by_hand():
    t = tiling("128x128x32", "64x64x32")
    mma = instruction(A100, DType.F16, "tensor", None)
    assert mma.shape == "16x8x16"
    assert gemm_tile.accumulators(t, mma, DType.F32) == 64 * 64 // 32
    assert gemm_tile.accumulators(t, mma, DType.F16) == 64 * 64 // 32 // 2
    # (64 + 64) x 16 halves for 32 threads
    assert gemm_tile.fragments(t, mma, DType.F16) == 128 * 16 // 32 // 2
    f64 = tiling("128x128x16", "32x64x16")
    dmma = instruction(A100, DType.F64, "tensor", None)
    assert gemm_tile.accumulators(f64, dmma, DType.F64) == 32 * 64 // 32 * 2


def test_wgmma_reads_shared_memory_and_tcgen05_keeps_sums_in_tensor_memory():
    wide = tiling("128x256x64", "16x256x64")
    wgmma = instruction(H100, DType.F16, "tensor", (64, 256, 16))
    gemm_tile.check(wide, wgmma, H100)
    assert gemm_tile.threads(wide, wgmma) == 384  # two groups that compute, one that loads
    assert gemm_tile.fragments(wide, wgmma, DType.F16) == 0
    assert gemm_tile.accumulators(wide, wgmma, DType.F32) == 128
    # 65536 / 384 threads, in units of 8; then 240 for the two groups, 24 for the third
    assert gemm_tile.registers(wide, wgmma, H100, DType.F16, DType.F32) == 168
    assert gemm_tile.most_held(wide, wgmma, H100) == 240
    blackwell = tiling("128x256x64", "32x256x64")
    tcgen05 = instruction(B200, DType.F16, "tensor", (128, 256, 16))
    gemm_tile.check(blackwell, tcgen05, B200)
    assert gemm_tile.accumulators(blackwell, tcgen05, DType.F32) == 0
    assert gemm_tile.tensor_memory_columns(blackwell, tcgen05) == 256


def test_one_group_with_256_columns_of_128_rows_spills():
    t = tiling("128x256x64", "32x256x64")
    wgmma = instruction(H100, DType.F16, "tensor", (64, 256, 16))
    assert gemm_tile.accumulators(t, wgmma, DType.F32) == 256
    held = gemm_tile.held(t, wgmma, DType.F16, DType.F32)
    assert held > gemm_tile.most_held(t, wgmma, H100) == 255


@pytest.mark.parametrize(
    ("tile", "warp", "more", "says"),
    [
        ("128x128x0", "64x64x32", {}, "tile = 128x128x0: must be whole numbers from 1"),
        ("128x2048x32", "64x64x32", {}, "tile = 128x2048x32: must be whole numbers from 1 to 1024"),
        ("128x128x32", "64x-64x32", {}, "warp = 64x-64x32: must be whole numbers"),
        ("128x128x32", "64x64x32", {"stages": 0}, "stages = 0"),
        ("128x128x32", "64x64x32", {"stages": 1.5}, "stages = 1.5"),
        ("128x128x32", "64x64x32", {"stages": True}, "stages = True"),
        ("128x128x32", "64x64x32", {"cluster_m": 0}, "cluster = 0x1"),
        ("128x128x32", "96x64x32", {}, "does not divide the tile"),
        ("128x128x24", "64x64x24", {}, "not a multiple of the instruction 16x8x16"),
        ("128x128x32", "64x4x32", {}, "not a multiple of the instruction 16x8x16"),
        ("256x256x16", "16x16x16", {}, "8192 threads for a tile of 256x256x16"),
    ],
)
def test_what_no_kernel_can_have(tile, warp, more, says):
    one = instruction(A100, DType.F16, "tensor", None)
    with pytest.raises(UsageError) as error:
        gemm_tile.check(tiling(tile, warp, **({"stages": 3} | more)), one, A100)
    assert says in error.value.message


def test_groups_of_warps_stand_one_above_the_other():
    wgmma = instruction(H100, DType.F16, "tensor", (64, 64, 16))
    with pytest.raises(UsageError, match="takes 4 warps one above the other"):
        gemm_tile.check(tiling("32x128x64", "16x64x64"), wgmma, H100)
    with pytest.raises(UsageError, match="of which a warp has 16 rows"):
        gemm_tile.check(tiling("64x64x64", "8x64x64"), wgmma, H100)


def test_tensor_memory_has_an_end():
    tcgen05 = instruction(B200, DType.F16, "tensor", (128, 256, 16))
    with pytest.raises(UsageError, match="768 columns of tensor memory, an SM has 512"):
        gemm_tile.check(tiling("384x256x64", "96x256x64"), tcgen05, B200)


# --- instructions -------------------------------------------------------------------------------


def test_every_product_of_matrices_that_tensor_cores_can_do_has_an_instruction():
    rates = [
        (capability, rate.dtype)
        for capability in catalog.all_capabilities()
        if capability.tensor_core is not None
        for rate in capability.tensor_core.rates
    ]
    assert len(rates) > 80
    missing = [
        (str(capability.compute_capability), str(dtype))
        for capability, dtype in rates
        if not instructions(capability, dtype, "tensor")
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("capability", "dtype", "kinds"),
    [
        ("7.0", "f16", {"mma"}),
        ("8.9", "f8", {"mma"}),
        ("9.0", "f16", {"mma", "wgmma"}),
        ("9.0", "f64", {"mma"}),
        ("10.0", "f16", {"mma", "tcgen05"}),
        ("10.0", "f4", {"tcgen05"}),
        ("10.3", "s8", {"mma"}),
        ("12.0", "f4", {"mma"}),
    ],
)
def test_kinds(capability, dtype, kinds):
    found = instructions(catalog.capability(capability), DType(dtype), "tensor")
    assert {one.kind for one in found} == kinds


def test_an_instruction_reads_32_bytes_of_k_for_each_row_where_it_reads_shared_memory():
    for capability in (H100, B200):
        for dtype in (DType.F16, DType.TF32, DType.F8, DType.F4):
            for one in instructions(capability, dtype, "tensor"):
                if one.reads_shared:
                    assert one.k * dtype.bits == 256


def test_the_usual_instruction_and_the_others():
    shapes = {
        (capability, dtype): [
            one.shape
            for one in instructions(catalog.capability(capability), DType(dtype), "tensor")
            if one.kind == "mma"
        ]
        for capability, dtype in (("8.0", "f64"), ("9.0", "f64"), ("8.0", "s8"), ("7.2", "s8"))
    }
    # PTX ISA 9.0, 9.7.14.5: shapes of mma by type; 7.2 has wmma only
    assert shapes["8.0", "f64"] == ["8x8x4"]
    assert set(shapes["9.0", "f64"]) == {"8x8x4", "16x8x4", "16x8x8", "16x8x16"}
    assert shapes["8.0", "s8"] == ["8x8x16", "16x8x16", "16x8x32"]
    assert shapes["7.2", "s8"] == ["16x16x16"]
    assert instruction(H100, DType.F64, "tensor", None).shape == "8x8x4"
    integer = [one.n for one in instructions(H100, DType.S8, "tensor") if one.kind == "wgmma"]
    assert {40, 56, 72}.isdisjoint(integer)
    assert {8, 16, 24, 32, 48, 256} <= set(integer)


@pytest.mark.parametrize("shape", [(16, 8, 4), (64, 12, 16), (64, 264, 16), (128, 128, 16)])
def test_an_instruction_that_does_not_exist(shape):
    with pytest.raises(UsageError) as error:
        instruction(H100, DType.F16, "tensor", shape)
    assert "x".join(map(str, shape)) in error.value.message
    assert error.value.hint == "it has 16x8x8, 16x8x16, 64x(8 to 256)x16"


def test_no_instruction_at_all():
    with pytest.raises(UsageError, match="no matrix instruction for f4"):
        instruction(A100, DType.F4, "tensor", None)
