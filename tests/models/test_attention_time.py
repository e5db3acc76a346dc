"""What a warp does with a tile of keys, counted one by one."""

from __future__ import annotations

import pytest

from perfkit.models.attention_time import Tile, tile_time
from perfkit.models.contention import time_per_piece
from perfkit.models.gemm_time import Rates

TILE = Tile(keys=64, head_size=64, warps=4)
RATES = Rates(
    flop_per_s=4e12,
    clock_hz=1e9,
    shared_bytes_per_s=4e11,
    l2_bytes_per_s=None,
    read_bytes_per_s=None,
    write_bytes_per_s=None,
)


def test_instructions_by_walking_the_algorithm():
    products = sum(1 for _ in range(0, 64, 8) for _ in range(0, 64, 16)) * 2
    assert TILE.flops == products * 2 * 16 * 8 * 16
    # ldmatrix.x4 takes 16 x 16 elements: keys once, values once; a fourth of both is copied
    loads = 2 * (64 // 16) * (64 // 16)
    scores = 16 * 64 // 32
    sums = 16 * 64 // 32
    assert TILE.instructions == products + loads * 1.25 + sums + 6 * scores + 16
    assert TILE.exponentials == 32 * (scores + 2)


def test_one_warp_alone_does_one_thing_after_another():
    units = (
        4 * TILE.flops / 4e12,
        4 * TILE.shared_bytes / 4e11,
        4 * TILE.exponentials / 16e9,
        TILE.instructions / 1e9,
    )
    alone = tile_time(TILE, resident_warps=4, rates=RATES, special_per_s=16e9)
    assert alone == pytest.approx(sum(units))
    three = tile_time(TILE, resident_warps=12, rates=RATES, special_per_s=16e9)
    assert three == pytest.approx(time_per_piece(units, 3))
    assert max(units) < three < alone


def test_what_is_not_known_is_left_out():
    bare = Rates(
        flop_per_s=4e12,
        clock_hz=None,
        shared_bytes_per_s=None,
        l2_bytes_per_s=None,
        read_bytes_per_s=None,
        write_bytes_per_s=None,
    )
    found = tile_time(TILE, resident_warps=4, rates=bare, special_per_s=None)
    assert found == pytest.approx(TILE.flops / 1e12)
