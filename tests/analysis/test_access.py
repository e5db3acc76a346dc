"""Accesses of a block: arrays, structs and files of addresses."""

from __future__ import annotations

import pytest

from perfkit.analysis.access import banking, coalescing, indexed, members
from perfkit.analysis.structs import parse
from perfkit.errors import UsageError

WARPS = tuple(tuple(range(32 * w, 32 * w + 32)) for w in range(4))


def test_a_block_adds_up_its_warps():
    access = indexed("a", (*WARPS, (None,) * 32), width=4, element=4, offset=1)
    found = coalescing(access, warp=1)
    assert found.detail.sectors == 5
    assert (found.requests, found.block_sectors) == (4, 20)
    assert found.block_efficiency == 4 * 128 / (20 * 32)
    shared = banking(indexed("a", WARPS, width=8, element=8))
    assert (shared.requests, shared.block_wavefronts, shared.block_ideal_wavefronts) == (4, 8, 8)
    assert shared.block_conflict_way == 1


def test_the_worst_warp_is_found():
    mixed = (WARPS[0], tuple(32 * lane for lane in range(32)))
    assert banking(indexed("a", mixed, width=4, element=4)).block_conflict_way == 32
    assert banking(indexed("a", mixed, width=4, element=4)).detail.conflict_way == 1


def test_members_of_structs_and_of_separate_arrays():
    # 12 bytes: x at 0, y at 4, h at 8
    found = members(parse("float x; float y; half h"), WARPS[:1])
    assert [(one.label, one.layout, one.width_bytes) for one in found] == [
        ("x", "aos", 4), ("x", "soa", 4),
        ("y", "aos", 4), ("y", "soa", 4),
        ("h", "aos", 2), ("h", "soa", 2),
    ]  # fmt: skip
    assert found[2].warps[0] == tuple(12 * lane + 4 for lane in range(32))
    assert found[5].warps[0] == tuple(2 * lane for lane in range(32))
    # 384 bytes are 12 sectors; 32 halves are 64 bytes, two sectors
    assert [coalescing(one).detail.sectors for one in found] == [12, 4, 12, 4, 12, 2]
    # 3 words apart: 3 and 32 have no common divisor, no conflict
    assert [banking(one).detail.conflict_way for one in found] == [1] * 6


def test_the_warp_is_named_where_an_address_is_wrong():
    with pytest.raises(UsageError, match="warp 0, lane 0: byte address -4 is negative"):
        coalescing(indexed("a", WARPS, width=4, element=4, offset=-1))
    with pytest.raises(UsageError, match="warp 0, lane 1: byte address 4 is not a multiple of 16"):
        banking(indexed("a", WARPS, width=16, element=4))


def test_a_packed_member_is_read_in_pieces_and_whole_in_its_own_array():
    struct = parse("struct __attribute__((packed)) S { char c; float x; }")
    found = members(struct, (tuple(range(32)),))
    read = [(one.label, one.layout, one.width_bytes) for one in found]
    assert read == [
        ("c", "aos", 1), ("c", "soa", 1),
        ("x:0", "aos", 1), ("x:0", "soa", 4),
        ("x:1", "aos", 1), ("x:2", "aos", 1), ("x:3", "aos", 1),
    ]  # fmt: skip
