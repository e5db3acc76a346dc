"""Arithmetic that reads the same for one integer and for an array of them.

A rule is written once with ``+ - * //``, comparisons and the three operations below. A scalar
query passes ``SCALAR`` and never imports NumPy; a sweep passes the ``numpy`` module itself.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

#: An integer, or an integer array. Rules cannot tell and must not care.
Int = Any

#: "No limit" inside the rules. Results say ``None`` instead; every real limit is far below.
NO_LIMIT: Final = 2**31 - 1


class Ops(Protocol):
    def minimum(self, x: Int, y: Int, /) -> Int: ...
    def maximum(self, x: Int, y: Int, /) -> Int: ...
    def where(self, condition: Any, x: Int, y: Int, /) -> Int: ...


class _Scalar:
    minimum = staticmethod(min)
    maximum = staticmethod(max)

    @staticmethod
    def where(condition: Any, x: Int, y: Int, /) -> Int:
        return x if condition else y


SCALAR: Final[Ops] = _Scalar()


def ceil_div(x: Int, y: Int) -> Int:
    """Round ``x / y`` up.

    >>> ceil_div(33, 32), ceil_div(32, 32), ceil_div(0, 32)
    (2, 1, 0)
    """
    return -(-x // y)


def round_up(x: Int, unit: Int) -> Int:
    """Round ``x`` up to a multiple of ``unit``.

    >>> round_up(1025, 128)
    1152
    """
    return -(-x // unit) * unit
