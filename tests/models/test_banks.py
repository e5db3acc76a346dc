"""Wavefronts, against the counters of an H200 and examples whose answer is arithmetic."""

from __future__ import annotations

import csv
import gzip
import json
import random
from math import gcd
from pathlib import Path

import pytest

from perfkit.models.banks import pairing, pass_lanes, shared_access, wavefronts
from perfkit.models.coalescing import sectors

DATA = Path(__file__).resolve().parents[1] / "data" / "h200"
COUNTED = [
    one
    for one in json.loads((DATA / "h200_access_patterns.json").read_text("utf-8"))
    if one["space"] == "shared"
]


def test_every_pattern_that_was_counted():
    assert len(COUNTED) == 145
    assert {one["width"] for one in COUNTED} == {1, 2, 4, 8, 16}
    for one in COUNTED:
        access = shared_access(one["width"], one["offsets"], one["active"])
        assert access.wavefronts == one["wavefronts"], one
        assert access.wavefronts - access.ideal_wavefronts == one["conflicts"], one


def fresh():
    """Patterns like those of ``perfkit validate``: width, offsets, counts."""
    with gzip.open(DATA / "access_2026-11-30.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            offsets = [None if one == "-" else int(one) for one in row.pop("offsets").split()]
            counts = {name: int(value) for name, value in row.items()}
            yield counts.pop("width"), offsets, counts


def test_every_fresh_pattern_as_load_and_as_store():
    found = list(fresh())
    assert len(found) == 3100
    pairing_matters = 0
    for width, offsets, counts in found:
        assert wavefronts(width, offsets) == counts["shared_ld"], (width, offsets)
        assert wavefronts(width, offsets, store=True) == counts["shared_st"], (width, offsets)
        assert sectors(width, offsets) == counts["global_ld"] == counts["global_st"]
        pairing_matters += counts["shared_ld"] != counts["shared_st"]
    assert pairing_matters > 500  # or the rule of the pairs would hardly be tested


def test_patterns_that_pair_up_were_counted():
    paired = [pairing(o["width"], o["offsets"]) for o in COUNTED if all(o["active"])]
    assert {1, 2} <= set(paired)


@pytest.mark.parametrize("stride", range(1, 70))
def test_strides_conflict_by_their_common_divisor_with_the_banks(stride):
    # lanes hit 32 / gcd different banks
    access = shared_access(4, [4 * stride * lane for lane in range(32)])
    assert access.wavefronts == access.conflict_way == gcd(stride, 32)
    assert access.ideal_wavefronts == 1
    banks = {stride * lane % 32 for lane in range(32)}
    assert set(access.conflicting_banks) == (banks if access.conflict_way > 1 else set())


@pytest.mark.parametrize(("width", "passes"), [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)])
def test_contiguous_accesses_have_no_conflict(width, passes):
    access = shared_access(width, [width * lane for lane in range(32)])
    assert access.wavefronts == access.ideal_wavefronts == len(access.passes) == passes
    assert access.conflict_way == 1
    assert access.conflicting_banks == ()
    assert [(one.first_lane, one.last_lane) for one in access.passes] == [
        (first, first + 32 // passes - 1) for first in range(0, 32, 32 // passes)
    ]
    # bytes and halves share words, wider elements do not
    assert access.broadcast == (width < 4)


@pytest.mark.parametrize("bit", [1, 2])
@pytest.mark.parametrize(("width", "passes"), [(8, 1), (16, 2)])
def test_wide_accesses_pair_up(width, passes, bit):
    offsets = [width * (lane & ~bit) for lane in range(32)]
    access = shared_access(width, offsets)
    assert access.paired == bit
    assert access.ideal_wavefronts == passes
    # one lane that wants something else, and the whole warp does not
    offsets[31] += width
    assert shared_access(width, offsets).paired is None


@pytest.mark.parametrize("bit", [4, 8, 16, 3])
def test_other_pairs_do_not_count(bit):
    assert pairing(8, [8 * min(lane, lane ^ bit) for lane in range(32)]) is None


def test_a_lane_without_an_active_partner_pairs_up():
    offsets = [8 * lane for lane in range(32)]
    assert pairing(8, [o if lane % 2 else None for lane, o in enumerate(offsets)]) == 1
    assert pairing(8, [o if lane & 2 else None for lane, o in enumerate(offsets)]) == 2


def test_narrow_accesses_never_pair_up():
    assert pass_lanes(4) == pass_lanes(1) == 32
    assert pairing(4, [0] * 32) is None


def test_groups_without_an_active_lane_take_no_pass():
    active = [lane < 8 for lane in range(32)]
    assert wavefronts(16, [16 * lane for lane in range(32)], active) == 1


def test_laws():
    chance = random.Random(3)
    for _ in range(300):
        width = chance.choice((1, 2, 4, 8, 16))
        offsets = [width * chance.randrange(chance.choice((8, 64, 512))) for _ in range(32)]
        active = [chance.random() < 0.7 for _ in range(32)]
        access = shared_access(width, offsets, active)
        words = {
            (o + byte) // 4
            for o, on in zip(offsets, active, strict=True)
            if on
            for byte in range(width)
        }
        # all banks together cannot be faster, one bank alone cannot be slower
        assert -(-len(words) // 32) <= access.wavefronts <= 32
        assert access.ideal_wavefronts <= access.wavefronts
        assert access.wavefronts <= access.conflict_way * access.ideal_wavefronts
        # a whole row of the banks further, nothing changes
        moved = shared_access(width, [offset + 128 for offset in offsets], active)
        assert (moved.wavefronts, moved.paired) == (access.wavefronts, access.paired)
