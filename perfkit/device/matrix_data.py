"""Random operands of tensor-core kernels as they lie in memory, and what they are worth.

NumPy has no bf16, tf32 or e4m3: bf16 is a ``uint16``, tf32 a ``float32`` whose last 13 bits are
zero, e4m3 a ``uint8``. Source of e4m3: OCP 8-bit Floating Point Specification 1.0, 5.1 (bias 7, no
infinities, 0x7F is not a number).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from perfkit.kernel import DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

_F8_BIAS: Final = 7
_F32_BIAS: Final = 127
_TF32_MASK: Final = 0xFFFF_E000


def random_operand(dtype: DType, shape: tuple[int, ...], *, seed: int) -> NDArray[Any]:
    """Normally distributed values, or integers of all sizes; as stored."""
    import numpy as np

    generator = np.random.default_rng(seed)
    if dtype == DType.S8:
        return generator.integers(-127, 128, shape, np.int8)
    if dtype == DType.F64:
        return generator.standard_normal(shape)
    return stored(dtype, generator.standard_normal(shape, np.float32))


def stored(dtype: DType, x: NDArray[Any]) -> NDArray[Any]:
    """``float32`` numbers in memory as ``dtype``: bf16 and f16 rounded, tf32 and e4m3 cut off.

    What is too small for a normal number of e4m3 becomes zero, what is too large the largest.
    """
    import numpy as np

    found: NDArray[Any] = x
    if dtype == DType.F16:
        return x.astype(np.float16)
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    if dtype == DType.BF16:
        found = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    if dtype == DType.TF32:
        found = (bits & _TF32_MASK).view(np.float32)
    if dtype == DType.F8:
        exponent = (bits >> 23 & 0xFF).astype(np.int32) - (_F32_BIAS - _F8_BIAS)
        number = np.clip((exponent << 3) | (bits >> 20 & 7), 0, 0x7E)
        found = (np.where(exponent > 0, number, 0) | (bits >> 31 << 7)).astype(np.uint8)
    return found


def values(dtype: DType, data: NDArray[Any]) -> NDArray[Any]:
    """What stored numbers are worth, in float64, every one exactly."""
    import numpy as np

    if dtype == DType.BF16:
        widened: NDArray[Any] = (data.astype(np.uint32) << 16).view(np.float32)
        return widened.astype(np.float64)
    if dtype == DType.F8:
        code = np.arange(256)
        exponent, mantissa = code >> 3 & 15, code & 7
        size = np.where(exponent > 0, 8 + mantissa, mantissa)
        table = np.ldexp(size.astype(np.float64), np.maximum(exponent, 1) - _F8_BIAS - 3)
        table[code & 0x7F == 0x7F] = np.nan
        worth: NDArray[Any] = np.where(code & 0x80, -table, table)[data]
        return worth
    return data.astype(np.float64)
