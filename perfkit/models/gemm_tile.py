"""What one block of a tiled matrix product needs: warps, shared memory, registers.

A block computes a tile ``tile_m x tile_n`` of the result, ``tile_k`` of k at a time; its warps
compute ``warp_m x warp_n`` each (and share out k where ``warp_k < tile_k``), in instructions of
``Instruction.shape``. ``stages`` slices of the operands are in shared memory at once.

Formula:
    warps           = (tile_m / warp_m) (tile_n / warp_n) (tile_k / warp_k)
    bytes per stage = (tile_m + tile_n) tile_k * operand
    shared memory   = stages * bytes per stage
    accumulators    = warp_m warp_n / 32 threads, in 32-bit registers; in tensor memory: none
    fragments       = (warp_m + warp_n) instruction_k / 32 threads, likewise, twice: the next ones
                      load while these are used; from shared memory: none
    registers       = accumulators + 2 fragments + the rest

``rest`` (addresses, predicates, loop) is a fit: 36 for ``mma`` and 26 for ``simt``, against 45
kernels of CUTLASS 4.2 (tests/data/cutlass), which take up to 14 fewer and 26 more, one 52. Kernels
with producer warps are launched with all registers of the SM, one block each, and then share them
out anew (PTX ``setmaxnreg``): 24 for the threads that load, the others for those that compute.

Units: elements, bytes per block, registers of 32 bits per thread.

Source: CUTLASS documentation, "Efficient GEMM in CUDA", hierarchy of tiles.

Valid: kernels made like CUTLASS's; the epilogue reuses the stages' memory with ``mma`` and
``simt`` and takes its own on top with the others.

>>> from perfkit.kernel import DType
>>> from perfkit.models.gemm_tile import Tiling, shared_bytes, stage_bytes, warps
>>> t = Tiling(tile_m=128, tile_n=128, tile_k=32, warp_m=64, warp_n=64, warp_k=32, stages=3)
>>> warps(t), stage_bytes(t, DType.F16), shared_bytes(t, DType.F16)
(4, 16384, 49152)
"""

from __future__ import annotations

from typing import Final

from perfkit.arch.types import Capability
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.gemm_instructions import Instruction
from perfkit.models.ops import SCALAR, Int, Ops
from perfkit.record import record

WARP: Final = 32
_REGISTER_BITS: Final = 32
#: threads of a warp along m and n in SIMT kernels
_LANES: Final = (4, 8)
_REST: Final = {"mma": 36, "simt": 26}
_PRODUCER_REGISTERS: Final = 24
#: columns of 128 lanes of 32 bits that an SM has of tensor memory (PTX ISA 9.0, 9.7.16.1)
TENSOR_MEMORY_COLUMNS: Final = 512
#: no pipeline is that deep; a size beyond is a mistake
MOST_STAGES: Final = 64
MOST_TILE: Final = 1024


@record
class Tiling:
    """How a product is cut up. One tiling, or arrays of all fields for many."""

    tile_m: Int
    tile_n: Int
    tile_k: Int
    warp_m: Int
    warp_n: Int
    warp_k: Int
    stages: Int
    cluster_m: Int = 1  #: blocks that share what they load of B
    cluster_n: Int = 1  #: … of A
    split_k: Int = 1  #: blocks that share one tile's k; 0: stream-K

    @property
    def tile(self) -> str:
        return f"{self.tile_m}x{self.tile_n}x{self.tile_k}"

    @property
    def warp(self) -> str:
        return f"{self.warp_m}x{self.warp_n}x{self.warp_k}"

    @property
    def cluster(self) -> str:
        return f"{self.cluster_m}x{self.cluster_n}"

    @property
    def schedule(self) -> str:
        """Data-parallel, split-K or stream-K."""
        if self.split_k == 1:
            return "data-parallel"
        return f"split-k {self.split_k}" if self.split_k else "stream-k"


