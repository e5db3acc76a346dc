"""Who computes what: from block and thread to element, warp and lane.

Run it: ``python examples/index_arithmetic.py``. It asserts what it prints.
"""

import perfkit

N, THREADS, WARP = 500_009, 256, 32

# one element per thread: as many blocks as it takes, the last one partly idle
blocks = -(-N // THREADS)
idle = blocks * THREADS - N
print(f"{N} elements: {blocks} blocks of {THREADS}, {idle} threads of the last one have no element")
elements = [
    block * THREADS + thread  # blockIdx.x * blockDim.x + threadIdx.x
    for block in range(blocks)
    for thread in range(THREADS)
    if block * THREADS + thread < N  # the bounds check of every kernel
]
assert elements == list(range(N))
assert idle == -N % THREADS


def place(x: int, y: int, z: int, block: tuple[int, int, int]) -> tuple[int, int]:
    """Warp and lane of a thread: x varies fastest, then y, then z."""
    linear = x + block[0] * (y + block[1] * z)
    return linear // WARP, linear % WARP


# the shape of a block decides which threads make up a warp, and so what one access touches
for shape in ((32, 8, 1), (16, 16, 1), (8, 8, 4)):
    threads = [(x, y, z) for z in range(shape[2]) for y in range(shape[1]) for x in range(shape[0])]
    first = [thread for thread in threads if place(*thread, shape)[0] == 0]
    rows = {(y, z) for _, y, z in first}
    # a matrix of 1,024 floats per row: what warp 0 reads of it
    sectors = perfkit.sectors(4, [(y * 1024 + z * 65536 + x) * 4 for x, y, z in first])
    print(f"block {shape}: warp 0 covers {len(rows)} rows, and reads {sectors} sectors of 32 bytes")
    assert len(first) == WARP
    assert len(rows) == WARP // shape[0]
    assert sectors == 4  # eight floats of a row are one sector: the narrowest shape here still fits

# a block that is no multiple of 32 pays for whole warps
for threads in (100, 128):
    occupancy = perfkit.occupancy("h100", threads=threads, regs=40)
    useful = occupancy.blocks_per_sm * threads
    print(f"{threads} threads per block: {occupancy.warps_per_sm} warps, {useful} useful threads")
    assert occupancy.warps_per_sm == occupancy.blocks_per_sm * -(-threads // WARP)

# grid-stride: as many blocks as are resident at once, each thread takes several elements
grid, block = perfkit.max_potential_block_size("h100", regs=40)
sms = perfkit.gpu("h100").sm_count
assert grid == sms * perfkit.occupancy("h100", threads=block, regs=40).blocks_per_sm
stride = grid * block
seen = [i for first in range(stride) for i in range(first, N, stride)]
most = -(-N // stride)
print(f"{sms} SMs hold {grid} blocks of {block}, {stride} threads: up to {most} elements for each")
assert sorted(seen) == list(range(N))
