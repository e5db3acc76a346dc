"""Matrix products with ``mma.sync`` fed by TMA: 9.0 (target ``sm_90a``), one kernel per tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.device import gemm_mma, tma_ring
from perfkit.device import matrix_source as source
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models import gemm_tile

if TYPE_CHECKING:
    from perfkit.device.matrix_source import MatrixKernel
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem

_WARPGROUP: Final = 4  #: warps that share out registers together
_MOST_WARPS: Final = 28  #: that multiply, beside one warpgroup that loads
#: registers of an SM, which ``setmaxnreg`` shares out in eights
_FILE: Final = 65536
_UNIT: Final = 8
#: beside sums and operands, at least and with room: addresses, loop, store of the sums
_REST: Final = 16
_ROOM: Final = 24
_ROW: Final = 16
#: rows of cluster tiles that run together
GROUP: Final = 16


def kernel(problem: Problem, tiling: Tiling, *, group: int = GROUP) -> MatrixKernel:
    """The kernel of that tiling.

    Raises:
        UsageError: types, tiling or sizes that it cannot have.
    """
    t, dtype = tiling, problem.dtype
    macros = source.type_macros(dtype, problem.out)
    check(dtype, t)
    source.require_sizes(problem, t)
    warps = int(gemm_tile.warps(t))
    launched, multiplying = _registers(warps)
    multiplied = _multiplied(dtype)
    macros |= {
        "OPERAND": source.ptx_name(multiplied),
        "SHAPE": gemm_mma.SHAPES[multiplied.bits // 8],
        "E4M3": int(dtype is DType.F8),
        "WARP_M": t.warp_m,
        "WARP_N": t.warp_n,
        "A_RING": _a_ring(dtype, t),
    }
    return tma_ring.product(
        problem,
        t,
        name="gemm_mma_tma",
        macros=macros,
        group=group,
        common=source.MMA_TMA,
        warps=warps,
        registers=multiplying if multiplying > launched else 0,
    )


def _multiplied(dtype: DType) -> DType:
    """9.0 has no mma.sync of f8: it makes f16 of it, and so does the kernel, but once."""
    return DType.F16 if dtype is DType.F8 else dtype


def _registers(warps: int) -> tuple[int, int]:
    """Of a thread as launched, and of one that multiplies if the others keep only a few.

    They share out what the block was launched with, not what the SM has.
    """
    threads = gemm_tile.WARP * (tma_ring.LOADING_WARPS + warps)
    launched = _FILE // threads // _UNIT * _UNIT
    left = launched * threads - tma_ring.LOADING_REGISTERS * gemm_tile.WARP * tma_ring.LOADING_WARPS
    return launched, min(tma_ring.MOST_REGISTERS, left // (gemm_tile.WARP * warps) // _UNIT * _UNIT)


def _held(dtype: DType, t: Tiling, a_rows: int) -> int:
    """Registers of a thread for sums and operands, of A so many times 16 rows."""
    b_pairs = t.warp_n // _ROW
    as_f16 = 8 + 8 * b_pairs if _multiplied(dtype) is not dtype else 0
    return int(t.warp_m * t.warp_n // gemm_tile.WARP + 4 * a_rows + 4 * b_pairs + as_f16)


def _a_ring(dtype: DType, t: Tiling) -> int:
    """Rows of 16 that a warp has of A in registers; after a slice the same ones come again."""
    places = t.tile_k * dtype.bits // 8 // source.STEP_BYTES * (t.warp_m // _ROW)
    has_room = _held(dtype, t, 4) + _ROOM <= max(_registers(int(gemm_tile.warps(t))))
    return 4 if has_room and places % 4 == 0 else 2


def check(dtype: DType, t: Tiling) -> None:
    """Refuse a tiling that the kernel is not written for.

    Raises:
        UsageError: saying which number.
    """
    gemm_mma.require_warp(t)
    if t.warp_k != t.tile_k or t.split_k != 1:
        raise UsageError(
            f"warp = {t.warp}, {t.schedule}: the kernel does not share out k",
            hint=f"take a warp tile as deep as the tile ({t.tile_k}) and no split",
        )
    warps = int(gemm_tile.warps(t))
    if warps % _WARPGROUP or warps > _MOST_WARPS:
        raise UsageError(
            f"tile = {t.tile}, warp = {t.warp}: {warps} warps; takes fours, {_MOST_WARPS} at most"
        )
    needed = _held(dtype, t, 2) + _REST
    if needed > max(_registers(warps)):
        raise UsageError(
            f"warp = {t.warp}: sums and operands take {needed} registers of a thread, of "
            f"{max(_registers(warps))} that {warps} warps leave each other"
        )
    tma_ring.check(dtype, t)
