import pytest

from perfkit.device import tma_ring
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import problem, tiling


@pytest.mark.parametrize(
    ("dtype", "tile", "box", "swizzle"),
    [
        ("bf16", "64x128x32", 32, "64B"),
        ("bf16", "64x128x64", 64, "128B"),
        ("bf16", "64x128x128", 64, "128B"),  # two boxes side by side
        ("s8", "64x128x128", 128, "128B"),
        ("tf32", "64x128x16", 16, "64B"),
    ],
)
def test_a_box_is_one_swizzle_wide(dtype, tile, box, swizzle):
    a, b = tma_ring.shapes(problem(dtype), tiling(tile, "64x64", 3))
    assert (a.box, b.box) == ((box, 64), (box, 128))
    assert a.swizzle == b.swizzle == swizzle


def test_blocks_of_a_cluster_load_a_part_each():
    a, b = tma_ring.shapes(problem(), tiling("128x256x64", "64x64", 3, "4x2"))
    # two blocks of a row have the same A, four of a column the same B
    assert (a.box[1], b.box[1]) == (128 // 2, 256 // 4)


def test_each_stage_has_two_barriers():
    t = tiling("128x256x64", "64x64", 4)
    assert tma_ring.shared_bytes(t, DType.BF16) == 4 * (128 + 256) * 64 * 2 + 4 * 2 * 8


def test_a_cluster_of_eight_is_portable():
    tma_ring.check(DType.BF16, tiling("128x128x64", "64x64", 2, "4x2"))


@pytest.mark.parametrize(
    ("tile", "stages", "cluster", "says"),
    [
        ("128x128x256", 3, "1x1", "slices of 32, 64, 128 of bf16"),
        ("128x128x64", 1, "1x1", "at least 2"),
        ("128x128x64", 3, "4x4", "at most 8 blocks"),
        ("128x512x64", 3, "1x1", "tile_n = 512"),
        ("512x128x64", 3, "1x1", "tile_m = 512"),
        ("128x40x64", 3, "4x1", "4 blocks cannot load equal parts"),
    ],
)
def test_refused_rings(tile, stages, cluster, says):
    with pytest.raises(UsageError, match=says):
        tma_ring.check(DType.BF16, tiling(tile, "64x64", stages, cluster))
