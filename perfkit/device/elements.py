"""Types of array elements: how NumPy stores them, and how a kernel fills them with data.

NumPy has neither bf16 nor f8: their bits are kept as whole numbers, and ``as_numbers`` reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.device.matrix_data import values
from perfkit.errors import UsageError
from perfkit.kernel import DType

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
    """What the bits mean: bf16 and f8 as f64, everything else as it is."""
    if name in {"bf16", "f8"}:
        return values(DType(name), raw)
    return raw
