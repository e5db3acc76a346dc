"""Operators and functions of index expressions, and what CUDA's unsigned values make of them.

In CUDA ``threadIdx.x`` and its like are unsigned 32-bit numbers, and what is computed with them
wraps around below 0: ``threadIdx.x - 1 < 0`` is never true. Here values are signed and have 64
bits; where a value that has wrapped around would decide something (order, division, a shift to the
right) there is an error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

LIMIT: Final = 2**63


class Unsigned(int):
    """A value that has no sign in CUDA, nor has what is computed with it."""


def checked(value: int) -> int:
    """The value, if it is one of 64 bits."""
    if not -LIMIT <= value < LIMIT:
        raise OverflowError("a value is beyond 64 bits")
    return value


def _divided(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _shifted(x: int, y: int, shift: Callable[[int, int], int]) -> int:
    if not 0 <= y < 64:
        raise OverflowError(f"a shift by {y} is not one of 0 to 63")
    return shift(x, y)


#: binary operator -> (how tightly it binds, what it does)
BINARY: Final[dict[str, tuple[int, Callable[[int, int], int]]]] = {
    "*": (10, operator.mul),
    "/": (10, _divided),
    "%": (10, lambda x, y: x - y * _divided(x, y)),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "<<": (8, lambda x, y: _shifted(x, y, operator.lshift)),
    ">>": (8, lambda x, y: _shifted(x, y, operator.rshift)),
    "<": (7, lambda x, y: int(x < y)),
    "<=": (7, lambda x, y: int(x <= y)),
    ">": (7, lambda x, y: int(x > y)),
    ">=": (7, lambda x, y: int(x >= y)),
    "==": (6, lambda x, y: int(x == y)),
    "!=": (6, lambda x, y: int(x != y)),
    "&": (5, operator.and_),
    "^": (4, operator.xor),
    "|": (3, operator.or_),
    "&&": (2, lambda x, y: int(bool(x) and bool(y))),
    "||": (1, lambda x, y: int(bool(x) or bool(y))),
}
COMPARISONS: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})
#: what comes out differently where a value has wrapped around
_ORDERED: Final = frozenset({"/", "%", ">>", "<", "<=", ">", ">="})
#: the right side is only evaluated if the left one is this
STOPS_AT: Final = {"&&": False, "||": True}
UNARY: Final[dict[str, Callable[[int], int]]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda x: int(not x),
}
FUNCTIONS: Final[dict[str, tuple[int, Callable[..., int]]]] = {
    "min": (2, lambda x, y: typed(min(x, y), signed=signed("min", x, y))),
    "max": (2, lambda x, y: typed(max(x, y), signed=signed("max", x, y))),
    "abs": (1, abs),
    "int": (1, int),  # signed from here on
}


#: types of whole numbers that are cast to -> whether they have a sign; none is narrowed
SIGNED: Final = {
    **dict.fromkeys(
        ("int", "long", "long int", "long long", "int32_t", "int64_t", "ptrdiff_t", "ssize_t"), True
    ),
    **dict.fromkeys(
        ("unsigned", "unsigned int", "unsigned long", "unsigned long long", "uint", "size_t",
         "uint32_t", "uint64_t"),
        False,
    ),
}  # fmt: skip


def typed(value: int, *, signed: bool) -> int:
    """A result within range, with or without sign."""
    return checked(value) if signed else Unsigned(checked(value))


def signed(what: str, x: int, y: int) -> bool:
    """Whether ``what`` has a sign; an error where it has none and its value is another one so."""
    # a shift has the type of what is shifted
    unsigned = isinstance(x, Unsigned) or (isinstance(y, Unsigned) and what not in {"<<", ">>"})
    if unsigned and min(x, y) < 0 and (what in _ORDERED or what in FUNCTIONS):
        raise OverflowError(
            f"threadIdx.x has no sign in CUDA (int(threadIdx.x) has one): {what} of {x} and {y} is "
            f"computed without sign, where {min(x, y)} is {min(x, y) % 2**32},"
        )
    return not unsigned
