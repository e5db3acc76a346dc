"""Flash attention: the same result with a fraction of the traffic, counted.

Run it: ``python examples/flash_attention.py``. It asserts what it prints.
"""

import numpy as np

import perfkit

GPU = "h100"


def flash(q: np.ndarray, k: np.ndarray, v: np.ndarray, rows: int, columns: int) -> tuple:
    """Blocks of queries against blocks of keys, with a running maximum; and elements moved."""
    n, d = q.shape
    out, moved = np.zeros((n, d)), 0
    for i in range(0, n, rows):
        block = q[i : i + rows]
        moved += block.size
        top = np.full((len(block), 1), -np.inf)
        total, sums = np.zeros((len(block), 1)), np.zeros((len(block), d))
        for j in range(0, n, columns):
            keys, values = k[j : j + columns], v[j : j + columns]
            moved += keys.size + values.size
            scores = block @ keys.T / np.sqrt(d)  # stays on the chip
            higher = np.maximum(top, scores.max(axis=1, keepdims=True))
            weights, scale = np.exp(scores - higher), np.exp(top - higher)
            total = total * scale + weights.sum(axis=1, keepdims=True)
            sums, top = sums * scale + weights @ values, higher
        out[i : i + rows] = sums / total
        moved += block.size
    return out, moved


N, D = 256, 32
q, k, v = np.random.default_rng(2).normal(size=(3, N, D))
scores = q @ k.T / np.sqrt(D)
weights = np.exp(scores - scores.max(axis=1, keepdims=True))
exact = weights / weights.sum(axis=1, keepdims=True) @ v
# the product writes the scores, softmax reads and writes them, the second product reads them
plain = 4 * N * D + 4 * N * N
print(f"{N} queries, {D} wide: {plain} elements through memory with the scores in between")
for rows in (32, 64, 128):
    out, moved = flash(q, k, v, rows, 32)
    print(f"  blocks of {rows:3} queries: {moved:7} elements, {plain / moved:.1f} times fewer")
    assert np.allclose(out, exact, atol=1e-12)
    assert moved == 2 * N * D + N // rows * 2 * N * D

print("\n32 heads of 128, in f16 on an H100: least times, and what decides them")
heads, dim, size, rows = 32, 128, 2, 128
for length in (1024, 4096, 16384):
    op = perfkit.roofline(GPU, dtype="f16", op=f"attention:1x{heads}x{length}x{dim}")
    ways = {
        "scores stored": 4 * length * dim + 4 * length**2,
        "blocks, all from DRAM": 2 * length * dim + length // rows * 2 * length * dim,
        "blocks, keys stay in L2": 4 * length * dim,
    }
    found = [
        perfkit.roofline(GPU, dtype="f16", flops=op.flops, bytes=heads * elements * size)
        for elements in ways.values()
    ]
    for name, bound in zip(ways, found, strict=True):
        print(f"  {length:5} long, {name:23} {bound.time_s * 1e6:6.0f} us, {bound.bound_by}")
    # a block of 128 queries does 128 FLOP per byte of keys and values; the ridge is at 295
    assert [bound.bound_by for bound in found] == ["memory", "memory", "compute"]
    assert found[2].bytes == op.bytes
    # keys and values of a head are small beside L2
    assert 2 * length * dim * size < perfkit.gpu(GPU).memory.l2_bytes

print("\nWhat has to stay on the chip: queries, and two stages of keys and values")
for rows, columns in ((64, 64), (128, 64), (128, 128)):
    shared = (rows + 2 * 2 * columns) * dim * size
    there = perfkit.occupancy(GPU, threads=128, regs=168, smem=shared)
    print(f"  {rows:3} x {columns:3}: {shared // 1024:3} KiB, {there.blocks_per_sm} blocks per SM")
    assert there.limited_by == ("shared_memory",)
