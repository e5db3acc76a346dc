"""How many blocks the register file holds: registers go to warps, inside one partition each.

The launch check counts every partition as filled equally, and refuses more than a block may have,
although the block then takes fewer.

Formula:
    per_warp       = round_up(registers * 32, 256)
    warps_per_part = registers_per_sm / partitions // per_warp
    blocks         = warps_per_part * partitions // warps
    blocks         = 0  if  per_warp * round_up(warps, partitions) > registers_per_block

Units: registers of 32 bits, per thread; an SM has 4 partitions (2 on 6.0).

Source: ``cuda_occupancy.h`` 13.0. The example is that of the CUDA C++ Best Practices Guide 13.0,
11.1.1: 12 blocks of 128 threads.

Valid: every capability of the database. On an H200 exact for blocks of 3 or more warps; smaller
blocks of 32 registers and more can stay two fifths below it (19 of 32), as they are placed unevenly
on the partitions.

>>> import perfkit
>>> from perfkit.models.ops import SCALAR
>>> from perfkit.models.registers import register_limit, registers_per_warp
>>> volta = perfkit.capability("7.0").registers
>>> registers_per_warp(volta, 37), register_limit(volta, 4, 37, halves=1, ops=SCALAR)
(1280, 12)
"""

from __future__ import annotations

from perfkit.arch.types import RegisterFile
from perfkit.models.ops import NO_LIMIT, Int, Ops, round_up


def registers_per_warp(registers: RegisterFile, regs: Int) -> Int:
    """Registers that a warp takes, with ``regs`` per thread."""
    return round_up(regs * 32, registers.allocation_unit)


def register_limit(registers: RegisterFile, warps: Int, regs: Int, *, halves: int, ops: Ops) -> Int:
    """Blocks that the register file allows.

    Args:
        registers: the capability's register file.
        warps: warps per block, at least 1.
        regs: registers per thread.
        halves: 2 if a block must fit in half an SM, else 1.
        ops: ``SCALAR`` or ``numpy``.
    """
    parts = registers.sub_partitions
    per_warp = registers_per_warp(registers, regs)
    warps_per_part = registers.per_sm // parts // ops.maximum(per_warp, 1)
    blocks = warps_per_part * (parts // halves) // warps * halves
    # on 6.0 nothing may launch that the other 6.x parts would refuse
    other = registers.compatibility_sub_partitions or parts
    assumed = per_warp * round_up(warps, max(parts, other))
    elsewhere = registers.per_sm // other // ops.maximum(per_warp, 1) * other // warps
    refused = (assumed > registers.max_per_block) | (elsewhere == 0)
    blocks = ops.where(refused | (regs > registers.max_per_thread), 0, blocks)
    return ops.where(regs == 0, NO_LIMIT, blocks)
