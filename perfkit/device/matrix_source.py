"""Texts of the tensor-core kernels: macros, what all of them share, and the kernel itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.device.program import KERNELS
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.device.backend import LaunchConfig, TensorShape
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem

_COMMON: Final = ("matrix_common.cuh",)
#: what kernels of one kind have in common: the instruction, or that TMA feeds them, or both
MMA: Final = (*_COMMON, "mma.cuh")
TMA: Final = (*_COMMON, "tma.cuh")
MMA_TMA: Final = (*MMA, "tma.cuh")
#: of k in one row of shared memory: two steps at least, so that one of them loads ahead; for TMA
#: one swizzle pattern, or two side by side
_ROWS_BYTES: Final = (64, 128, 256)
#: elements of a row of the result that are stored together
ROW_STEP: Final = 8
#: bytes of k that one step of any of the instructions takes
STEP_BYTES: Final = 32
#: what PTX calls the types that have another name here
_PTX: Final = {DType.F8: "e4m3"}
#: the driver's names of operand types, for tensor maps; bytes where it has none
_ELEMENTS: Final = {DType.BF16: "BFLOAT16", DType.F16: "FLOAT16", DType.TF32: "FLOAT32"}
#: types that are stored as another one
_STORED: Final = {DType.TF32: "f32", DType.S8: "i8", DType.S32: "i32"}
#: results that the sums of an accumulator can be stored as
_RESULTS: Final = {
    DType.F32: (DType.F32, DType.F16, DType.BF16),
    DType.S32: (DType.S32,),
}
#: operand types of the products, each with the type of its sums
SUMS: Final = {
    DType.F16: DType.F32,
    DType.BF16: DType.F32,
    DType.TF32: DType.F32,
    DType.F8: DType.F32,
    DType.S8: DType.S32,
}


@record
class MatrixKernel:
    """A kernel ready to be compiled, and how it is launched.

    Arguments: A, B (memory, or tensor maps of ``shapes`` where it has them), C, then m, n, k as
    32-bit integers. A is [m, k] and B [n, k], both with k contiguous; C is [m, n].
    """

    text: str
    name: str
    suffix: str  #: of the target: ``a`` for instructions of one architecture only
    threads: int  #: per block
    dynamic_bytes: int
    cluster: int  #: blocks of a cluster
    tiles: int  #: blocks that have work
    is_persistent: bool  #: a grid that fills the card walks over the tiles
    shapes: tuple[TensorShape, TensorShape] | None
    flops: int
    least_bytes: int  #: each operand read once, the result written once

    def launch(self, resident_blocks: int) -> LaunchConfig:
        """The launch on a card that holds so many of its blocks at once."""
        from perfkit.device.backend import LaunchConfig

        blocks = self.tiles
        if self.is_persistent:
            blocks = min(blocks, resident_blocks // self.cluster * self.cluster)
        cluster = (self.cluster, 1, 1) if self.cluster > 1 else None
        return LaunchConfig(
            grid=(blocks, 1, 1),
            block=(self.threads, 1, 1),
            dynamic_bytes=self.dynamic_bytes,
            cluster=cluster,
        )


def ptx_name(dtype: DType) -> str:
    """As an instruction is spelled."""
    return _PTX.get(dtype, str(dtype))


def element_name(dtype: DType) -> str:
    """As the driver calls the type in a tensor map."""
    return _ELEMENTS.get(dtype, "UINT8")


def element_type(dtype: DType) -> str:
    """As it lies in memory, one of ``elements.ELEMENTS``."""
    return _STORED.get(dtype, str(dtype))


def text_of(
    file: str, macros: Mapping[str, object], generated: str = "", common: Sequence[str] = _COMMON
) -> str:
    """The whole source: no compiler option and no header is needed with it.

    >>> text_of("gemm_mma.cu", {"STAGES": 3}).splitlines()[0]
    '#define STAGES 3'
    """
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    shared = "\n".join((KERNELS / part).read_text("utf-8") for part in common)
    kernel = (KERNELS / file).read_text("utf-8")
    return f"{defines}{shared}\n{generated}\n{kernel}"


def type_macros(dtype: DType, out: DType) -> dict[str, object]:
    """Operand, sums and result.

    Raises:
        UsageError: no kernel multiplies that type, or its sums are not stored as ``out``.
    """
    if dtype not in SUMS:
        raise UsageError(
            f"dtype = {dtype}: no tensor-core kernel here multiplies it",
            hint=f"one of: {', '.join(SUMS)}",
        )
    sums = SUMS[dtype]
    if out not in _RESULTS[sums]:
        raise UsageError(
            f"out = {out}: sums of {dtype} are not stored as that",
            hint=f"one of: {', '.join(_RESULTS[sums])}",
        )
    return {
        "OPERAND": ptx_name(dtype),
        "OPERAND_BYTES": dtype.bits // 8,
        "SUM": sums,
        "OUT": out,
        "OUT_BYTES": out.bits // 8,
    }


def product(
    problem: Problem,
    tiling: Tiling,
    *,
    name: str,
    macros: Mapping[str, object],
    group: int,
    common: Sequence[str],
    threads: int,
    dynamic_bytes: int,
    generated: str = "",
    shapes: tuple[TensorShape, TensorShape] | None = None,
) -> MatrixKernel:
    """The kernel ``name`` of that problem and tiling, which it can have.

    Args:
        problem: types that ``type_macros`` takes.
        tiling: whose sizes fit the problem's.
        name: of the kernel and its file.
        macros: of its types, and those that not every product has.
        group: rows of tiles, or of cluster tiles, that run together.
        common: ``MMA``, ``TMA`` or ``MMA_TMA``.
        threads: per block.
        dynamic_bytes: likewise.
        generated: put before the kernel's text.
        shapes: of A and B for TMA; such kernels are persistent and written for 9.0 alone.
    """
    t, is_fed = tiling, shapes is not None
    every = {"TILE_M": t.tile_m, "TILE_N": t.tile_n, "TILE_K": t.tile_k}
    every |= {"STAGES": t.stages, "GROUP": group}
    return MatrixKernel(
        text=text_of(f"{name}.cu", {**every, **macros}, generated, common),
        name=name,
        suffix="a" if is_fed else "",
        threads=threads,
        dynamic_bytes=dynamic_bytes,
        cluster=t.cluster_m * t.cluster_n,
        tiles=tiles(problem, t),
        is_persistent=is_fed,
        shapes=shapes,
        flops=problem.flops,
        least_bytes=least_bytes(problem),
    )


def require_multiple(name: str, size: int, step: int) -> None:
    """Refuse a size that is no multiple of ``step``.

    Raises:
        UsageError: naming the sizes nearby that are.
    """
    if size < step or size % step:
        below, above = size // step * step, -(-size // step) * step
        near = f"{below} or {above}" if below else f"{max(above, step)}"
        raise UsageError(f"{name} = {size}: must be a multiple of {step}", hint=f"take {near}")


def require_slices(dtype: DType, tiling: Tiling) -> None:
    """Refuse slices that shared memory has no rows for, or of which none loads ahead.

    Raises:
        UsageError: saying which number.
    """
    if tiling.tile_k * dtype.bits // 8 not in _ROWS_BYTES:
        fine = ", ".join(str(size * 8 // dtype.bits) for size in _ROWS_BYTES)
        raise UsageError(f"tile_k = {tiling.tile_k}: products take slices of {fine} of {dtype}")
    if tiling.stages < 2:
        raise UsageError(f"stages = {tiling.stages}: loading ahead needs at least 2")


def require_sizes(problem: Problem, tiling: Tiling) -> None:
    """Refuse sizes that the products cannot have: rows of the result are stored 8 at a time.

    Raises:
        UsageError: naming the size.
    """
    require_multiple("k", problem.k, tiling.tile_k)
    require_multiple("n", problem.n, ROW_STEP)
    for name, size, tile in (("m", problem.m, tiling.tile_m), ("n", problem.n, tiling.tile_n)):
        if size < tile:
            raise UsageError(f"{name} = {size}: less than a tile of {tiling.tile}")


def tiles(problem: Problem, tiling: Tiling) -> int:
    """Blocks with a tile each; whole clusters, so that some may repeat the last tile."""
    rows = -(-problem.m // (tiling.tile_m * tiling.cluster_m))
    columns = -(-problem.n // (tiling.tile_n * tiling.cluster_n))
    return int(rows * columns * tiling.cluster_m * tiling.cluster_n)


def least_bytes(problem: Problem) -> int:
    """Each operand read once, each result written once."""
    read = (problem.m + problem.n) * problem.k * problem.dtype.bits
    return read // 8 + problem.out_bytes
