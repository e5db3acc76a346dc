"""Resident blocks and nothing else, for whoever compares many launches one by one.

The rule, its source and its range are those of ``models.occupancy``.
"""

from __future__ import annotations

from perfkit.arch.types import Capability
from perfkit.models.carveout import NO_PREFERENCE, shared_block_limit
from perfkit.models.occupancy import barrier_limit, warp_limit
from perfkit.models.ops import SCALAR, ceil_div
from perfkit.models.registers import register_limit


def resident_blocks(
    capability: Capability, *, threads: int, regs: int, smem: int = 0, barriers: int = 1
) -> int:
    """``occupancy(…).blocks_per_sm`` without the rest, for whoever compares many launches.

    By the driver's rule, without a carveout preference. Values that no launch can have give 0.

    >>> import perfkit
    >>> resident_blocks(perfkit.capability("8.0"), threads=224, regs=92)
    2
    """
    limits = capability.limits
    warps = max(1, ceil_div(threads, limits.warp_size))
    shared = capability.shared_memory
    found: int = min(
        limits.max_blocks_per_sm,
        warp_limit(limits, threads, halves=1, ops=SCALAR),
        register_limit(capability.registers, warps, regs, halves=1, ops=SCALAR),
        shared_block_limit(shared, smem, NO_PREFERENCE, rule="driver", opt_in=True, ops=SCALAR),
        barrier_limit(limits, barriers, ops=SCALAR),
    )
    return found
