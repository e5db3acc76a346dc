"""Launch bounds: a promise of threads and blocks, which the compiler turns into registers.

Run it: ``python examples/launch_bounds.py``. It asserts what it prints, and compiles where NVRTC is
installed (``pip install 'perfkit[cu12]'``).
"""

from pathlib import Path

import perfkit
from perfkit.errors import Unavailable

GPU, THREADS = "a100", 256
KERNEL = Path(__file__).parent / "kernels" / "dot_rows.cu"

print(f"__launch_bounds__({THREADS}, blocks) on an A100")
before = 256
for blocks in range(1, 9):
    registers = perfkit.max_registers(GPU, threads=THREADS, blocks=blocks)
    there = perfkit.occupancy(GPU, threads=THREADS, regs=registers)
    print(f"  {blocks} blocks: at most {registers:3} registers, occupancy {there.ratio:6.1%}")
    # 65,536 registers, given to warps in units of 8 per thread, at most 255 of them for one
    assert registers == min(255, 65536 // (THREADS * blocks) // 8 * 8)
    assert there.blocks_per_sm >= blocks  # with 32 registers not only 7 fit, but 8
    assert registers <= before
    before = registers

# one register more than that and a block is gone: a cliff
for registers, blocks in ((64, 4), (65, 3)):
    found = perfkit.occupancy(GPU, threads=THREADS, regs=registers)
    print(
        f"  {registers} registers: {found.blocks_per_sm} blocks, limited by {found.limited_by[0]}"
    )
    assert found.blocks_per_sm == blocks

# a block beyond the promise does not launch, and perfkit says so before the driver does
refused = perfkit.occupancy(GPU, threads=512, regs=40, max_threads=THREADS)
print(f"  512 threads: {refused.refusal.resource}, at most {refused.refusal.allowed}")
assert refused.blocks_per_sm == 0

print("\nA kernel that keeps 64 sums in registers, with all the room it wants and with half of it")
try:
    for limit in (None, 32):
        (kernel,) = perfkit.inspect(KERNEL, target=GPU, max_registers=limit)
        used, spilled = kernel.registers_per_thread, kernel.spill_store_bytes
        there = perfkit.occupancy(GPU, threads=THREADS, regs=used)
        limited = "no limit" if limit is None else f"limit {limit}"
        print(f"  {limited:9} {used:3} registers, {spilled:3} B spilled, {there.ratio:6.1%}")
        assert limit is None or used <= limit
    assert spilled > 0
    print("  full occupancy, and every value that was spilled goes through L1: measure before use")
except Unavailable as error:
    print(f"  skipped: {error}")
