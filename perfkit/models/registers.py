"""How many blocks the register file holds: registers go to warps, inside one partition each.

``per_warp = round_up(regs * 32, 256)``. The launch check counts every partition as filled equally,
``per_warp * round_up(warps, partitions)``, and refuses more than a block may have.

Source: ``cuda_occupancy.h`` 13.0. Valid for every capability of the database.
"""

from __future__ import annotations

from perfkit.arch.types import RegisterFile
from perfkit.models.ops import NO_LIMIT, Int, Ops, round_up


def registers_per_warp(registers: RegisterFile, regs: Int) -> Int:
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