def warps(t: Tiling) -> Int:
    """Warps that compute.

    >>> t = Tiling(tile_m=128, tile_n=128, tile_k=32, warp_m=64, warp_n=64, warp_k=32, stages=3)
    >>> warps(t), stage_bytes(t, DType.F16), shared_bytes(t, DType.F16)
    (4, 16384, 49152)
    """
    return (t.tile_m // t.warp_m) * (t.tile_n // t.warp_n) * (t.tile_k // t.warp_k)


def threads(t: Tiling, instruction: Instruction) -> Int:
    """Threads of a block, those included that only load."""
    return WARP * (warps(t) + instruction.producer_warps)


def stage_bytes(t: Tiling, dtype: DType) -> Int:
    """Bytes of one slice of both operands."""
    return (t.tile_m + t.tile_n) * t.tile_k * dtype.bits // 8


def shared_bytes(t: Tiling, dtype: DType) -> Int:
    """Bytes of shared memory per block, without the epilogue's."""
    return t.stages * stage_bytes(t, dtype)


def accumulators(t: Tiling, instruction: Instruction, accumulate: DType) -> Int:
    """32-bit registers per thread for the sums of its warp's tile."""
    if instruction.kind == "tcgen05":
        return 0 * t.warp_m
    return t.warp_m * t.warp_n * accumulate.bits // (WARP * _REGISTER_BITS)


def fragments(t: Tiling, instruction: Instruction, dtype: DType) -> Int:
    """32-bit registers per thread for the operands of one step of its warp."""
    if instruction.reads_shared:
        return 0 * t.warp_m
    if instruction.kind == "simt":
        per_thread = t.warp_m // _LANES[0] + t.warp_n // _LANES[1]
        return -(-per_thread * dtype.bits // _REGISTER_BITS)
    return (t.warp_m + t.warp_n) * instruction.k * dtype.bits // (WARP * _REGISTER_BITS)


def registers(
    t: Tiling,
    instruction: Instruction,
    capability: Capability,
    dtype: DType,
    accumulate: DType,
    *,
    ops: Ops = SCALAR,
) -> Int:
    """Registers per thread that the kernel is launched with, estimated."""
    if instruction.producer_warps:
        file = capability.registers
        unit = file.allocation_unit // WARP
        whole = file.max_per_block // threads(t, instruction) // unit * unit
        return ops.minimum(whole, file.max_per_thread)
    return held(t, instruction, dtype, accumulate)


def held(t: Tiling, instruction: Instruction, dtype: DType, accumulate: DType) -> Int:
    """Registers that a thread that computes has to hold, estimated."""
    rest = _REST.get(instruction.kind, _REST["mma"])
    mine = accumulators(t, instruction, accumulate) + 2 * fragments(t, instruction, dtype)
    return mine + rest


def most_held(
    t: Tiling, instruction: Instruction, capability: Capability, *, ops: Ops = SCALAR
) -> Int:
    """Registers that a thread that computes can have; with more to hold it spills."""
    file = capability.registers
    if not instruction.producer_warps:
        return 0 * t.warp_m + file.max_per_thread
    unit = file.allocation_unit // WARP
    left = file.max_per_block - _PRODUCER_REGISTERS * WARP * instruction.producer_warps
    return ops.minimum(left // (WARP * warps(t)) // unit * unit, file.max_per_thread)


def tensor_memory_columns(t: Tiling, instruction: Instruction) -> Int:
    """Columns of tensor memory that the sums take; 0 where they are in registers."""
    if instruction.kind != "tcgen05":
        return 0 * t.tile_m
    return t.tile_m // instruction.m * t.tile_n


def check(t: Tiling, instruction: Instruction, capability: Capability) -> None:
    """Refuse a tiling that no kernel can have.

    Raises:
        UsageError: sizes that are none, or that do not divide one another.
    """
    sizes = {
        "tile": (t.tile_m, t.tile_n, t.tile_k),
        "warp": (t.warp_m, t.warp_n, t.warp_k),
        "cluster": (t.cluster_m, t.cluster_n),
    }
    for name, values in sizes.items():
        if not all(is_whole(value, 1, MOST_TILE) for value in values):
            shown = "x".join(map(str, values))
            raise UsageError(f"{name} = {shown}: must be whole numbers from 1 to {MOST_TILE}")
    if not is_whole(t.stages, 1, MOST_STAGES):
        raise UsageError(f"stages = {t.stages}: must be a whole number from 1 to {MOST_STAGES}")
    if any(tile % warp for tile, warp in zip(sizes["tile"], sizes["warp"], strict=True)):
        raise UsageError(f"warp = {t.warp}: does not divide the tile {t.tile}")
    shape = (instruction.rows_per_warp, instruction.n, instruction.k)
    if any(warp % size for warp, size in zip(sizes["warp"], shape, strict=True)):
        part = f", of which a warp has {shape[0]} rows" if instruction.warps > 1 else ""
        raise UsageError(
            f"warp = {t.warp}: not a multiple of the instruction {instruction.shape}{part}",
            hint="--instruction names another one",
        )
    if t.tile_m // t.warp_m % instruction.warps:
        raise UsageError(
            f"warp = {t.warp}: {instruction.shape} takes {instruction.warps} warps one above the "
            f"other, the tile {t.tile} has {t.tile_m // t.warp_m}"
        )
    _check_block(t, instruction, capability)


def _check_block(t: Tiling, instruction: Instruction, capability: Capability) -> None:
    most = capability.limits.max_threads_per_block
    if (count := threads(t, instruction)) > most:
        raise UsageError(
            f"warp = {t.warp}: {count} threads for a tile of {t.tile}, {capability.label} allows "
            f"{most}",
            hint="use larger warp tiles",
        )
    if (columns := tensor_memory_columns(t, instruction)) > TENSOR_MEMORY_COLUMNS:
        raise UsageError(
            f"tile = {t.tile}: its sums take {columns} columns of tensor memory, an SM has "
            f"{TENSOR_MEMORY_COLUMNS}"
        )


def is_whole(value: object, low: int, high: int) -> bool:
    """Whether ``value`` is an integer from ``low`` to ``high``."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
