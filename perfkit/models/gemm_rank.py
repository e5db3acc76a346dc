"""Which tilings of a matrix product are worth comparing, and in which order equals come.

The space is what CUTLASS's kernels are made of: powers of two for tiles and warp tiles (with wgmma
and tcgen05 one instruction as wide as the tile), slices of k of 32 to 256 bytes, shared out among
the warps or not, every number of stages, clusters where blocks load together, data-parallel,
split-K and stream-K. Only instructions that reach the peak are used: wgmma on 9.0, tcgen05 on 10.x
and 11.0, elsewhere mma.sync or SIMT.

Left out are tilings that a kernel cannot have (``gemm_tile.check``), with more than 16 warps that
compute, tiles of which half would hold the whole product, and split-K with less than two steps per
block.

Formula:
    candidates = tiles * warp tiles * slices * stages * clusters * schedules, that suit the product
    tied       : time expected (models.gemm_time) <= 1.05 * the least

Units: elements; times in seconds.

Source: the tile sizes that CUTLASS 4.2 generates (python/cutlass_library/generator.py), by hand.

Valid: kernels made like CUTLASS's. What is not modelled (issue slots, bank conflicts, power)
differs by more than the 5 % of a tie.

>>> import perfkit
>>> from perfkit.kernel import DType
>>> from perfkit.models.gemm_rank import candidates
>>> from perfkit.models.gemm_traffic import Problem
>>> p = Problem(m=4096, n=4096, k=4096, dtype=DType.F16, accumulate=DType.F32, out=DType.F16)
>>> sum(len(them) for _, them in candidates(p, perfkit.capability("8.0"), "tensor")) > 10_000
True
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.models.gemm_instructions import Instruction, instructions
from perfkit.models.gemm_tile import TENSOR_MEMORY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.arch.types import Capability
    from perfkit.models.gemm_traffic import Problem

#: tilings within this share of the least time expected are tied with it: what is not modelled
#: (issue slots, bank conflicts, power) differs by more
TIED: Final = 0.05

_MOST_WARPS: Final = 16
_TILES: Final = (16, 32, 64, 128, 256)
_WARPS_M: Final = (16, 32, 64, 128)
_WARPS_N: Final = (8, 16, 32, 64, 128)
_SIMT_WARPS: Final = (16, 32, 64, 128)
_WIDE_N: Final = (16, 32, 64, 96, 128, 192, 256)
_SLICE_BYTES: Final = (32, 64, 128)
_WIDE_SLICE_BYTES: Final = (64, 128, 256)
#: of k in one instruction that reads shared memory
_STEP_BYTES: Final = 32
_STAGES: Final = (2, 3, 4, 5, 6)
_WIDE_STAGES: Final = (2, 3, 4, 5, 6, 7, 8)
#: without asynchronous copies a stage is loaded through registers: two are all
_EARLY_STAGES: Final = (2,)
_CLUSTERS: Final = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4))
_ALONE: Final = ((1, 1),)
#: blocks that share out k of a tile; 0 is stream-K
SPLITS: Final = (1, 2, 4, 8, 16, 0)


class Candidate(NamedTuple):
    """The fields of ``Tiling``, in its order."""

    tile_m: int
    tile_n: int
    tile_k: int
    warp_m: int
    warp_n: int
    warp_k: int
    stages: int
    cluster_m: int
    cluster_n: int
    split_k: int


def candidates(
    p: Problem, capability: Capability, unit: str
) -> Iterator[tuple[Instruction, list[Candidate]]]:
    """Tilings by the instruction that they use; whether they fit on an SM is not looked at.

    >>> from perfkit.arch import catalog
    >>> from perfkit.kernel import DType
    >>> from perfkit.models.gemm_traffic import Problem
    >>> p = Problem(m=4096, n=4096, k=4096, dtype=DType.F16, accumulate=DType.F32, out=DType.F16)
    >>> sum(len(them) for _, them in candidates(p, catalog.capability("8.0"), "tensor")) > 10_000
    True
    """
    known = instructions(capability, p.dtype, unit)
    if not known:
        return
    kind = known[-1].kind
    for one in known:
        if one.kind == kind and (one.reads_shared or one == known[-1]):
            blocks = _wide(one) if one.reads_shared else _narrow(one, p.dtype.bits)
            found = [
                Candidate(*block, *rest)
                for block in blocks
                if _suits(block, p, one)
                for rest in _schedules(block, p, one, capability)
            ]
            if found:
                yield one, found


#: tile_m, tile_n, tile_k, warp_m, warp_n, warp_k
_Block = tuple[int, int, int, int, int, int]


def _narrow(one: Instruction, bits: int) -> list[_Block]:
    """Warps with tiles of their own."""
    is_simt = one.kind == "simt"
    warps_m, warps_n = (_SIMT_WARPS, _SIMT_WARPS) if is_simt else (_WARPS_M, _WARPS_N)
    found = []
    for tile_m, tile_n, size, warp_m, warp_n, slices in product(
        _TILES, _TILES, _SLICE_BYTES, warps_m, warps_n, (1, 2, 4)
    ):
        tile_k = size * 8 // bits
        warp_k, rest = divmod(tile_k, slices)
        parts = (tile_m // warp_m) * (tile_n // warp_n) * slices
        whole = not (tile_m % warp_m or tile_n % warp_n or rest or warp_k % one.k)
        if whole and not (warp_m % one.m or warp_n % one.n) and 1 <= parts <= _MOST_WARPS:
            found.append((tile_m, tile_n, tile_k, warp_m, warp_n, warp_k))
    return found


def _wide(one: Instruction) -> list[_Block]:
    """One instruction as wide as the tile; 1 or 2 groups of warps with 1 or 2 of them each."""
    if one.n not in _WIDE_N:
        return []
    slices = [one.k * size // _STEP_BYTES for size in _WIDE_SLICE_BYTES]
    found = []
    for groups, rows, tile_k in product((1, 2), (1, 2), slices):
        tile_m = one.m * groups * rows
        columns = tile_m // one.m * one.n if one.kind == "tcgen05" else 0
        if columns <= TENSOR_MEMORY_COLUMNS and (one.kind == "wgmma" or groups == 1):
            found.append((tile_m, one.n, tile_k, one.rows_per_warp * rows, one.n, tile_k))
    return found


def _suits(block: _Block, p: Problem, one: Instruction) -> bool:
    """No tile of which a smaller one would hold the whole product."""
    least_m = one.m if one.reads_shared else _TILES[0]
    return (block[0] <= least_m or block[0] < 2 * p.m) and (
        block[1] <= _TILES[0] or block[1] < 2 * p.n
    )


def _schedules(
    block: _Block, p: Problem, one: Instruction, capability: Capability
) -> list[tuple[int, int, int, int]]:
    """Stages, cluster and split."""
    steps = -(-p.k // block[2])
    stages: tuple[int, ...] = _WIDE_STAGES if one.reads_shared else _STAGES
    if capability.compute_capability < (8, 0):
        stages = _EARLY_STAGES
    clusters = _CLUSTERS if one.reads_shared and capability.cluster else _ALONE
    return [
        (stage, *cluster, split)
        for stage, cluster, split in product(stages, clusters, SPLITS)
        if (split == 1 or steps >= 2 * split) and (split or cluster == (1, 1))
    ]
