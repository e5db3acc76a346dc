"""Custom fused operations: what memory traffic they save, which is all the time they save.

Run it: ``python examples/fused_ops.py``. It asserts what it prints.
"""

import numpy as np

import perfkit

GPU = "a100"
ROWS, COLUMNS = 8192, 4096
N, BYTES = ROWS * COLUMNS, 2  # of f16


def passes(reads: int, writes: int) -> float:
    """Least time of a kernel that reads and writes so many whole matrices."""
    return perfkit.roofline(GPU, dtype="f16", bytes=(reads + writes) * N * BYTES).time_s


print(f"bias, GELU and a residual, on {ROWS} x {COLUMNS} in f16")
steps = {"x + bias": (1, 1), "gelu(x)": (1, 1), "x + residual": (2, 1)}
apart = 0.0
for name, (reads, writes) in steps.items():
    apart += passes(reads, writes)
    print(f"  {name:14} reads {reads}, writes {writes}: {passes(reads, writes) * 1e6:4.0f} us")
fused = passes(2, 1)
print(
    f"  in one kernel  reads 2, writes 1: {fused * 1e6:4.0f} us, {apart / fused:.2f} times as fast"
)
assert round(apart / fused, 6) == round(7 / 3, 6)

# the arithmetic hides below the memory: a GELU of some 20 FLOP is far from the ridge
gelu = perfkit.roofline(GPU, dtype="f16", op=f"elementwise:{N},flops=20")
print(f"  20 FLOP per element are {gelu.intensity:g} per byte; the ridge is at {gelu.ridge:.0f}")
assert gelu.bound_by == "memory"

print("\nLayer normalisation: how often a row comes from memory")
for name, reads in (("mean, variance and result each read it", 3), ("it stays on the chip", 1)):
    print(f"  {name:38} {passes(reads, 1) * 1e6:4.0f} us")
model = perfkit.roofline(GPU, dtype="f16", op=f"layernorm:{ROWS}x{COLUMNS}")
assert abs(model.time_s / passes(1, 1) - 1) < 0.001  # gamma and beta are small

# one pass finds mean and variance, if it merges what every thread has by Chan's rule
x = np.random.default_rng(0).normal(1000, 1, COLUMNS).astype(np.float32)
count, mean, m2 = 0, 0.0, 0.0
for part in x.reshape(128, -1).astype(np.float64):  # 128 threads, 32 elements each
    size, its_mean = len(part), part.mean()
    delta, total = its_mean - mean, count + size
    m2 += ((part - its_mean) ** 2).sum() + delta**2 * count * size / total
    mean, count = mean + delta * size / total, total
naive = (x * x).mean() - x.mean() ** 2  # in f32: the digits cancel
print(f"  variance {m2 / count:.4f} when merged, {naive:.4f} as E[x^2] - E[x]^2 in f32")
assert abs(m2 / count - x.astype(np.float64).var()) < 1e-9
assert abs(naive - x.astype(np.float64).var()) > 1e-3

# the row has to fit: 128 threads with 32 values each keep it in registers
kept = perfkit.occupancy(GPU, threads=128, regs=32 + 40)
shared = perfkit.occupancy(GPU, threads=128, regs=40, smem=COLUMNS * 4)
print(f"  kept in registers {kept.ratio:.0%} occupancy, in shared memory {shared.ratio:.0%}")
assert min(kept.blocks_per_sm, shared.blocks_per_sm) >= 1
