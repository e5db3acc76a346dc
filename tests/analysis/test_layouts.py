"""Padding and swizzles that take conflicts away."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from perfkit.analysis.layouts import Tile, check_inside, fixes, row_of_banks
from perfkit.errors import UsageError
from perfkit.models.banks import shared_access
from perfkit.models.layout import Padding, Swizzle


def columns(size, pitch, *, element=4, width=None, warps=4):
    """Each warp reads one column of a square tile."""
    return Tile(
        indices=tuple(tuple(lane * pitch + warp for lane in range(size)) for warp in range(warps)),
        width_bytes=width or element,
        element_bytes=element,
        pitch=pitch,
        rows=size,
    )


def ideal(tile):
    return sum(
        shared_access(
            tile.width_bytes, [None if i is None else i * tile.element_bytes for i in lanes]
        ).ideal_wavefronts
        for lanes in tile.indices
    )


def test_the_column_of_a_32_by_32_tile():
    # the textbook answer is a pitch of 33; CuTe's is Swizzle<5,0,5>
    tile = columns(32, 32)
    padding, swizzle = fixes(tile, ideal(tile))
    assert (padding.layout, padding.extra_bytes) == (Padding(pitch=32, elements=1), 128)
    assert (swizzle.layout, swizzle.extra_bytes) == (Swizzle(bits=5, base=0, shift=5), 0)
    assert padding.removes_all
    assert swizzle.removes_all
    assert padding.block_wavefronts == swizzle.block_wavefronts == 4


def test_the_pad_for_float4_leaves_conflicts_that_another_takes_away():
    # a pitch of 36 words: 32 / gcd(36, 32) = 8 banks, four lanes on each
    tile = columns(32, 36)
    assert tile.wavefronts() == 4 * 4
    padding, *_ = fixes(tile, ideal(tile))
    assert padding.layout == Padding(pitch=36, elements=1)


def test_half_tiles_read_16_bytes_at_a_time():
    # ldmatrix without the matrix: 8 rows of 64 halves, eight halves per lane
    lanes = tuple(lane % 8 * 64 + lane // 8 * 8 for lane in range(32))
    tile = Tile(indices=(lanes,), width_bytes=16, element_bytes=2, pitch=64, rows=8)
    assert tile.wavefronts() == 32
    padding, swizzle = fixes(tile, 4)
    # 16 bytes more per row keep 16-byte accesses aligned
    assert padding.layout == Padding(pitch=64, elements=8)
    assert swizzle.layout == Swizzle(bits=3, base=3, shift=3)
    assert padding.block_wavefronts == swizzle.block_wavefronts == 4


def test_without_conflicts_there_is_nothing_to_fix():
    tile = columns(32, 33)
    assert fixes(tile, ideal(tile)) == ()


def test_a_swizzle_stays_inside_a_tile_of_known_size():
    tile = columns(32, 36)  # 1152 elements
    for fix in fixes(tile, ideal(tile)):
        if isinstance(fix.layout, Swizzle):
            assert 32 * 36 % fix.layout.block == 0


@pytest.mark.parametrize("element", [1, 2, 4, 8, 12, 16])
def test_what_is_found_is_what_the_model_says(element):
    chance = random.Random(element)
    width = {12: 4}.get(element, element)
    for _ in range(10):
        pitch = chance.choice((8, 16, 20, 32, 64))
        indices = tuple(
            tuple(chance.randrange(16) * pitch + chance.randrange(2) for _ in range(32))
            for _ in range(2)
        )
        tile = Tile(indices=indices, width_bytes=width, element_bytes=element, pitch=pitch)
        before, least = tile.wavefronts(), ideal(tile)
        for fix in fixes(tile, least):
            assert tile.wavefronts(fix.layout) == fix.block_wavefronts
            assert least <= fix.block_wavefronts < before
            assert fix.removes_all == (fix.block_wavefronts == least)


@pytest.mark.parametrize(("element", "width"), [(2, 16), (4, 16), (2, 4), (4, 8)])
def test_what_a_lane_moves_stays_together_and_aligned(element, width):
    run = width // element
    lanes = tuple(lane * 64 for lane in range(32))
    tile = Tile(indices=(lanes,), width_bytes=width, element_bytes=element, pitch=64, rows=32)
    found = fixes(tile, ideal(tile))
    assert found
    for fix in found:
        for start in lanes:
            places = [fix.layout.place(start + i) for i in range(run)]
            assert places[0] * element % width == 0
            assert all(b - a == 1 for a, b in pairwise(places))


def test_rows_stay_free_of_conflicts():
    """A tile is written by rows before it is read by columns."""
    for element in (1, 2, 4, 8, 16):
        size = row_of_banks(element)
        tile = columns(32, max(32, size), element=element)
        rows = tuple(
            tuple(row * tile.pitch + lane for lane in range(32)) for row in range(tile.rows)
        )
        written = Tile(indices=rows, width_bytes=element, element_bytes=element, pitch=tile.pitch)
        for fix in fixes(tile, ideal(tile)):
            if isinstance(fix.layout, Swizzle):
                assert written.wavefronts(fix.layout) == written.wavefronts() == ideal(written)


def test_rows_of_the_banks():
    assert [row_of_banks(b) for b in (1, 4, 12, 16, 128, 4096)] == [128, 32, 10, 8, 1, 1]


def test_outside_the_tile():
    check_inside([[0, None, 1023]], 32, 32)
    with pytest.raises(
        UsageError, match="warp 0, lane 1: element 1024 is not in a tile of 32 x 32"
    ):
        check_inside([[0, 1024]], 32, 32)
