"""What each number of resident blocks leaves: registers per thread, and dynamic shared memory.

The arithmetic behind ``__launch_bounds__(threads, blocks)``, ``-maxrregcount`` and the choice of a
tile: each row is the most of either with which that many blocks are resident, all else unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.models.inverse import largest_smem, max_registers
from perfkit.models.occupancy import barrier_limit, warp_limit
from perfkit.models.ops import SCALAR, ceil_div
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.block_sizes import Place


@record
class Budget:
    """One number of resident blocks."""

    blocks_per_sm: int
    warps_per_sm: int
    ratio: float
    max_registers: int  #: per thread; what the compiler is held to by the launch bounds
    max_dynamic_bytes: int | None  #: per block; None: the static shared memory alone is too much


@record
class RegisterStep:
    """One block more for fewer registers."""

    blocks_per_sm: int
    registers: int
    fewer: int  #: than the compiler takes now: it may have to spill for them
    ratio: float  #: occupancy there


def budgets(place: Place) -> tuple[Budget, ...]:
    """One row for each number of blocks that warp slots, block slots and barriers allow."""
    request, capability = place.request, place.request.target.capability
    limits = capability.limits
    slots = min(
        limits.max_blocks_per_sm,
        warp_limit(limits, place.threads, halves=1, ops=SCALAR),
        barrier_limit(limits, request.barriers, ops=SCALAR),
    )
    warps = ceil_div(place.threads, limits.warp_size)
    found = []
    for blocks in range(1, slots + 1):
        total = largest_smem(capability, blocks=blocks, carveout=None, rule="driver")
        fits = total is not None and total >= request.static_bytes
        found.append(
            Budget(
                blocks_per_sm=blocks,
                warps_per_sm=blocks * warps,
                ratio=blocks * warps / limits.max_warps_per_sm,
                max_registers=max_registers(capability, threads=place.threads, blocks=blocks),
                max_dynamic_bytes=(total or 0) - request.static_bytes if fits else None,
            )
        )
    return tuple(found)


def present(place: Place, found: tuple[Budget, ...]) -> Budget | None:
    """The row of the launch itself."""
    return next((row for row in found if row.blocks_per_sm == place.blocks_per_sm), None)


def next_step(place: Place, found: tuple[Budget, ...]) -> RegisterStep | None:
    """What one more block would cost in registers; None: registers do not stand in its way."""
    request = place.request
    dynamic = request.dynamic(place.threads)
    if place.is_cluster_limited:
        return None
    for row in found:
        if row.blocks_per_sm <= place.blocks_per_sm:
            continue
        if row.max_registers >= request.regs:  # something else is in the way
            return None
        if row.max_dynamic_bytes is None or row.max_dynamic_bytes < dynamic:
            return None
        return RegisterStep(
            blocks_per_sm=row.blocks_per_sm,
            registers=row.max_registers,
            fewer=request.regs - row.max_registers,
            ratio=row.ratio,
        )
    return None
