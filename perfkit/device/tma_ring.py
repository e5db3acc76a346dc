"""The ring of slices that the tensor copy engine fills for a product: 9.0, ``kernels/tma.cuh``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.device import matrix_source as source
from perfkit.device.backend import TensorShape
from perfkit.errors import UsageError
from perfkit.models import gemm_tile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.device.matrix_source import MatrixKernel
    from perfkit.kernel import DType
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem

LOADING_WARPS: Final = 4
#: registers of a thread that multiplies, at most, and of one that loads, where ``setmaxnreg``
#: shares them out
MOST_REGISTERS: Final = 232
LOADING_REGISTERS: Final = 40
_SWIZZLE_BYTES: Final = 128
_MOST_BOX_ROWS: Final = 256
_PATTERN_ROWS: Final = 8
_MOST_CLUSTER: Final = 8  #: the portable size
#: a full and an empty barrier of each stage
_BARRIER_BYTES: Final = 16


def product(
    problem: Problem,
    tiling: Tiling,
    *,
    name: str,
    macros: Mapping[str, object],
    group: int,
    common: Sequence[str],
    warps: int,
    registers: int,
    generated: str = "",
) -> MatrixKernel:
    """The kernel ``name``, whose first four warps load and ``warps`` others multiply.

    Args:
        problem: as of ``matrix_source.product``, and so are the others.
        tiling: likewise.
        name: likewise.
        macros: likewise, besides those that ``tma.cuh`` names.
        group: rows of cluster tiles that run together.
        common: what comes before the kernel's text.
        warps: that multiply.
        registers: of each of their threads, which the others leave them; 0: as launched.
        generated: likewise before it.
    """
    given = {"REGISTERS": registers, "LOADING_REGISTERS": LOADING_REGISTERS}
    clusters = {"CLUSTER_M": tiling.cluster_m, "CLUSTER_N": tiling.cluster_n}
    return source.product(
        problem,
        tiling,
        name=name,
        macros={**macros, **clusters, **given},
        group=group,
        common=common,
        threads=gemm_tile.WARP * (LOADING_WARPS + warps),
        dynamic_bytes=shared_bytes(tiling, problem.dtype),
        generated=generated,
        shapes=shapes(problem, tiling),
    )


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
    source.require_slices(dtype, t)
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
