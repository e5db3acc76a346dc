"""What a tiled matrix product moves through each memory level, and what its grid costs.

* **Grid.** Edge tiles do the work of whole ones (tile quantisation). A block keeps its SM until it
  is done, so the busiest SM decides (wave quantisation). Split-K by s makes s blocks of each tile;
  stream-K gives every SM the same number of steps, whatever tiles they belong to.
* **Shared memory.** Every warp reads its rows and columns, m and n being what one read serves: a
  warp's tile, or an instruction's where it reads shared memory itself. What is written there comes
  on top and is no part of the bound: wgmma does not wait for it (``models.gemm_time``).
* **L2.** Every tile loads its rows of A and its columns of B, every cluster only once, and the
  result is written.
* **DRAM.** Blocks run in the order of a band, ``swizzle`` tiles wide, that is walked along m (or n:
  the better of the two is assumed). Those that run at the same time read in step, so that a wave of
  ``wave_m x wave_n`` tiles reads its rows and columns once. A is read once per band, unless it fits
  into L2 beside the band's part of B; B once, unless the band's part is pushed out between waves.
* **Partial results** of split-K (``s m n``, when s > 1) and stream-K (a tile for each cut that is
  not between two tiles) are written and read in the accumulator's type, in L2 as far as they fit.

Formula:
    tiles        = ceil(m / tile_m) * ceil(n / tile_n)
    k_steps      = ceil(k / tile_k)
    busiest SM   = ceil(tiles / SMs) * k_steps; stream-K: ceil(tiles * k_steps / SMs)
    filled tiles = m n k / (tiles * tile_m * tile_n * k_steps * tile_k)
    busy SMs     = tiles * k_steps / (SMs * busiest SM)
    shared       = (tile_m (tile_n / n) + tile_n (tile_m / m)) elements for each k
    L2           = m k ceil(tiles_n / cluster_n) + k n ceil(tiles_m / cluster_m) + m n elements

Units: elements where it says so, otherwise bytes; shares are 0..1.

Source: NVIDIA Matrix Multiplication Background User's Guide, 3 (quantisation), which has the
example, an A100 with one column too many; CUTLASS documentation, "Efficient GEMM in CUDA",
threadblock rasterisation and parallelised reductions; M. Osama et al., "Stream-K" (2023).

Valid: grid and shared memory are lower bounds. L2 is what is asked of it; what blocks ask for at
the same time it may answer once. The DRAM item is a model of a cache that holds what blocks in step
share: real traffic is up to several times as much where blocks drift apart.

>>> from perfkit.kernel import DType
>>> from perfkit.models.gemm_tile import Tiling
>>> from perfkit.models.gemm_traffic import Problem, grid
>>> p = Problem(m=2304, n=1537, k=4096, dtype=DType.F16, accumulate=DType.F32, out=DType.F16)
>>> t = Tiling(tile_m=256, tile_n=128, tile_k=32, warp_m=64, warp_n=64, warp_k=32, stages=3)
>>> found = grid(p, t, sm_count=108, blocks_per_sm=1)
>>> found.tiles, round(found.tile_efficiency, 3), round(found.wave_efficiency, 3)
(117, 0.924, 0.542)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from perfkit.models.ops import SCALAR, Int, Ops, ceil_div
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.kernel import DType
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_tile import Tiling

Gcd: TypeAlias = Callable[[Int, Int], Int]


@record
class Problem:
    """A matrix product: ``C (m x n) = A (m x k) B (k x n)``."""

    m: int
    n: int
    k: int
    dtype: DType
    accumulate: DType
    out: DType

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    @property
    def out_bytes(self) -> int:
        return self.m * self.n * self.out.bits // 8


@record
class Cache:
    """What decides how often operands come from DRAM."""

    l2_bytes: int  #: 0: not known, nothing stays there between waves
    swizzle: int = 1  #: width of a band, in tiles


@record
class TileGrid:
    """How the tiles meet the SMs."""

    tiles_m: Int
    tiles_n: Int
    k_steps: Int  #: of a whole tile
    blocks: Int  #: launched; those included that pad clusters
    busiest_steps: Int  #: k steps of the SM that has most to do
    tile_efficiency: Int  #: share of the tiles' FLOP that are the problem's, 0..1
    wave_efficiency: Int  #: share of all SMs' time that the busiest one's lets them use, 0..1

    @property
    def tiles(self) -> Int:
        return self.tiles_m * self.tiles_n


@record
class Traffic:
    """Bytes; those of shared memory and the FLOP as if every SM had as much as the busiest."""

    flops: Int
    l1_bytes: Int
    l2_bytes: Int
    dram_bytes: Int
    partial_bytes: Int  #: of split-K and stream-K, within the two above


def grid(
    p: Problem,
    t: Tiling,
    *,
    sm_count: int,
    blocks_per_sm: Int,
    usable_sms: Int | None = None,
    ops: Ops = SCALAR,
) -> TileGrid:
    """Tiles, blocks, and what quantisation leaves of the SMs.

    Args:
        p: the product.
        t: how it is cut up.
        sm_count: SMs of the GPU.
        blocks_per_sm: resident blocks, by ``models.occupancy``.
        usable_sms: those that get a block at a time; fewer than all where clusters do not fill
            every group of SMs (on an H200 clusters of four reach 120 of 132). None: all.
        ops: ``SCALAR``, or ``numpy`` with arrays in ``t``, ``blocks_per_sm`` and ``usable_sms``.

    >>> from perfkit.kernel import DType
    >>> from perfkit.models.gemm_tile import Tiling
    >>> p = Problem(m=2304, n=1537, k=4096, dtype=DType.F16, accumulate=DType.F32, out=DType.F16)
    >>> t = Tiling(tile_m=256, tile_n=128, tile_k=32, warp_m=64, warp_n=64, warp_k=32, stages=3)
    >>> g = grid(p, t, sm_count=108, blocks_per_sm=1)
    >>> g.tiles, round(g.wave_efficiency, 3)
    (117, 0.542)
    """
    usable = sm_count if usable_sms is None else usable_sms
    tiles_m, tiles_n = ceil_div(p.m, t.tile_m), ceil_div(p.n, t.tile_n)
    k_steps, tiles = ceil_div(p.k, t.tile_k), tiles_m * tiles_n
    split = ops.maximum(t.split_k, 1)
    steps = ceil_div(k_steps, split)
    padded = ceil_div(tiles_m, t.cluster_m) * ceil_div(tiles_n, t.cluster_n)
    padded = padded * t.cluster_m * t.cluster_n
    streams = ops.minimum(sm_count * ops.maximum(blocks_per_sm, 1), tiles * k_steps)
    is_stream = t.split_k == 0
    # stream-K needs no whole tile per SM, so it cuts k exactly and pads nothing
    done = ops.where(is_stream, tiles * k_steps, tiles * split * steps)
    busiest = ops.where(
        is_stream, ceil_div(tiles * k_steps, usable), ceil_div(tiles * split, usable) * steps
    )
    return TileGrid(
        tiles_m=tiles_m,
        tiles_n=tiles_n,
        k_steps=k_steps,
        blocks=ops.where(is_stream, streams, padded * split),
        busiest_steps=busiest,
        tile_efficiency=p.m * p.n * p.k / (done * t.tile_m * t.tile_n * t.tile_k),
        wave_efficiency=done / (busiest * sm_count),
    )


def traffic(
    p: Problem,
    t: Tiling,
    instruction: Instruction,
    g: TileGrid,
    *,
    sm_count: int,
    blocks_per_sm: Int,
    cache: Cache,
    gcd: Gcd = math.gcd,
    ops: Ops = SCALAR,
) -> Traffic:
    """Bytes through every level.

    Args:
        p: the product.
        t: how it is cut up.
        instruction: that the warps use.
        g: its grid.
        sm_count: SMs of the product.
        blocks_per_sm: resident blocks of it, by ``models.occupancy``.
        cache: size of L2, and the order in which tiles come.
        gcd: for integers, or for arrays.
        ops: ``SCALAR``, or ``numpy`` with arrays in ``t``, ``g`` and ``blocks_per_sm``.
    """
    per_step = 2 * t.tile_m * t.tile_n * t.tile_k
    reads = shared_elements(t, instruction) * t.tile_k * p.dtype.bits / 8
    a_bytes, b_bytes = p.m * p.k * p.dtype.bits / 8, p.k * p.n * p.dtype.bits / 8
    partial = _partial_bytes(p, t, g, gcd, ops)
    spilled = ops.where(partial <= 2 * cache.l2_bytes, 0, partial)
    wave = ops.maximum(sm_count * blocks_per_sm, 1)
    along_m = _loaded(g.tiles_m, g.tiles_n, a_bytes, b_bytes, wave, cache, ops)
    along_n = _loaded(g.tiles_n, g.tiles_m, b_bytes, a_bytes, wave, cache, ops)
    loaded = ops.minimum(along_m, along_n)
    return Traffic(
        flops=g.busiest_steps * per_step * sm_count,
        l1_bytes=g.busiest_steps * reads * sm_count,
        l2_bytes=a_bytes * ceil_div(g.tiles_n, t.cluster_n)
        + b_bytes * ceil_div(g.tiles_m, t.cluster_m)
        + p.out_bytes
        + partial,
        dram_bytes=loaded + p.out_bytes + spilled,
        partial_bytes=partial,
    )


def shared_elements(t: Tiling, instruction: Instruction) -> Int:
    """Elements of A and B that the warps of a block read for each k."""
    m, n = t.warp_m, t.warp_n
    if instruction.reads_shared:
        m, n = instruction.m, instruction.n
    return t.tile_m * (t.tile_n // n) + t.tile_n * (t.tile_m // m)


def _partial_bytes(p: Problem, t: Tiling, g: TileGrid, gcd: Gcd, ops: Ops) -> Int:
    """Sums that are not yet whole, written once and read once."""
    split = ops.where(t.split_k > 1, t.split_k * p.m * p.n, 0)
    # of the cuts between so many equal shares, those that fall between two tiles cost nothing
    cuts = g.blocks - gcd(g.tiles, g.blocks)
    stream = ops.where(t.split_k == 0, cuts * t.tile_m * t.tile_n, 0)
    return 2 * (split + stream) * p.accumulate.bits / 8


def _loaded(
    rows: Int, columns: Int, of_rows: float, of_columns: float, wave: Int, cache: Cache, ops: Ops
) -> Int:
    """Bytes of both operands from DRAM, with bands of columns that are walked along the rows.

    ``rows`` and ``columns`` count tiles, ``of_rows`` and ``of_columns`` are the operands' bytes.
    """
    width = ops.minimum(cache.swizzle, columns)
    height = ops.minimum(rows, ops.maximum(wave // width, 1))
    # a wave that covers all rows takes more columns
    width = ops.where(height == rows, ops.minimum(columns, ops.maximum(width, wave // rows)), width)
    band, at_once = of_columns * width / columns, of_rows * height / rows
    rereads_rows = ops.where(of_rows + band <= cache.l2_bytes, 1, ceil_div(columns, width))
    rereads_columns = ops.where(band + at_once <= cache.l2_bytes, 1, ceil_div(rows, height))
    return of_rows * rereads_rows + of_columns * rereads_columns
