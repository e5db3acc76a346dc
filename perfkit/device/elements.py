"""Types of array elements: how NumPy stores them, and how a kernel fills them with data.

NumPy has neither bf16 nor f8: their bits are kept as whole numbers, and ``as_numbers`` reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Element(NamedTuple):
    """One type."""

    storage: str  #: of NumPy
    size_bytes: int
    kind: int  #: ``fill_random`` of kernels/data.cu

    @property
    def is_real(self) -> bool:
        """Random values lie between -1 and 1; otherwise they are whole numbers."""
        return self.kind < _INT8


_F32, _F64, _F16, _BF16, _F8, _INT8, _INT32, _INT64 = range(8)

ELEMENTS: Final = {
    "f64": Element("float64", 8, _F64),
    "f32": Element("float32", 4, _F32),
    "f16": Element("float16", 2, _F16),
    "bf16": Element("uint16", 2, _BF16),
    "f8": Element("uint8", 1, _F8),
    "i64": Element("int64", 8, _INT64),
    "u64": Element("uint64", 8, _INT64),
    "i32": Element("int32", 4, _INT32),
    "u32": Element("uint32", 4, _INT32),
    "i8": Element("int8", 1, _INT8),
    "u8": Element("uint8", 1, _INT8),
}
_ALIASES: Final = {
    "float": "f32",
    "double": "f64",
    "half": "f16",
    "int": "i32",
    "unsigned": "u32",
    "long": "i64",
    "s8": "i8",
    "s32": "i32",
    "tf32": "f32",
}


def element(name: str) -> tuple[str, Element]:
    """The type of that name, and its proper name.

    Raises:
        UsageError: there is none.

    >>> element("half")[0], element("bf16")[1].size_bytes
    ('f16', 2)
    """
    proper = _ALIASES.get(name, name)
    if proper not in ELEMENTS:
        raise UsageError(f"{name!r} is no type of elements", hint=f"one of: {', '.join(ELEMENTS)}")
    return proper, ELEMENTS[proper]


def as_numbers(raw: NDArray[Any], name: str) -> NDArray[Any]:
    """What the bits mean: bf16 and f8 as f32, everything else as it is."""
    import numpy as np

    if name == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if name == "f8":
        found: NDArray[Any] = _e4m3()[raw]
        return found
    return raw


def _e4m3() -> NDArray[Any]:
    """Value of each of the 256 codes: sign, 4 bits of exponent (bias 7), 3 bits of mantissa."""
    import numpy as np

    code = np.arange(256)
    exponent, mantissa = code >> 3 & 15, code & 7
    small = mantissa / 8 * 2.0**-6
    value = np.where(exponent == 0, small, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    value[code & 127 == 127] = np.nan
    table: NDArray[Any] = np.where(code & 128, -value, value).astype(np.float32)
    return table
