"""The ring of slices that the tensor copy engine fills for a product: 9.0, ``kernels/tma.cuh``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.device import matrix_source as source
from perfkit.device.backend import TensorShape
from perfkit.errors import UsageError
from perfkit.models import gemm_tile

if TYPE_CHECKING:
    from perfkit.kernel import DType
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem

#: of k in one row of shared memory: one swizzle pattern, or two side by side
_ROWS_BYTES: Final = (64, 128, 256)
_SWIZZLE_BYTES: Final = 128
_MOST_BOX_ROWS: Final = 256
_PATTERN_ROWS: Final = 8
_MOST_CLUSTER: Final = 8  #: the portable size
#: a full and an empty barrier of each stage
_BARRIER_BYTES: Final = 16


def macros(t: Tiling, group: int) -> dict[str, object]:
    """Those that ``tma.cuh`` names, but for the operand's size."""
    return {
        "TILE_M": t.tile_m,
        "TILE_N": t.tile_n,
        "TILE_K": t.tile_k,
        "STAGES": t.stages,
        "CLUSTER_M": t.cluster_m,
        "CLUSTER_N": t.cluster_n,
        "GROUP": group,
    }


def shared_bytes(t: Tiling, dtype: DType) -> int:
    """Of the stages and their barriers."""
    return int(gemm_tile.shared_bytes(t, dtype) + t.stages * _BARRIER_BYTES)


def shapes(problem: Problem, t: Tiling) -> tuple[TensorShape, TensorShape]:
    """A and B, and what one block loads of them at once."""
    return (
        _shape(problem, t, problem.m, t.tile_m // t.cluster_n),
        _shape(problem, t, problem.n, t.tile_n // t.cluster_m),
    )


def _shape(problem: Problem, t: Tiling, rows: int, box_rows: int) -> TensorShape:
    element_bytes = problem.dtype.bits // 8
    box = min(t.tile_k, _SWIZZLE_BYTES // element_bytes)
    return TensorShape(
        element=source.element_name(problem.dtype),
        element_bytes=element_bytes,
        extents=(problem.k, rows),
        box=(box, box_rows),
        swizzle=f"{box * element_bytes}B",
    )


def check(dtype: DType, t: Tiling) -> None:
    """Refuse slices, stages and clusters that the ring cannot have.

    Raises:
        UsageError: saying which number.
    """
    row_bytes = t.tile_k * dtype.bits // 8
    if row_bytes not in _ROWS_BYTES:
        fine = ", ".join(str(size * 8 // dtype.bits) for size in _ROWS_BYTES)
        raise UsageError(f"tile_k = {t.tile_k}: TMA fills slices of {fine} of {dtype}")
    if t.stages < 2:
        raise UsageError(f"stages = {t.stages}: loading ahead needs at least 2")
    if t.cluster_m * t.cluster_n > _MOST_CLUSTER:
        raise UsageError(f"cluster = {t.cluster}: at most {_MOST_CLUSTER} blocks")
    for name, size, sharers in (
        ("tile_m", t.tile_m, t.cluster_n),
        ("tile_n", t.tile_n, t.cluster_m),
    ):
        if size % (_PATTERN_ROWS * sharers) or size // sharers > _MOST_BOX_ROWS:
            raise UsageError(
                f"{name} = {size}, cluster = {t.cluster}: {sharers} blocks cannot load equal parts "
                f"of it, in whole {_PATTERN_ROWS} rows up to {_MOST_BOX_ROWS}"
            )
