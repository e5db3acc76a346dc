import pytest

from perfkit.device import gemm_mma_tma
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import compiled, problem, tiling


def test_counts_are_those_of_the_tiling():
    found = gemm_mma_tma.kernel(problem(out="bf16"), tiling("128x256x64", "64x64", 4, "2x1"))
    assert found.threads == 128 + 32 * (128 // 64) * (256 // 64)
    assert found.dynamic_bytes == 4 * (128 + 256) * 64 * 2 + 4 * 16
    assert (found.tiles, found.cluster) == ((512 // 128) * (1024 // 256), 2)
    assert found.flops == 2 * 512 * 1024 * 2048
    assert found.suffix == "a"
    a, b = found.shapes
    assert (a.extents, a.box) == ((2048, 512), (64, 128))
    assert (b.extents, b.box) == ((2048, 1024), (64, 128))  # half of it from each of the two blocks


def test_the_grid_fills_the_card():
    found = gemm_mma_tma.kernel(problem(), tiling("128x256x64", "64x64", 4))
    assert found.launch(resident_blocks=132).grid == (16, 1, 1)  # there are no more tiles
    assert found.launch(resident_blocks=7).grid == (7, 1, 1)


def macro(text, name):
    (value,) = (
        line.split()[2] for line in text.splitlines() if line.startswith(f"#define {name} ")
    )
    return int(value)


@pytest.mark.parametrize(
    ("tile", "warp", "registers"),
    [
        # 4 warps that load and 4 that multiply are launched with all that a thread can have
        ("128x128x64", "64x64", 0),
        # launched with 168 for each of 384: (168 * 384 - 40 * 128) / 256 = 232
        ("128x256x64", "64x64", 232),
        # with 96 for each of 640: (96 * 640 - 40 * 128) / 512 = 110, in eights
        ("128x256x64", "32x64", 104),
    ],
)
def test_warps_that_multiply_get_the_registers_of_those_that_load(tile, warp, registers):
    text = gemm_mma_tma.kernel(problem(), tiling(tile, warp, 3)).text
    assert macro(text, "REGISTERS") == registers
    warps = macro(text, "TILE_M") * macro(text, "TILE_N")
    warps //= macro(text, "WARP_M") * macro(text, "WARP_N")
    # more than the block has would never come: the kernel would wait for ever
    launched = 65536 // (32 * (4 + warps)) // 8 * 8
    assert 4 * 40 + warps * registers <= (4 + warps) * launched


@pytest.mark.parametrize(
    ("tile", "warp", "rows"),
    [
        ("128x256x64", "64x64", 4),
        ("192x256x64", "96x64", 2),  # its sums leave no more room
        ("64x64x32", "16x64", 2),  # two steps with one row each
        ("64x128x32", "32x64", 4),
    ],
)
def test_how_many_rows_of_a_are_in_registers(tile, warp, rows):
    text = gemm_mma_tma.kernel(problem(), tiling(tile, warp, 3)).text
    assert macro(text, "A_RING") == rows


def test_f8_is_multiplied_as_f16():
    text = gemm_mma_tma.kernel(problem("f8"), tiling("128x256x128", "64x64", 3)).text
    assert "#define OPERAND f16\n#define OPERAND_BYTES 1\n" in text
    assert "#define SHAPE m16n8k16\n" in text
    assert macro(text, "E4M3") == 1
    assert macro(gemm_mma_tma.kernel(problem(), tiling("128x256x64", "64x64", 3)).text, "E4M3") == 0


@pytest.mark.parametrize(
    ("tile", "warp", "stages", "cluster", "split_k", "says"),
    [
        ("128x128x16", "64x64", 3, "1x1", 1, "tile_k = 16"),
        ("128x128x64", "64x8", 3, "1x1", 1, "multiples of 16x16"),
        ("128x128x64", "48x64", 3, "1x1", 1, "divide the tile"),
        ("128x128x64", "64x64x32", 3, "1x1", 1, "does not share out k"),
        ("128x128x64", "64x64", 3, "1x1", 2, "does not share out k"),
        ("128x64x64", "64x64", 3, "1x1", 1, "2 warps; takes fours"),
        ("128x128x64", "16x16", 3, "1x1", 1, "64 warps; takes fours, 28 at most"),
        ("256x192x64", "64x96", 3, "1x1", 1, "240 registers of a thread, of 232"),
        ("128x128x64", "64x64", 1, "1x1", 1, "at least 2"),
        ("128x128x64", "64x64", 3, "4x4", 1, "at most 8 blocks"),
    ],
)
def test_refused_tilings(tile, warp, stages, cluster, split_k, says):
    t = tiling(tile, warp, stages, cluster, split_k)
    with pytest.raises(UsageError, match=says):
        gemm_mma_tma.check(DType.BF16, t)


@pytest.mark.parametrize(
    ("dtype", "tile", "warp", "stages", "cluster"),
    [
        ("bf16", "128x256x64", "64x64", 4, "1x1"),
        ("bf16", "192x256x64", "96x64", 3, "1x2"),
        ("tf32", "128x128x64", "64x32", 3, "2x1"),
        ("f16", "128x256x64", "32x64", 3, "1x1"),
        ("s8", "64x64x64", "32x32", 4, "1x1"),
        ("f8", "128x256x128", "64x64", 4, "1x1"),
    ],
)
def test_compiles_without_spills(tmp_path, dtype, tile, warp, stages, cluster):
    kernel = gemm_mma_tma.kernel(problem(dtype), tiling(tile, warp, stages, cluster))
    found = compiled(tmp_path, kernel.text, "sm_90a")
    assert found.name == kernel.name
    assert found.spill_store_bytes == found.spill_load_bytes == 0
    assert found.static_shared_bytes == 0
    assert found.max_threads == kernel.threads
