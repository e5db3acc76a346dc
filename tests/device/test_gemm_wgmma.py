import re

import pytest

from perfkit.device import gemm_wgmma
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import compiled, problem, tiling


def test_counts_are_those_of_the_tiling():
    found = gemm_wgmma.kernel(problem(out="bf16"), tiling("128x256x64", "16x256", 4, "2x1"))
    assert found.threads == 128 + 2 * 128
    assert found.dynamic_bytes == 4 * (128 + 256) * 64 * 2 + 4 * 16
    assert (found.tiles, found.cluster) == (4 * 4, 2)
    assert found.flops == 2 * 512 * 1024 * 2048
    a, b = found.shapes
    assert (a.extents, a.box) == ((2048, 512), (64, 128))
    assert (b.extents, b.box) == ((2048, 1024), (64, 128))  # half of it from each of the two blocks
    assert a.swizzle == b.swizzle == "128B"


def test_the_grid_fills_the_card_in_whole_clusters():
    found = gemm_wgmma.kernel(problem(), tiling("128x256x64", "16x256", 4, "2x1"))
    assert found.launch(resident_blocks=132).grid == (16, 1, 1)  # there are no more tiles
    assert found.launch(resident_blocks=7).grid == (6, 1, 1)
    assert found.launch(resident_blocks=7).cluster == (2, 1, 1)


def test_rows_of_64_bytes_have_their_own_swizzle():
    a, _ = gemm_wgmma.kernel(problem(), tiling("64x64x32", "16x64", 4)).shapes
    assert (a.box, a.swizzle) == ((32, 64), "64B")


def test_rows_of_256_bytes_take_two_boxes():
    a, _ = gemm_wgmma.kernel(problem(), tiling("64x64x128", "16x64", 4)).shapes
    assert (a.box, a.swizzle) == ((64, 64), "128B")


@pytest.mark.parametrize(
    ("dtype", "tile", "warp", "stages", "cluster", "says"),
    [
        ("bf16", "128x128x16", "16x128", 4, "1x1", "tile_k = 16"),
        ("bf16", "128x100x64", "16x100", 4, "1x1", "multiples of 8"),
        ("bf16", "128x512x64", "16x512", 4, "1x1", "up to 256"),
        ("s8", "128x40x128", "16x40", 4, "1x1", "multiples of 16"),
        ("bf16", "96x128x64", "16x128", 4, "1x1", "96 rows"),
        ("bf16", "128x128x64", "24x128", 4, "1x1", "128 rows"),
        ("bf16", "256x128x64", "16x128", 4, "1x1", "at most two groups"),
        ("bf16", "128x128x64", "16x64", 4, "1x1", "neither columns nor k"),
        ("bf16", "128x256x64", "32x256", 4, "1x1", "256 registers"),
        ("bf16", "128x128x64", "16x128", 1, "1x1", "at least 2"),
        ("bf16", "128x128x64", "16x128", 4, "4x4", "at most 8 blocks"),
        ("bf16", "64x40x64", "16x40", 4, "4x1", "4 blocks cannot load equal parts"),
    ],
)
def test_refused_tilings(dtype, tile, warp, stages, cluster, says):
    with pytest.raises(UsageError, match=says):
        gemm_wgmma.check(DType(dtype), tiling(tile, warp, stages, cluster))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "tf32", "f8", "s8"])
def test_an_instruction_has_as_many_operands_as_it_names(dtype):
    sums = DType.S32 if dtype == "s8" else DType.F32
    text = gemm_wgmma.instruction(DType(dtype), 128, sums)
    numbers = {int(n) for n in re.findall(r"%(\d+)", text)}
    assert numbers == set(range(64 + 3))  # sums, two descriptors, whether to add
    assert text.count('"+r"') == 64
    assert f"m64n128k{256 // DType(dtype).bits}" in text


@pytest.mark.parametrize(
    ("dtype", "tile", "warp", "cluster"),
    [
        ("bf16", "128x256x64", "16x256", "1x1"),
        ("f8", "128x256x128", "16x256", "2x1"),
        ("s8", "256x128x128", "32x128", "1x2"),
        ("tf32", "64x256x32", "16x256", "1x1"),
    ],
)
def test_compiles_without_spills(tmp_path, dtype, tile, warp, cluster):
    kernel = gemm_wgmma.kernel(problem(dtype), tiling(tile, warp, 3, cluster))
    found = compiled(tmp_path, kernel.text, "sm_90a")
    assert found.spill_store_bytes == found.spill_load_bytes == 0
    assert found.registers_per_thread * kernel.threads <= 65536
    assert found.static_shared_bytes == 0
    assert found.max_threads == kernel.threads
    assert found.required_cluster == ((2, 1, 1) if kernel.cluster == 2 else None)
