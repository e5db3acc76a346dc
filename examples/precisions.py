"""Tensor cores and precisions: what each type gains, and what it forgets.

Run it: ``python examples/precisions.py``. It asserts what it prints.
"""

import numpy as np

import perfkit

GPUS = ("t4", "a100", "rtx-4090", "h100")
#: operands and sums
TYPES = (("f64", "f64"), ("f32", "f32"), ("tf32", "f32"), ("f16", "f32"), ("f16", "f16"))
TYPES += (("bf16", "f32"), ("f8", "f32"), ("s8", "s32"))


def peak(gpu: str, dtype: str, sums: str) -> float | None:
    """Dense TFLOP/s or TOP/s of the faster unit; None: no such arithmetic."""
    try:
        found = perfkit.roofline(gpu, dtype=dtype, accumulate=sums, flops=1.0)
    except perfkit.PerfkitError:
        return None
    return found.peak_flop_per_s / 1e12


print("Peaks in TFLOP/s, dense\ntypes      " + "".join(f"{gpu:>10}" for gpu in GPUS))
table = {types: {gpu: peak(gpu, *types) for gpu in GPUS} for types in TYPES}
for types, row in table.items():
    cells = ("-" if value is None else f"{value:.4g}" for value in row.values())
    print(f"{'/'.join(types):11}" + "".join(f"{cell:>10}" for cell in cells))

# GeForce sums in f32 at half the rate, other cards do not: capability alone does not tell
assert round(table["f16", "f16"]["rtx-4090"] / table["f16", "f32"]["rtx-4090"], 9) == 2
assert table["f16", "f16"]["h100"] == table["f16", "f32"]["h100"]
# a tensor core with twice as narrow operands does twice as much
assert round(table["f8", "f32"]["h100"] / table["f16", "f32"]["h100"], 9) == 2
assert table["f8", "f32"]["a100"] is None
assert table["tf32", "f32"]["t4"] is None

print("\nWhat a sum in f16 forgets: 4,096 ones")
total = np.float16(0)
for _ in range(4096):
    total = np.float16(total + np.float16(1))
print(f"  in f16 {total:.0f}: beyond 2,048 numbers are 2 apart, so that adding 1 changes nothing")
assert total == 2048
print(f"  in f32 {np.ones(4096, np.float16).sum(dtype=np.float32):.0f}")

print("\nRange and precision, by the bits of exponent and mantissa")
for name, exponent, mantissa in (("f16", 5, 10), ("bf16", 8, 7), ("tf32", 8, 10), ("f32", 8, 23)):
    largest = (2 - 2.0**-mantissa) * 2.0 ** (2 ** (exponent - 1) - 1)
    print(f"  {name:5} up to {largest:.3g}, steps of {2.0**-mantissa:.2g} beside 1")
    if name in {"f16", "f32"}:
        known = np.finfo(np.float16 if name == "f16" else np.float32)
        assert (largest, 2.0**-mantissa) == (float(known.max), float(known.eps))

print()
# a tensor core helps only above the ridge: the same product, large and thin
for shape in ("4096x4096x4096", "8x4096x4096"):
    tensor = perfkit.roofline("h100", dtype="f16", op=f"gemm:{shape}")
    simt = perfkit.roofline("h100", dtype="f16", unit="simt", op=f"gemm:{shape}")
    print(f"gemm {shape}: {simt.time_s / tensor.time_s:.1f} times as fast with tensor cores")
    assert (tensor.bound_by == "compute") == (shape[0] == "4")
assert simt.time_s == tensor.time_s  # memory decides
