"""Occupancy asked backwards: how much of a resource leaves room for so many blocks?

Each answer is the true inverse of ``models.occupancy``: the largest (or best) input for which the
forward rule still gives what was asked, found by asking the forward rule.

Formula:
    max_registers            = max { regs : blocks by registers >= wanted }
    available_smem           = max { bytes : blocks by shared memory >= wanted } - static
    max_potential_block_size = the first of 1024, 992, ... 32 that maximises block * blocks_per_sm

Units: registers per thread, bytes per block, threads per block.

Source: ``cuda_occupancy.h`` 13.0 (``cudaOccMaxPotentialOccupancyBlockSize``); for shared memory the
forward rule, because ``cudaOccupancyAvailableDynamicSMemPerBlock`` forgets the reserve up to 13.0.

Valid: where the forward rule is.

>>> import perfkit
>>> from perfkit.models.inverse import max_potential_block_size
>>> max_potential_block_size(perfkit.capability("8.0"), regs=92, sm_count=108)
(108, 640)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from perfkit.arch.types import Capability
from perfkit.errors import DoesNotFit
from perfkit.models import launch
from perfkit.models.carveout import NO_PREFERENCE, shared_block_limit
from perfkit.models.occupancy import Rule, occupancy, warp_limit
from perfkit.models.ops import SCALAR, ceil_div, round_up
from perfkit.models.registers import register_limit


def max_registers(capability: Capability, *, threads: int, blocks: int) -> int:
    """Largest register count per thread with which ``blocks`` blocks are resident.

    The arithmetic behind ``__launch_bounds__(threads, blocks)``: 65536 / (3 * 256) is 85, but
    registers come in units of 8 per thread, so three blocks get 80.

    Raises:
        DoesNotFit: the warp or block slots, or even one register per thread, forbid it.

    >>> import perfkit
    >>> max_registers(perfkit.capability("8.6"), threads=256, blocks=3)
    80
    """
    launch.check(capability, threads, 0, 0, None, 0, 0)
    warps = ceil_div(threads, capability.limits.warp_size)
    slots = min(
        warp_limit(capability.limits, threads, halves=1, ops=SCALAR),
        capability.limits.max_blocks_per_sm,
    )
    if blocks <= slots:
        for regs in range(capability.registers.max_per_thread, 0, -1):
            if register_limit(capability.registers, warps, regs, halves=1, ops=SCALAR) >= blocks:
                return regs
    raise DoesNotFit(
        f"{blocks} blocks of {threads} threads do not fit on an SM of {capability.label}",
        hint=f"its warp and block slots allow {slots}",
    )


def largest_smem(
    capability: Capability, *, blocks: int, carveout: int | None, rule: Rule, opt_in: bool = True
) -> int | None:
    """Most shared memory per block, static plus dynamic, with which ``blocks`` blocks fit.

    Only shared memory is looked at. ``None``: not even a block without shared memory fits so often.
    """
    shared = capability.shared_memory
    percent = NO_PREFERENCE if carveout is None else carveout
    unit, reserved = shared.allocation_unit_bytes, shared.reserved_per_block_bytes
    top = shared.max_per_block_optin_bytes if opt_in else shared.max_per_block_bytes
    # at most this share of the SM can be enough; within one allocation unit nothing changes
    share = min(round_up(top + reserved, unit), shared.per_sm_bytes // blocks // unit * unit)
    amounts = range(share, -1, -unit)

    def declared(allocated: int) -> int:
        return min(allocated - reserved, top)

    def fit(allocated: int) -> int:
        smem = max(0, declared(allocated))
        found: int = shared_block_limit(shared, smem, percent, rule=rule, opt_in=opt_in, ops=SCALAR)
        return found

    # by the driver's rule less memory is never fewer blocks, by the hardware's it can be
    place = (
        bisect_left(amounts, blocks, key=fit)
        if rule == "driver"
        else next((i for i, amount in enumerate(amounts) if fit(amount) >= blocks), len(amounts))
    )
    if place == len(amounts) or declared(amounts[place]) < 0:
        return None
    return declared(amounts[place])


def available_smem(
    capability: Capability,
    *,
    threads: int,
    regs: int,
    blocks: int,
    static_smem: int = 0,
    carveout: int | None = None,
    barriers: int = 1,
    rule: Rule = "driver",
) -> int:
    """Most dynamic shared memory per block, in bytes, with which ``blocks`` blocks are resident.

    Unlike ``cudaOccupancyAvailableDynamicSMemPerBlock`` up to CUDA 13.0 this counts the kilobyte
    that the driver reserves in every block from 8.0 on, so that the answer really fits.

    Args:
        capability: the SM.
        threads: threads per block.
        regs: registers per thread.
        blocks: resident blocks wanted, at least 1.
        static_smem: bytes the kernel declares statically.
        carveout: percent, or None.
        barriers: named barriers per block.
        rule: ``driver`` or ``hardware``.

    Raises:
        DoesNotFit: another limit, or the static shared memory alone, leaves fewer blocks.

    >>> import perfkit
    >>> available_smem(perfkit.capability("9.0"), threads=128, regs=32, blocks=2)
    115712
    """
    launch.within(capability, "blocks", blocks, 1, None, "")
    bare = occupancy(
        capability,
        threads=threads,
        regs=regs,
        smem=static_smem,
        carveout=carveout,
        barriers=barriers,
        rule=rule,
    )
    total = largest_smem(capability, blocks=blocks, carveout=carveout, rule=rule)
    if bare.blocks_per_sm < blocks or total is None or total < static_smem:
        raise DoesNotFit(
            f"{blocks} blocks do not fit on an SM of {capability.label}: {bare.blocks_per_sm} do "
            f"with no dynamic shared memory",
            hint=f"limited by {', '.join(bare.binding)}",
        )
    return total - static_smem


def block_sizes_reaching(
    capability: Capability,
    *,
    ratio: float,
    regs: int,
    smem: int | Callable[[int], int] = 0,
    carveout: int | None = None,
    barriers: int = 1,
    rule: Rule = "driver",
) -> tuple[int, ...]:
    """Block sizes, in whole warps, with an occupancy of at least ``ratio`` (0..1), ascending."""
    warp = capability.limits.warp_size
    return tuple(
        threads
        for threads in range(warp, capability.limits.max_threads_per_block + 1, warp)
        if occupancy(
            capability,
            threads=threads,
            regs=regs,
            smem=smem(threads) if callable(smem) else smem,
            carveout=carveout,
            barriers=barriers,
            rule=rule,
        ).ratio
        >= ratio
    )


def max_potential_block_size(
    capability: Capability,
    *,
    regs: int,
    sm_count: int,
    smem: int | Callable[[int], int] = 0,
    carveout: int | None = None,
    max_threads: int = 1024,
) -> tuple[int, int]:
    """``cudaOccMaxPotentialOccupancyBlockSize``: the smallest full grid and its block size.

    Walks block sizes down in steps of a warp and keeps the first that maximises resident threads.

    Args:
        capability: the SM.
        regs: registers per thread.
        sm_count: SMs of the product.
        smem: bytes per block, or a function of the block size.
        carveout: percent, or None.
        max_threads: the kernel's own limit (``__launch_bounds__``).

    Returns:
        ``(min_grid, block)``; ``(0, 0)`` if nothing launches.
    """
    warp = capability.limits.warp_size
    limit = min(max_threads, capability.limits.max_threads_per_block)
    best_threads, best = 0, (0, 0)
    for aligned in range(round_up(limit, warp), 0, -warp):
        block = min(limit, aligned)
        found = occupancy(
            capability,
            threads=block,
            regs=regs,
            smem=smem(block) if callable(smem) else smem,
            carveout=carveout,
        )
        if block * found.blocks_per_sm > best_threads:
            best_threads = block * found.blocks_per_sm
            best = (found.blocks_per_sm * sm_count, block)
    return best
