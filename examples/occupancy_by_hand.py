"""The register rule step by step, beside perfkit's answer: 224 threads of 92 registers on an A100.

Run it: ``python examples/occupancy_by_hand.py``. It asserts what it prints.
"""

from math import ceil

import perfkit

THREADS, REGISTERS = 224, 92

sm = perfkit.capability("8.0")
file = sm.registers

warps_per_block = ceil(THREADS / sm.limits.warp_size)
registers_per_warp = ceil(REGISTERS * 32 / file.allocation_unit) * file.allocation_unit
warps_per_partition = file.per_sm // file.sub_partitions // registers_per_warp
warps_per_sm = warps_per_partition * file.sub_partitions
blocks = warps_per_sm // warps_per_block

print(f"{warps_per_block} warps per block, {registers_per_warp} registers per warp")
print(f"{warps_per_partition} warps per partition, {warps_per_sm} per SM, {blocks} blocks")
assert (warps_per_block, registers_per_warp) == (7, 3072)
assert (warps_per_partition, warps_per_sm, blocks) == (5, 20, 2)

# dividing the whole register file by a block's registers forgets the partitions
assert file.per_sm // (warps_per_block * registers_per_warp) == 3

answer = perfkit.occupancy("a100", threads=THREADS, regs=REGISTERS)
assert answer.blocks_per_sm == blocks
assert answer.limited_by == ("registers",)

# three blocks would fit with this many registers, which is what __launch_bounds__(224, 3) asks for
for registers in range(REGISTERS, 0, -1):
    if perfkit.occupancy("a100", threads=THREADS, regs=registers).blocks_per_sm >= 3:
        print(f"{registers} registers would allow 3 blocks")
        assert registers == 80
        break
