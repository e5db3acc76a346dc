"""Grids and traffic of tiled products: published examples, and walking the tiles one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.gemm_instructions import instruction
from perfkit.models.gemm_tile import Tiling
from perfkit.models.gemm_traffic import Cache, Problem, grid, traffic
from perfkit.models.waves import waves

A100 = catalog.capability("8.0")
MMA = instruction(A100, DType.F16, "tensor", None)


def problem(m, n, k, dtype=DType.F16):
    return Problem(m=m, n=n, k=k, dtype=dtype, accumulate=DType.F32, out=DType.F16)


def tiling(tile_m, tile_n, tile_k=32, **more):
    return Tiling(
        **({"tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "stages": 3}
           | {"warp_m": min(tile_m, 64), "warp_n": min(tile_n, 64), "warp_k": tile_k} | more)
    )  # fmt: skip


def moved(p, t, *, sms=1, resident=1, l2=0, swizzle=1, one=MMA):
    g = grid(p, t, sm_count=sms, blocks_per_sm=resident)
    cache = Cache(l2_bytes=l2, swizzle=swizzle)
    return g, traffic(p, t, one, g, sm_count=sms, blocks_per_sm=resident, cache=cache)


# --- NVIDIA Matrix Multiplication Background User's Guide, 3 --------------------------------------


def test_tile_quantisation():
    """3.1: 128 x 128 tiles, one more column than two tiles hold: half as many blocks again."""
    whole, _ = moved(problem(256, 256, 64), tiling(128, 128))
    more, _ = moved(problem(256, 257, 64), tiling(128, 128))
    assert (whole.tiles, more.tiles) == (4, 6)
    assert whole.tile_efficiency == 1
    # 1.5 times the arithmetic for 0.39 % more work
    assert more.tile_efficiency == pytest.approx(257 / 256 / 1.5)


def test_wave_quantisation():
    """3.2: A100, 108 SMs, 256 x 128 tiles, one per SM: with m = 2304 a wave is 1536 columns."""
    t = tiling(256, 128)
    full, _ = moved(problem(2304, 1536, 4096), t, sms=108)
    over, _ = moved(problem(2304, 1537, 4096), t, sms=108)
    assert (full.tiles, over.tiles) == (108, 117)
    assert full.wave_efficiency == 1
    # a whole wave for nine tiles: almost half the rate
    assert over.busiest_steps == 2 * full.busiest_steps
    assert over.wave_efficiency == pytest.approx(117 / 216)


def test_figure_5_has_whole_waves_only():
    """2.3: 6912 x 2048 is chosen so that 256 x 128 tiles make four full waves on A100."""
    g, _ = moved(problem(6912, 2048, 4096), tiling(256, 128), sms=108)
    assert (g.tiles, g.wave_efficiency) == (432, 1)


@pytest.mark.parametrize(
    ("m", "n", "tile", "sms", "tiles", "full", "last"),
    [
        # tests/data/cases/launch.yaml, h10
        (2048, 2048, (128, 128), 108, 256, 2, 40),
        (512, 512, (64, 64), 108, 64, 0, 64),
        (2304, 1536, (128, 128), 108, 216, 2, 0),
        (1, 4096, (128, 128), 132, 32, 0, 32),
        (4096, 4097, (256, 128), 132, 528, 4, 0),
    ],
)
def test_tiles_and_waves(m, n, tile, sms, tiles, full, last):
    g, _ = moved(problem(m, n, 64), tiling(*tile), sms=sms)
    found = waves(grid=g.blocks, sm_count=sms, blocks_per_sm=1)
    assert (g.tiles, found.full_waves, found.partial_wave_blocks) == (tiles, full, last)
    assert g.wave_efficiency == pytest.approx(tiles / (sms * (full + (last > 0))))


# --- schedules ----------------------------------------------------------------------------------


def test_split_k_makes_more_blocks_of_fewer_steps():
    p = problem(128, 128, 32 * 100)
    for split, steps in ((1, 100), (2, 50), (3, 34), (8, 13)):
        g, found = moved(p, tiling(128, 128, split_k=split), sms=8)
        assert (g.blocks, g.busiest_steps) == (split, steps)
        # a sum of f32 per slice, written and read
        assert found.partial_bytes == (0 if split == 1 else 2 * 4 * split * 128 * 128)
        # steps that do not divide are padded
        assert g.tile_efficiency == pytest.approx(100 / (steps * split))


def test_stream_k_gives_every_sm_the_same():
    p, sms = problem(1280, 1280, 3200), 8
    g, _ = moved(p, tiling(128, 128, split_k=0), sms=sms)
    assert (g.tiles, g.k_steps, g.blocks) == (100, 100, 8)
    assert g.busiest_steps == 100 * 100 / 8
    assert g.wave_efficiency == 1
    whole, _ = moved(p, tiling(128, 128), sms=sms)
    assert whole.wave_efficiency == pytest.approx(100 / 104)


@pytest.mark.parametrize(
    ("tiles_m", "sms"), list(itertools.product((1, 5, 12, 16, 30), (2, 8, 12, 15)))
)
def test_stream_k_cuts_counted_one_by_one(tiles_m, sms):
    # exact shares of k steps: a cut at a multiple of k_steps falls between two tiles
    k_steps = sms  # so that every share is a whole number of steps
    p = problem(128 * tiles_m, 128, 32 * k_steps)
    g, found = moved(p, tiling(128, 128, split_k=0), sms=sms)
    share = tiles_m * k_steps // g.blocks
    cuts = sum(block * share % k_steps != 0 for block in range(1, g.blocks))
    assert share * g.blocks == tiles_m * k_steps
    # a tile that is cut is written by all but one of its blocks, and read
    assert found.partial_bytes == 2 * 4 * cuts * 128 * 128


def test_clusters_pad_the_grid_and_load_together():
    p = problem(128 * 5, 128 * 3, 64)
    alone, without = moved(p, tiling(128, 128), sms=4)
    g, found = moved(p, tiling(128, 128, cluster_m=2, cluster_n=2), sms=4)
    assert (alone.blocks, g.blocks) == (15, 24)
    assert g.tiles == 15
    a, b, c = 2 * 640 * 64, 2 * 64 * 384, 2 * 640 * 384
    assert without.l2_bytes == 3 * a + 5 * b + c
    assert found.l2_bytes == 2 * a + 3 * b + c


# --- memory levels --------------------------------------------------------------------------------


def test_l2_traffic_by_walking_the_tiles():
    p, t = problem(300, 500, 70), tiling(128, 64)
    loaded = 0
    for row, column in itertools.product(range(0, p.m, 128), range(0, p.n, 64)):
        loaded += 2 * p.k * (min(128, p.m - row) + min(64, p.n - column))
    _, found = moved(p, t)
    assert found.l2_bytes == loaded + 2 * p.m * p.n


def test_shared_memory_by_walking_the_warps():
    p, t = problem(128, 128, 64), tiling(128, 128, warp_m=64, warp_n=32)
    read = sum(64 + 32 for _ in itertools.product(range(0, 128, 64), range(0, 128, 32)))
    _, found = moved(p, t)
    assert found.l1_bytes == 2 * read * p.k
    h100 = catalog.capability("9.0")
    wgmma = instruction(h100, DType.F16, "tensor", (64, 128, 16))
    _, wide = moved(p, tiling(128, 128, warp_m=16, warp_n=128), one=wgmma)
    # two groups: each reads its 64 rows of A, and all of B
    assert wide.l1_bytes == 2 * (128 + 2 * 128) * p.k


def walked(rows, columns, wave, width, size_a, size_b):
    """DRAM reads without a cache between waves: rows and columns of tiles of each wave."""
    order = [
        (row, column)
        for band in range(0, columns, width)
        for row in range(rows)
        for column in range(band, min(band + width, columns))
    ]
    total = 0
    for start in range(0, len(order), wave):
        at_once = order[start : start + wave]
        total += len({row for row, _ in at_once}) * size_a
        total += len({column for _, column in at_once}) * size_b
    return total


@pytest.mark.parametrize(
    ("rows", "columns", "wave", "width"),
    [(8, 8, 8, 1), (8, 8, 16, 1), (8, 8, 4, 1), (8, 8, 4, 2), (8, 8, 16, 4), (16, 4, 8, 2),
     (1, 32, 8, 1), (32, 1, 8, 1), (8, 8, 64, 1), (6, 6, 12, 2)],
)  # fmt: skip
def test_dram_traffic_by_walking_the_waves(rows, columns, wave, width):
    k = 64
    p = problem(128 * rows, 64 * columns, k)
    _, found = moved(p, tiling(128, 64), sms=wave, swizzle=width)
    one_way = walked(rows, columns, wave, width, 2 * 128 * k, 2 * 64 * k)
    other_way = walked(columns, rows, wave, width, 2 * 64 * k, 2 * 128 * k)
    assert found.dram_bytes - 2 * p.m * p.n == min(one_way, other_way)


def test_what_fits_into_l2_is_read_once():
    p = problem(4096, 4096, 4096)
    compulsory = 3 * 2 * 4096 * 4096
    _, found = moved(p, tiling(128, 128), sms=108, l2=100 * 2**20)
    assert found.dram_bytes == compulsory
    _, less = moved(p, tiling(128, 128), sms=108, l2=4 * 2**20)
    assert less.dram_bytes > compulsory


def test_a_larger_cache_or_wave_never_means_more_dram_traffic():
    p = problem(3000, 5000, 2000)
    checked = 0
    for tile_m, tile_n, swizzle in itertools.product((64, 128, 256), (64, 128), (1, 2, 8)):
        by_cache = [
            moved(p, tiling(tile_m, tile_n), sms=40, l2=size * 2**18, swizzle=swizzle)[1].dram_bytes
            for size in range(80)
        ]
        assert by_cache == sorted(by_cache, reverse=True)
        assert by_cache[-1] >= 2 * (3000 * 2000 + 2000 * 5000 + 3000 * 5000)
        checked += 1
    assert checked == 18


def test_partial_sums_that_do_not_fit_into_l2_go_to_dram():
    p = problem(1024, 1024, 4096)
    t = tiling(128, 128, split_k=4)
    _, fits = moved(p, t, sms=108, l2=40 * 2**20)
    _, spills = moved(p, t, sms=108, l2=2**20)
    assert fits.partial_bytes == 2 * 4 * 4 * 1024 * 1024
    assert spills.dram_bytes - moved(p, tiling(128, 128), sms=108, l2=2**20)[1].dram_bytes == (
        pytest.approx(fits.partial_bytes)
    )
    assert fits.dram_bytes < spills.dram_bytes


def test_scalars_and_arrays_agree():
    p = problem(777, 1234, 555)
    sizes = list(itertools.product((64, 128), (64, 256), (16, 64), (1, 2), (0, 1, 3)))
    columns = np.array(sizes, dtype=float).T
    names = ("tile_m", "tile_n", "tile_k", "cluster_m", "split_k")
    arrays = Tiling(
        **dict(zip(names, columns, strict=True)), warp_m=64.0, warp_n=64.0, warp_k=16.0, stages=3.0
    )

    def gcd(x, y):
        return np.gcd(x.astype(int), y.astype(int))

    g = grid(p, arrays, sm_count=46, blocks_per_sm=2, ops=np)
    found = traffic(
        p,
        arrays,
        MMA,
        g,
        sm_count=46,
        blocks_per_sm=2,
        cache=Cache(l2_bytes=2**19),
        gcd=gcd,
        ops=np,
    )
    for at, size in enumerate(sizes):
        t = Tiling(**dict(zip(names, size, strict=True)), warp_m=64, warp_n=64, warp_k=16, stages=3)
        one, alone = moved(p, t, sms=46, resident=2, l2=2**19)
        for name in ("blocks", "busiest_steps", "tile_efficiency", "wave_efficiency"):
            assert getattr(g, name)[at] == pytest.approx(getattr(one, name)), (name, size)
        for name in ("flops", "l1_bytes", "l2_bytes", "dram_bytes", "partial_bytes"):
            assert getattr(found, name)[at] == pytest.approx(getattr(alone, name)), (name, size)


def test_clusters_that_do_not_fill_every_group_of_sms_leave_some_without_work():
    """Clusters of four reach 120 of the 132 SMs of an H200: 512 tiles take five rounds."""
    p = Problem(m=4096, n=4096, k=4096, dtype=DType.BF16, accumulate=DType.F32, out=DType.BF16)
    t = Tiling(
        tile_m=128, tile_n=256, tile_k=64, warp_m=16, warp_n=256, warp_k=64, stages=4, cluster_m=4
    )
    every, fewer = (
        grid(p, t, sm_count=132, blocks_per_sm=1, usable_sms=usable) for usable in (None, 120)
    )
    assert every.busiest_steps == 4 * 64
    assert fewer.busiest_steps == 5 * 64
    # the share of all 132 SMs, not of those that get work
    assert fewer.wave_efficiency == pytest.approx(512 / (5 * 132))
