"""Matrix products with ``mma.sync`` and ``cp.async``: 8.0 and later, one kernel per tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.device import matrix_source as source
from perfkit.device.matrix_source import MatrixKernel
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models import gemm_tile

if TYPE_CHECKING:
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem

#: of the instruction, by bytes of an operand
SHAPES: Final = {1: "m16n8k32", 2: "m16n8k16", 4: "m16n8k8"}
_CHUNK_BYTES: Final = 16
#: rows of tiles whose blocks run together
GROUP: Final = 16


def kernel(problem: Problem, tiling: Tiling, *, group: int = GROUP) -> MatrixKernel:
    """The kernel of that tiling.

    Raises:
        UsageError: types, tiling or sizes that it cannot have.
    """
    t = tiling
    macros = source.type_macros(problem.dtype, problem.out)
    check(problem.dtype, t)
    source.require_sizes(problem, t)
    macros |= {"SHAPE": SHAPES[problem.dtype.bits // 8], "MIN_BLOCKS": 1}
    return source.product(
        problem,
        t,
        name="gemm_mma",
        macros=macros | {"WARP_M": t.warp_m, "WARP_N": t.warp_n},
        group=group,
        common=source.MMA,
        threads=gemm_tile.WARP * gemm_tile.warps(t),
        dynamic_bytes=gemm_tile.shared_bytes(t, problem.dtype),
    )


def require_warp(t: Tiling) -> None:
    """Refuse a warp tile that mma.sync cannot have, however the kernel is fed."""
    if t.warp_m % 16 or t.warp_n % 16 or t.tile_m % t.warp_m or t.tile_n % t.warp_n:
        raise UsageError(f"warp = {t.warp}: takes multiples of 16x16 that divide the tile {t.tile}")


def check(dtype: DType, t: Tiling) -> None:
    """Refuse a tiling that the kernel is not written for.

    Raises:
        UsageError: saying which number.
    """
    source.require_slices(dtype, t)
    require_warp(t)
    if t.warp_k != t.tile_k or t.split_k != 1 or t.cluster_m * t.cluster_n != 1:
        raise UsageError(
            f"warp = {t.warp}, cluster = {t.cluster}, {t.schedule}: the mma.sync kernel shares out "
            "neither k nor loads",
            hint=f"take a warp tile as deep as the tile ({t.tile_k}), no cluster, no split",
        )
    threads = gemm_tile.WARP * gemm_tile.warps(t)
    rows = threads * _CHUNK_BYTES // (t.tile_k * dtype.bits // 8)  # that the block copies at once
    if threads > 1024 or not rows or t.tile_m % rows or t.tile_n % rows:
        raise UsageError(
            f"warp = {t.warp}: {threads} threads do not share out the copies of {t.tile} evenly",
            hint="take larger warp tiles",
        )
