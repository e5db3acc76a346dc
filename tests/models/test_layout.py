"""Padded and swizzled tiles: no element is lost, and CuTe's formula."""

from __future__ import annotations

import pytest

from perfkit.errors import UsageError
from perfkit.models.layout import Padding, Swizzle

SWIZZLES = [(b, m, s) for b in range(5) for m in range(4) for s in range(b, 6)]


def c(expression: str, i: int) -> int:
    """The value of an expression for CUDA C++, for numbers where Python's operators agree."""
    return eval(expression.replace("/", "//"), {"i": i})


@pytest.mark.parametrize(("bits", "base", "shift"), SWIZZLES)
def test_swizzles_as_cute_defines_them(bits, base, shift):
    swizzle = Swizzle(bits=bits, base=base, shift=shift)
    # cute/swizzle.hpp: yyy is a mask of B bits at M + max(0, S); x ^ ((x & yyy) >> S)
    yyy = (1 << bits) - 1 << base + max(0, shift)
    size = 1 << base + bits + shift
    places = [swizzle.place(x) for x in range(size)]
    assert places == [x ^ (x & yyy) >> shift for x in range(size)]
    assert places == [c(swizzle.expression, x) for x in range(size)]
    # no element is lost, and none leaves its block
    assert sorted(places) == list(range(size))
    assert all(x // swizzle.block == place // swizzle.block for x, place in enumerate(places))
    # runs of 2^M stay together
    run = 1 << base
    assert all(places[x] - places[x - x % run] == x % run for x in range(size))


@pytest.mark.parametrize("pitch", [1, 31, 32])
@pytest.mark.parametrize("elements", [1, 4])
def test_padded_rows(pitch, elements):
    padding = Padding(pitch=pitch, elements=elements)
    for row in range(4):
        for column in range(pitch):
            index = row * pitch + column
            assert padding.place(index) == row * (pitch + elements) + column
            assert padding.place(index) == c(padding.expression, index)


@pytest.mark.parametrize(("bits", "base", "shift"), [(-1, 0, 3), (4, 0, 3), (2, -1, 3)])
def test_what_is_no_swizzle(bits, base, shift):
    with pytest.raises(UsageError, match="Swizzle"):
        Swizzle(bits=bits, base=base, shift=shift)
