"""A tiled matrix product: why tiles, how large, and what stops them from growing.

Run it: ``python examples/matmul_tiles.py``. It asserts what it prints. The kernel is
``examples/kernels/tiled_matmul.cu``; it is compiled where NVRTC is installed.
"""

from pathlib import Path

import numpy as np

import perfkit
from perfkit.errors import Unavailable

KERNEL = Path(__file__).parent / "kernels" / "tiled_matmul.cu"


def tiled(a: np.ndarray, b: np.ndarray, tile: int) -> tuple[np.ndarray, int]:
    """The algorithm of the kernel, one block after the other; and the elements it loads."""
    n, loaded = len(a), 0
    c = np.zeros((n, n))
    for row in range(0, n, tile):  # blockIdx.y
        for column in range(0, n, tile):  # blockIdx.x
            for start in range(0, n, tile):
                a_tile = a[row : row + tile, start : start + tile]  # to shared memory
                b_tile = b[start : start + tile, column : column + tile]
                loaded += a_tile.size + b_tile.size
                c[row : row + tile, column : column + tile] += a_tile @ b_tile
    return c, loaded


N = 64
a, b = np.random.default_rng(1).integers(-4, 5, (2, N, N))
print(f"C = A B with {N} x {N}: {2 * N**3} FLOP")
for tile in (1, 4, 16, 32):
    c, loaded = tiled(a, b, tile)
    print(
        f"  tile {tile:2}: {loaded:6} elements from global memory, {loaded // N**2:3} per element"
    )
    assert (c == a @ b).all()
    assert loaded == 2 * N**3 // tile  # a tile of T uses everything T times

bend = perfkit.roofline("h100", dtype="f32", unit="simt", flops=1.0, bytes=1.0).ridge
print(
    f"\nIn f32 a tile of T makes T / 4 FLOP per byte; the roofline of an H100 bends at {bend:.0f}"
)
for tile in (1, 16, 32, 128):
    flops = 2 * 4096**3
    bound = perfkit.roofline("h100", dtype="f32", unit="simt", flops=flops, bytes=flops * 4 / tile)
    share = bound.attainable_flop_per_s / bound.peak_flop_per_s
    print(f"  tile {tile:3}: at most {share:6.1%} of the peak, without a cache")
    assert (bound.bound_by == "memory") == (tile / 4 < bend)

print("\nOne thread per element ends at 32 x 32 = 1,024; larger tiles give each thread more")
for side, each in ((16, 1), (32, 1), (64, 4), (128, 8)):
    threads, shared = (side // each) ** 2, 2 * side * 16 * 4  # slices of 16 of k, in f32
    registers = 24 + each**2 + 2 * each
    there = perfkit.occupancy("h100", threads=threads, regs=registers, smem=shared)
    print(
        f"  {side:3} x {side:3}, {each} x {each} a thread: {threads:4} threads, {registers:3} "
        f"registers, {shared // 1024:2} KiB, {there.ratio:.0%}"
    )
    assert threads <= 1024
    assert there.blocks_per_sm >= 1
assert there.ratio < 0.5  # the fastest of them has the least occupancy: reuse is worth more

print("\nThe kernel")
try:
    for tile in (16, 32):
        (kernel,) = perfkit.inspect(KERNEL, target="h100", defines=f"TILE={tile}")
        print(f"  TILE={tile}: {kernel.static_shared_bytes} B shared memory of a block")
        assert kernel.static_shared_bytes == 2 * tile * tile * 4
except Unavailable as error:
    print(f"  skipped: {error}")
