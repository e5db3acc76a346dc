import pytest

from perfkit.device import gemm_mma
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import compiled, problem, tiling


def test_counts_are_those_of_the_tiling():
    found = gemm_mma.kernel(problem(out="bf16"), tiling("128x256x64", "64x64", 3))
    assert found.threads == 32 * (128 // 64) * (256 // 64)
    assert found.dynamic_bytes == 3 * (128 + 256) * 64 * 2
    assert found.tiles == (512 // 128) * (1024 // 256)
    assert found.flops == 2 * 512 * 1024 * 2048
    assert found.least_bytes == 2 * (512 * 2048 + 1024 * 2048 + 512 * 1024)
    launch = found.launch(resident_blocks=3)
    assert launch.grid == (16, 1, 1)  # not persistent: what is resident does not matter
    assert launch.block == (256, 1, 1)
    assert launch.cluster is None


@pytest.mark.parametrize(
    ("tile", "warp", "stages", "says"),
    [
        ("128x128x16", "64x64", 3, "tile_k = 16"),
        ("128x128x64", "64x8", 3, "multiples of 16x16"),
        ("128x128x64", "48x64", 3, "divide the tile"),
        ("128x128x64", "64x64x32", 3, "neither k nor loads"),
        ("128x128x64", "64x64", 1, "at least 2"),
        ("16x16x128", "16x16", 1, "at least 2"),
        ("256x256x64", "32x16", 2, "4096 threads"),
        ("48x128x64", "16x16", 2, "share out the copies"),
    ],
)
def test_refused_tilings(tile, warp, stages, says):
    t = tiling(tile, warp, stages)
    with pytest.raises(UsageError, match=says):
        gemm_mma.check(DType.BF16, t)


@pytest.mark.parametrize(("cluster", "split_k"), [("2x1", 1), ("1x1", 2), ("1x1", 0)])
def test_neither_clusters_nor_splits(cluster, split_k):
    with pytest.raises(UsageError, match="neither k nor loads"):
        gemm_mma.check(DType.BF16, tiling("128x128x64", "64x64", 3, cluster, split_k))


@pytest.mark.parametrize(
    ("arch", "dtype", "tile", "warp", "stages"),
    [
        ("sm_80", "bf16", "128x128x32", "64x64", 4),
        ("sm_90", "bf16", "128x256x64", "64x64", 3),
        ("sm_89", "f8", "128x128x64", "64x32", 3),
        ("sm_120", "tf32", "128x128x32", "64x32", 2),
        ("sm_80", "s8", "64x64x64", "32x32", 3),
    ],
)
def test_compiles_without_spills(tmp_path, arch, dtype, tile, warp, stages):
    kernel = gemm_mma.kernel(problem(dtype), tiling(tile, warp, stages))
    found = compiled(tmp_path, kernel.text, arch)
    assert found.name == kernel.name
    assert found.registers_per_thread <= 255
    assert found.spill_store_bytes == found.spill_load_bytes == 0
    assert found.static_shared_bytes == 0
    assert found.max_threads == kernel.threads
