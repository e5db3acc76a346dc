"""Where the elements of a shared-memory tile lie: in rows, in padded rows, or swizzled.

Padding makes the tile larger; the swizzle moves elements about within blocks of 2^(M + B) and costs
no memory. It keeps runs of 2^M elements together, which an access of several elements per lane
needs.

Formula:
    padded   : i -> i + floor(i / pitch) * padding
    swizzled : i -> i xor (floor(i / 2^S) and ((2^B - 1) * 2^M))       CUTLASS's Swizzle<B, M, S>

Units: ``i`` is the number of an element in the plain tile, ``pitch`` and ``padding`` are elements.

Source: CUDA C++ Best Practices Guide 13.0, "Shared Memory in Matrix Multiplication"; CUTLASS, CuTe
``swizzle.hpp``.

Valid: S >= B >= 0 and M >= 0, whatever the element is.

>>> from perfkit.models.layout import Padding, Swizzle
>>> Padding(pitch=32, elements=1).place(64), Swizzle(bits=5, base=0, shift=5).place(64)
(66, 66)
"""

from __future__ import annotations

from perfkit.errors import UsageError
from perfkit.record import record


@record
class Padding:
    """Rows of ``pitch`` elements with ``elements`` unused ones after each."""

    pitch: int
    elements: int

    def place(self, index: int) -> int:
        """Where an element lies.

        >>> Padding(pitch=32, elements=1).place(64)
        66
        """
        return index + index // self.pitch * self.elements

    @property
    def expression(self) -> str:
        """The same in CUDA C++, of an index ``i``."""
        factor = f" * {self.elements}" if self.elements > 1 else ""
        return f"i + i / {self.pitch}{factor}"


@record
class Swizzle:
    """``Swizzle<bits, base, shift>``."""

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if not 0 <= self.bits <= self.shift or self.base < 0:
            raise UsageError(
                f"{self.name}: bits may not exceed the shift, and nothing may be negative"
            )

    @property
    def name(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"

    def place(self, index: int) -> int:
        """Where an element lies.

        >>> Swizzle(bits=3, base=0, shift=5).place(33)
        32
        """
        return index ^ (index >> self.shift & self.mask)

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.base

    @property
    def block(self) -> int:
        """A tile of a multiple of this many elements stays within its memory."""
        return 1 << self.base + self.bits

    @property
    def expression(self) -> str:
        """The same in CUDA C++, of an index ``i``."""
        return f"i ^ ((i >> {self.shift}) & {self.mask:#x})"
