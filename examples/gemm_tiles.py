"""Tiles as CUTLASS has them: block, warp, instruction and stages; waves; and a fused epilogue.

Run it: ``python examples/gemm_tiles.py``. It asserts what it prints.
"""

import perfkit

GPU, SIZE = "h100", 4096
BYTES = 2  # of f16


def product(tile: tuple, warp: tuple, stages: int, **more: object):
    """C = A B in f16 with f32 sums."""
    sizes = {"m": SIZE, "n": SIZE, "k": SIZE}
    return perfkit.gemm(GPU, **sizes, dtype="f16", tile=tile, warp=warp, stages=stages, **more)


print("block          warp         stages  threads   shared  regs  blocks/SM  FLOP/byte of L2")
for tile, warp, stages in (
    ((64, 64, 32), (32, 32, 32), 3),
    ((128, 128, 32), (64, 64, 32), 3),
    ((128, 256, 32), (64, 64, 32), 3),
    ((128, 256, 64), (64, 64, 64), 4),
):
    m, n, k = tile
    found = product(tile, warp, stages)
    block = found.block
    # by hand: warps cover the tile; each stage holds a slice of A and one of B
    assert block.threads == 32 * (m // warp[0]) * (n // warp[1])
    assert block.shared_bytes == stages * (m + n) * k * BYTES
    # a thread's share of the sums, one register for each f32
    assert block.accumulators == m * n // block.threads
    reuse = 2 * m * n * k / ((m + n) * k * BYTES)
    shape, warps = "x".join(map(str, tile)), "x".join(map(str, warp))
    print(
        f"{shape:13}  {warps:12} {stages:5} {block.threads:8} {block.shared_bytes // 1024:4} KiB "
        f"{block.registers:5} {block.driver.blocks_per_sm:9} {reuse:12.0f}"
    )
assert block.driver.blocks_per_sm == 1  # four stages of it leave no room for a second block

print("\nWaves: 132 SMs share out the tiles, and the last wave is rarely full")
for tile, warp in (((128, 128, 32), (64, 64, 32)), ((128, 256, 32), (64, 64, 32))):
    grid = product(tile, warp, 3).schedule.grid
    tiles = -(-SIZE // tile[0]) * -(-SIZE // tile[1])
    rounds = -(-tiles // 132)
    print(f"  {tile}: {tiles} tiles, {rounds} for the busiest SM: {grid.wave_efficiency:.1%} busy")
    assert grid.tiles == tiles
    assert abs(grid.wave_efficiency - tiles / (rounds * 132)) < 1e-9

streamed = product((128, 256, 32), (64, 64, 32), 3, split_k=0).schedule
print(f"  stream-K shares out slices of k instead of tiles: {streamed.grid.wave_efficiency:.1%}")
assert streamed.grid.wave_efficiency > grid.wave_efficiency

print("\nEpilogue: D = relu(A B + bias)")
found = product((128, 128, 32), (64, 64, 32), 3)
matrix = SIZE * SIZE * BYTES
relu = perfkit.roofline(GPU, dtype="f16", op=f"elementwise:{SIZE * SIZE}")
print(f"  as a kernel of its own it reads and writes {2 * matrix / 2**20:.0f} MiB")
saved = f"{relu.time_s * 1e6:.0f} us"
print(f"  product {found.shape.time_s * 1e6:.0f} us, and then {saved}, which fusing saves")
assert 2 * found.fused_bytes == relu.bytes == 2 * matrix  # written once and read once less
assert abs(found.fused_s - relu.time_s) < 1e-12

best = perfkit.gemm(GPU, m=SIZE, n=SIZE, k=SIZE, dtype="f16")
t = best.tiling
print(f"\nWithout a tile perfkit ranks them: {t.tile_m}x{t.tile_n}x{t.tile_k}, {t.stages} stages")
assert best.schedule.bound.time_s <= found.schedule.bound.time_s
