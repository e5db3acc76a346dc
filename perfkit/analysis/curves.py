"""Occupancy over one input at a time, the others as they are: the curves around a launch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from perfkit.models.carveout import NO_PREFERENCE, shared_block_limit
from perfkit.models.ops import SCALAR, ceil_div
from perfkit.models.registers import register_limit
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.launch import Launch
    from perfkit.analysis.steps import Quantity
    from perfkit.arch.types import Capability, RegisterFile, SharedMemory
    from perfkit.models.occupancy import Rule

#: value of the input, resident warps per SM from there on
Steps = tuple[tuple[int, int], ...]


@record
class Curve:
    """Warps per SM over one quantity, from ``first`` to ``last``; only where it changes."""

    quantity: Quantity
    first: int
    last: int
    driver: Steps
    hardware: Steps


def curves(capability: Capability, launch: Launch) -> tuple[Curve, ...]:
    """Over block size, registers and shared memory, by both rules.

    Block sizes go up to what the launch bounds allow, shared memory to the largest amount of a
    block.

    >>> import perfkit
    >>> from perfkit.analysis.launch import Launch
    >>> _, registers, _ = curves(
    ...     perfkit.capability("9.0"), Launch(threads=256, regs=40, smem=0))
    >>> registers.driver[:4]
    ((1, 64), (33, 48), (41, 40), (49, 32))
    """
    limits, registers = capability.limits, capability.registers
    top = capability.shared_memory.max_per_block_optin_bytes
    most = min(limits.max_threads_per_block, launch.max_threads or limits.max_threads_per_block)
    warps = ceil_div(launch.threads, limits.warp_size)

    def by_registers(one: Launch) -> Steps:
        return _within(capability, one, "registers", _register_limits(registers, warps))

    def by_shared_memory(one: Launch) -> Steps:
        percent = NO_PREFERENCE if one.carveout is None else one.carveout
        limit = _shared_limits(capability.shared_memory, percent, one.rule)
        return _within(capability, one, "shared_memory", limit)

    def by_block_size(one: Launch) -> Steps:
        # only the first thread of a warp changes anything
        values = range(1, most + 1, limits.warp_size)
        return _steps(values, lambda v: replace(one, threads=v).on(capability).warps_per_sm)

    return (
        _curve("block_size", 1, most, launch, by_block_size),
        _curve("registers", 1, registers.max_per_thread, launch, by_registers),
        _curve("shared_memory", 0, top, launch, by_shared_memory),
    )


def _curve(
    quantity: Quantity, first: int, last: int, launch: Launch, steps: Callable[[Launch], Steps]
) -> Curve:
    driver = steps(replace(launch, rule="driver"))
    # without a preference and clusters the rules agree
    agree = launch.carveout is None and launch.cluster is None
    hardware = driver if agree else steps(replace(launch, rule="hardware"))
    return Curve(quantity=quantity, first=first, last=last, driver=driver, hardware=hardware)


def _steps(values: Iterable[int], warps: Callable[[int], int]) -> Steps:
    found: list[tuple[int, int]] = []
    for value in values:
        here = warps(value)
        if not found or found[-1][1] != here:
            found.append((value, here))
    return tuple(found)


def _within(capability: Capability, launch: Launch, name: str, steps: Steps) -> Steps:
    """Resident warps by the steps of one limit, the other limits being those of the launch."""
    limits = launch.on(capability).limits
    others = min(
        value
        for field in fields(limits)
        if field.name != name and (value := getattr(limits, field.name)) is not None
    )
    warps: int = ceil_div(launch.threads, capability.limits.warp_size)
    by_value = dict(steps)
    return _steps(by_value, lambda value: min(by_value[value], others) * warps)


@lru_cache(maxsize=64)
def _register_limits(registers: RegisterFile, warps: int) -> Steps:
    """Blocks that the register file allows, over registers per thread."""
    return _steps(
        range(1, registers.max_per_thread + 1),
        lambda regs: register_limit(registers, warps, regs, halves=1, ops=SCALAR),
    )


@lru_cache(maxsize=64)
def _shared_limits(shared: SharedMemory, percent: int, rule: Rule) -> Steps:
    """Blocks that shared memory allows, over bytes per block.

    Kept, since it does not depend on the rest of a launch and takes longer than everything else.
    """
    unit = shared.allocation_unit_bytes
    # only the first byte of an allocation unit can change anything
    first = unit - shared.reserved_per_block_bytes % unit + 1
    values = (0, *range(first, shared.max_per_block_optin_bytes + 1, unit))

    def limit(smem: int) -> int:
        found: int = shared_block_limit(shared, smem, percent, rule=rule, opt_in=True, ops=SCALAR)
        return found

    # by the driver's rule more memory is never more blocks
    return _falling(values, limit) if rule == "driver" else _steps(values, limit)


def _falling(values: Sequence[int], at: Callable[[int], int]) -> Steps:
    """As ``_steps`` of what never rises: each step is found by halving."""
    found = [(values[0], at(values[0]))]
    while found[-1][1] != at(values[-1]):
        level = -found[-1][1]
        place = bisect_right(values, level, key=lambda value: -at(value))
        found.append((values[place], at(values[place])))
    return tuple(found)
