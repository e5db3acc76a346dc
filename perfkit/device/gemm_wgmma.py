"""Matrix products with ``wgmma`` and TMA: 9.0 (target ``sm_90a``), one kernel per tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.device import matrix_source as source
from perfkit.device import tma_ring
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models import gemm_tile

if TYPE_CHECKING:
    from perfkit.device.matrix_source import MatrixKernel
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem

ROWS: Final = 64  #: of one instruction
_ROWS_PER_WARP: Final = 16
_WARPGROUP: Final = 128
#: rows of cluster tiles that run together
GROUP: Final = 8
#: registers of a thread that are left for its sums: 232 and 255 less addresses and descriptors
_MOST_SUMS: Final = 208


def kernel(problem: Problem, tiling: Tiling, *, group: int = GROUP) -> MatrixKernel:
    """The kernel of that tiling: ``warp_n`` is ``tile_n``, ``warp_m`` 16 or 32.

    Raises:
        UsageError: types, tiling or sizes that it cannot have.
    """
    t, dtype = tiling, problem.dtype
    macros = source.type_macros(problem.dtype, problem.out)
    check(dtype, t)
    source.require_sizes(problem, t)
    groups = _groups(t)
    return tma_ring.product(
        problem,
        t,
        name="gemm_wgmma",
        macros=macros | {"GROUPS": groups, "ROWS": t.warp_m // _ROWS_PER_WARP},
        group=group,
        common=source.TMA,
        warps=_WARPGROUP // gemm_tile.WARP * groups,
        # one group has as many as there are without that the others give any back
        registers=tma_ring.MOST_REGISTERS if groups > 1 else 0,
        generated=instruction(dtype, t.tile_n, source.SUMS[dtype]),
    )


def _groups(t: Tiling) -> int:
    """Warpgroups that multiply."""
    return int(t.tile_m // (t.warp_m * _WARPGROUP // gemm_tile.WARP))


def check(dtype: DType, t: Tiling) -> None:
    """Refuse a tiling that the kernel is not written for.

    Raises:
        UsageError: saying which number.
    """
    step = 16 if dtype == DType.S8 and t.tile_n > 24 else 8
    if t.tile_n % step or not 8 <= t.tile_n <= 256:
        raise UsageError(f"tile_n = {t.tile_n}: wgmma takes multiples of {step} up to 256")
    rows = t.warp_m // _ROWS_PER_WARP
    if t.warp_m % _ROWS_PER_WARP or not rows or t.tile_m % (ROWS * rows):
        raise UsageError(f"warp = {t.warp}: four warps of it must divide the {t.tile_m} rows")
    if t.tile_m // (ROWS * rows) > 2:
        raise UsageError(f"tile = {t.tile}, warp = {t.warp}: at most two groups of four warps")
    if t.warp_n != t.tile_n or t.warp_k != t.tile_k or t.split_k != 1:
        raise UsageError(
            f"warp = {t.warp}, {t.schedule}: the wgmma kernel shares out neither columns nor k",
            hint=f"take {t.warp_m}x{t.tile_n}x{t.tile_k} and no split",
        )
    if rows * t.tile_n // 2 > _MOST_SUMS:
        raise UsageError(f"warp = {t.warp}: its sums take {rows * t.tile_n // 2} registers")
    tma_ring.check(dtype, t)


def sum_words(n: int, sums: DType) -> int:
    """32-bit registers for the sums of one instruction, in each of 128 threads."""
    return ROWS * n * sums.bits // (32 * _WARPGROUP)


def instruction(dtype: DType, n: int, sums: DType) -> str:
    """C++ of ``wgmma(sums, a, b, add)``: 64 x n sums, times one step of k; old sums count if add.

    >>> "m64n8k16.f32.bf16.bf16" in instruction(DType.BF16, 8, DType.F32)
    True
    """
    words, k = sum_words(n, sums), source.STEP_BYTES * 8 // dtype.bits
    operand = source.ptx_name(dtype)
    registers = ", ".join(f"%{i}" for i in range(words))
    outputs = ", ".join(f'"+r"(d[{i}])' for i in range(words))
    # signs of the operands and, for 16-bit types, that both have k contiguous; integers have none
    tail = {DType.S8: "", DType.TF32: ", 1, 1", DType.F8: ", 1, 1"}.get(dtype, ", 1, 1, 0, 0")
    return f"""\
#define SUM_WORDS {words}
__device__ __forceinline__ void wgmma(word (&d)[SUM_WORDS], dword a, dword b, int add) {{
  asm volatile(
      "{{\\n.reg .pred add;\\nsetp.ne.b32 add, %{words + 2}, 0;\\n"
      "wgmma.mma_async.sync.aligned.m64n{n}k{k}.{sums}.{operand}.{operand} "
      "{{{registers}}}, %{words}, %{words + 1}, add{tail};\\n}}"
      : {outputs}
      : "l"(a), "l"(b), "r"(add));
}}
"""
