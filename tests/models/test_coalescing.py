"""Sectors, against the counters of an H200 and the worked examples of NVIDIA's guide."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from perfkit.models.coalescing import global_access, sectors

DATA = Path(__file__).resolve().parents[1] / "data" / "h200"
COUNTED = [
    one
    for one in json.loads((DATA / "h200_access_patterns.json").read_text("utf-8"))
    if one["space"] == "global"
]


def test_every_pattern_that_was_counted():
    assert len(COUNTED) == 155
    assert {one["width"] for one in COUNTED} == {1, 2, 4, 8, 16}
    for one in COUNTED:
        assert sectors(one["width"], one["offsets"], one["active"]) == one["sectors"], one


# CUDA C++ Best Practices Guide, 10.2.1.1 to 10.2.1.4, for sectors of 32 bytes: aligned and in order
# (or permuted) four; shifted by one to seven words five; a stride of s words min(32, 4 s)
@pytest.mark.parametrize(
    ("shift", "expected"), [(0, 4), (1, 5), (7, 5), (8, 4), (9, 5), (16, 4), (31, 5), (32, 4)]
)
def test_shifted_copies(shift, expected):
    access = global_access(4, [4 * (lane + shift) for lane in range(32)])
    assert access.sectors == expected
    assert access.efficiency == 4 / expected
    assert access.misaligned_bytes == shift % 8 * 4
    assert access.aligned_sectors == 4


@pytest.mark.parametrize("stride", range(1, 40))
def test_strided_copies(stride):
    access = global_access(4, [4 * lane * stride for lane in range(32)])
    # the last lane is at 124 stride; beyond a stride of eight words each lane has its own sector
    expected = 32 if stride >= 8 else 124 * stride // 32 + 1
    assert access.sectors == expected
    assert access.efficiency == 128 / (32 * expected)


def test_order_does_not_matter():
    lanes = [4 * lane for lane in range(32)]
    random.Random(1).shuffle(lanes)
    assert sectors(4, lanes) == 4


def test_a_broadcast_asks_for_more_than_it_uses():
    access = global_access(4, [64] * 32)
    assert (access.sectors, access.lines) == (1, 1)
    assert (access.asked_bytes, access.used_bytes, access.moved_bytes) == (128, 4, 32)
    assert access.efficiency == 1 / 8


def test_lines_are_of_four_sectors():
    access = global_access(8, [8 * lane + 120 for lane in range(32)])
    # bytes 120 to 375: of the lines 0, 128 and 256; of the sectors 3 to 11
    assert (access.lines, access.sectors, access.aligned_sectors) == (3, 9, 8)


def test_nothing_moves_nothing():
    access = global_access(4, [0] * 32, [False] * 32)
    assert (access.lanes, access.sectors, access.moved_bytes) == (0, 0, 0)
    assert access.efficiency == 1.0


def test_laws():
    chance = random.Random(2)
    for _ in range(300):
        width = chance.choice((1, 2, 4, 8, 16))
        reach = chance.choice((8, 64, 4096))
        offsets = [width * chance.randrange(reach) for _ in range(32)]
        active = [chance.random() < 0.7 for _ in range(32)]
        found = sectors(width, offsets, active)
        # a lane more is never a sector less, and at most one more
        everywhere = sectors(width, offsets)
        assert found <= everywhere <= found + active.count(False)
        # whole sectors further, nothing changes
        assert sectors(width, [offset + 96 for offset in offsets], active) == found
        access = global_access(width, offsets, active)
        assert access.used_bytes <= access.moved_bytes
        assert access.used_bytes <= access.asked_bytes
        assert access.lines <= access.sectors <= 4 * access.lines
