"""Tensor maps: how the tensor copy engine of 9.0 and later is told where a matrix lies."""

from __future__ import annotations

import ctypes
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Final

from perfkit.errors import DeviceError

if TYPE_CHECKING:
    from perfkit.device.backend import TensorShape

MAP_BYTES: Final = 128


def encode(address: int, shape: TensorShape) -> bytes:
    """The 128 bytes to pass to a kernel as ``const __grid_constant__ CUtensorMap``.

    Rows are packed: the stride of a dimension is the product of the extents before it.

    Raises:
        DeviceError: the driver refuses the shape (rows of a multiple of 16 bytes, boxes of at most
            256 elements, of at most the swizzle's bytes in the innermost dimension).
    """
    from cuda.bindings import driver

    rank = len(shape.extents)
    strides = [n * shape.element_bytes for n in accumulate(shape.extents, mul)][:-1]
    result, found = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{shape.element}"),
        rank,
        address,
        [driver.cuuint64_t(extent) for extent in shape.extents],
        [driver.cuuint64_t(stride) for stride in strides],
        [driver.cuuint32_t(size) for size in shape.box],
        [driver.cuuint32_t(1)] * rank,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{shape.swizzle}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if int(result):
        raise DeviceError(f"describing {shape} to the tensor copy engine fails: {result.name}")
    return ctypes.string_at(found.getPtr(), MAP_BYTES)
