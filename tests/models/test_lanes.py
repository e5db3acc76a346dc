"""What is an access of a warp, and what is not."""

from __future__ import annotations

import numpy as np
import pytest

from perfkit.errors import UsageError
from perfkit.models.banks import wavefronts
from perfkit.models.coalescing import sectors
from perfkit.models.lanes import WIDTHS, addresses

CONTIGUOUS = list(range(0, 128, 4))
BOTH = pytest.mark.parametrize("count", [sectors, wavefronts])


@BOTH
def test_lists_ranges_and_arrays_are_the_same(count):
    expected = count(4, CONTIGUOUS)
    assert count(4, range(0, 128, 4)) == expected
    assert count(4, np.arange(0, 128, 4)) == expected
    assert count(np.int32(4), tuple(CONTIGUOUS), np.ones(32, bool)) == expected


@BOTH
def test_inactive_lanes_need_no_address_and_missing_lanes_are_inactive(count):
    active = [lane < 20 for lane in range(32)]
    expected = count(4, CONTIGUOUS, active)
    wild = [offset if on else -17 for offset, on in zip(CONTIGUOUS, active, strict=True)]
    assert count(4, wild, active) == expected
    assert count(4, [o if o < 80 else None for o in CONTIGUOUS]) == expected
    assert count(4, CONTIGUOUS[:20]) == expected


@BOTH
def test_nobody_takes_part(count):
    assert count(4, []) == count(4, CONTIGUOUS, [False] * 32) == 0


@BOTH
@pytest.mark.parametrize(
    ("width", "offsets", "active", "says"),
    [
        (3, CONTIGUOUS, None, "width = 3: no instruction"),
        (0, CONTIGUOUS, None, "width = 0"),
        (-4, CONTIGUOUS, None, "width = -4"),
        (32, CONTIGUOUS, None, "width = 32"),
        (float("nan"), CONTIGUOUS, None, "width = nan"),
        (4.0, CONTIGUOUS, None, "width = 4.0"),
        ("4", CONTIGUOUS, None, "width = '4'"),
        (4, [0] * 33, None, "33 lanes: a warp has 32"),
        (4, [0, 4, -4], None, "lane 2: byte address -4 is negative"),
        (4, [0, 2], None, "lane 1: byte address 2 is not a multiple of 4"),
        (4, [0, 2**49], None, "beyond any memory"),
        (4, [0, float("nan")], None, "lane 1: nan is not a byte address"),
        (4, [0.5], None, "lane 0: 0.5 is not"),
        (4, ["0"], None, "lane 0: '0' is not"),
        (4, [None, 4], [True, True], "lane 0: None is not"),
        (4, CONTIGUOUS, [True] * 31, "active has 31 lanes, offsets has 32"),
        (4, 17, None, "offsets is not one value per lane"),
        (4, None, None, "offsets is not one value per lane"),
        (4, CONTIGUOUS, 0xFFFF, "active is not one value per lane"),
    ],
)
def test_what_is_refused(count, width, offsets, active, says):
    with pytest.raises(UsageError) as error:
        count(width, offsets, active)
    assert says in str(error.value)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_is_taken(width):
    assert addresses(width, [0, width]) == [0, width]
