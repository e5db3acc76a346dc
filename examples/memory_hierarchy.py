"""Registers, shared memory, L1, L2, DRAM: how large, how fast, and how often data must be used.

Run it: ``python examples/memory_hierarchy.py``. It asserts what it prints.
"""

import perfkit

KIB, MIB = 1024, 1024**2
WORD = 4  # bytes of a float and of a register

print(
    "GPU             registers/SM  shared/block  L1+shared/SM        L2  DRAM GB/s  all registers"
)
for name in ("v100-sxm2-16gb", "a100-sxm4-80gb", "rtx-4090", "h100-sxm5"):
    gpu = perfkit.gpu(name)
    sm = perfkit.capability(str(gpu.compute_capability))
    registers = sm.registers.per_sm * WORD
    everywhere = registers * gpu.sm_count
    print(
        f"{name:14}  {registers // KIB:8} KiB  "
        f"{sm.shared_memory.max_per_block_optin_bytes // KIB:8} KiB  "
        f"{sm.l1.unified_with_shared_bytes // KIB:8} KiB  {gpu.memory.l2_bytes // MIB:4} MiB  "
        f"{gpu.memory.bandwidth_bytes_per_s / 1e9:9.0f}  {everywhere / MIB:9.1f} MiB"
    )
    # 64 K registers of 4 bytes each: no memory of an SM is larger
    assert registers == 256 * KIB
    assert registers >= sm.l1.unified_with_shared_bytes
    # a block never gets all of it: the driver keeps a kilobyte from 8.0 on
    assert sm.shared_memory.max_per_block_optin_bytes <= sm.shared_memory.per_sm_bytes

# how often must a value be used, if every multiply-add takes two new operands from a memory?
gpu, sm = perfkit.gpu("h100"), perfkit.capability("9.0")
fma_per_clock = sm.throughput.f32
wanted = 2 * WORD * fma_per_clock  # bytes per clock of an SM
shared = sm.shared_memory.banks * WORD
dram = gpu.memory.bandwidth_bytes_per_s / gpu.sm_count / gpu.boost_clock_hz
print(f"\nh100: {fma_per_clock} multiply-adds per clock want {wanted} bytes per clock of operands")
print(
    f"  shared memory gives {shared}, so every operand serves {wanted / shared:.0f} multiply-adds"
)
print(f"  DRAM gives {dram:.1f}, so every operand serves {wanted / dram:.0f} multiply-adds")
assert wanted / shared == 8
assert 79 < wanted / dram < 81

# that is the ridge of the roofline, said in other words: FLOP per byte instead of uses per word
bound = perfkit.roofline("h100", dtype="f32", unit="simt", flops=1e12, bytes=1e9)
print(f"  its roofline bends at {bound.ridge:.1f} FLOP per byte")
assert abs(bound.ridge - wanted / dram * 2 / (2 * WORD)) < 0.1

# a copy uses every value once, so its time is that of the memory, whatever the SM could do
copy = perfkit.roofline("h100", dtype="f32", op="elementwise:100000000,flops=0")
print(f"  a copy of 100 M floats: {copy.time_s * 1e3:.3f} ms, bound by {copy.bound_by}")
assert abs(copy.time_s - 2 * 1e8 * WORD / gpu.memory.bandwidth_bytes_per_s) < 1e-9
