"""Which threads make which warp."""

from __future__ import annotations

import pytest

from perfkit.analysis.expression import Expression
from perfkit.analysis.threads import Block
from perfkit.errors import InvalidLaunch, UsageError


def values(block, text, active=None):
    return block.values(Expression(text), Expression(active) if active else None)


def test_threads_fill_warps_in_the_order_x_y_z():
    block = Block(size=(8, 4, 4))
    place = values(block, "threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z")
    # CUDA C++ Programming Guide, "Thread Hierarchy": x + y Dx + z Dx Dy
    assert place == tuple(
        tuple(t % 8 + 100 * (t // 8 % 4) + 10000 * (t // 32) for t in range(32 * w, 32 * w + 32))
        for w in range(4)
    )
    assert values(block, "thread - warp * warpSize - lane") == ((0,) * 32,) * 4


def test_the_last_warp_may_be_partly_empty():
    assert values(Block(size=(40, 1, 1)), "lane") == (
        tuple(range(32)),
        (*range(8), *(None,) * 24),
    )


def test_inactive_lanes_are_not_computed():
    (found,) = values(Block(), "100 / lane", "lane > 0 && lane < 3")
    assert found == (None, 100, 50, *(None,) * 29)


def test_the_place_of_the_block():
    block = Block(size=(4, 2, 1), index=(3, 1, 0), grid=(5, 2, 1))
    (found,) = values(block, "blockIdx.x * blockDim.x + gridDim.x * 1000 + blockIdx.y * 100000")
    assert set(found[:8]) == {3 * 4 + 5000 + 100000}


@pytest.mark.parametrize(
    ("size", "says"),
    [
        ((0, 1, 1), "threads = 0: a block has 1 to 1024"),
        ((1025, 1, 1), "threads = 1025"),
        ((32, 32, 2), "threads = 2048"),
        ((1, 1, 65), "z is 65, at most 64"),
    ],
)
def test_what_is_no_block(size, says):
    with pytest.raises(InvalidLaunch, match=says):
        Block(size=size)


def test_what_is_refused():
    with pytest.raises(InvalidLaunch, match="block y is 2: the grid ends at 1"):
        Block(index=(0, 2, 0), grid=(4, 2, 1))
    with pytest.raises(UsageError, match="warp 2: the block has 2"):
        Block(size=(64, 1, 1)).check_warp(2)
    with pytest.raises(UsageError, match="warp -1"):
        Block().check_warp(-1)
    with pytest.raises(UsageError, match="unknown name 'tid'") as error:
        values(Block(), "0 && tid")
    assert "threadIdx.x" in error.value.hint
    assert error.value.hint.startswith("a number, or")
    with pytest.raises(UsageError, match=r"unknown name 'gridDim\.x'") as error:
        values(Block(), "1", "gridDim.x")
    assert "--grid" in error.value.hint
    with pytest.raises(UsageError, match=r"division by zero in thread \(1, 0, 0\)"):
        values(Block(), "1 / (1 - lane)")
