"""What an operation has to do, whatever runs it."""

from __future__ import annotations

from typing import Final

from perfkit.kernel import DType
from perfkit.models.ops import ceil_div
from perfkit.record import record

#: what the result is written as, where that is usually not the type of the operands
_OUTPUT: Final = {
    DType.TF32: DType.F32,
    DType.F8: DType.F16,
    DType.F6: DType.F16,
    DType.F4: DType.F16,
    DType.S8: DType.S32,
    DType.S4: DType.S32,
}


@record
class Work:
    """FLOP and compulsory DRAM traffic of one operation."""

    name: str
    dtype: DType  #: of the operands in memory
    out: DType  #: of the result in memory
    matrix_flops: int  #: that a matrix unit can do; a multiply-add is two
    vector_flops: int  #: everything else; an addition, comparison or exponential is one
    read_bytes: int
    write_bytes: int

    @property
    def flops(self) -> int:
        return self.matrix_flops + self.vector_flops

    @property
    def bytes(self) -> int:
        return self.read_bytes + self.write_bytes


def size_bytes(values: int, dtype: DType) -> int:
    """Bytes of so many values in memory, packed.

    >>> size_bytes(3, DType.F4), size_bytes(3, DType.F16)
    (2, 6)
    """
    packed: int = ceil_div(values * dtype.bits, 8)
    return packed


def product_type(dtype: DType) -> DType:
    """What a product of matrices of that type is written as, unless said otherwise.

    Integers are written as they are added up; floats narrower than f16 as f16.

    >>> product_type(DType.BF16), product_type(DType.F8), product_type(DType.S8)
    (<DType.BF16: 'bf16'>, <DType.F16: 'f16'>, <DType.S32: 's32'>)
    """
    return _OUTPUT.get(dtype, dtype)
