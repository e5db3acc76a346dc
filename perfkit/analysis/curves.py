"""Occupancy over one input at a time, the others as they are: the curves around a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING

from perfkit.analysis.steps import shared_limit
from perfkit.models.inverse import largest_smem
from perfkit.models.ops import SCALAR, ceil_div
from perfkit.models.registers import register_limit
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.steps import Launch, Quantity
    from perfkit.arch.types import Capability

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
    >>> from perfkit.analysis.steps import Launch
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
        values = range(1, registers.max_per_thread + 1)
        limit = partial(register_limit, registers, warps, halves=1, ops=SCALAR)
        return _steps(values, _varied(capability, one, "registers", limit))

    def by_shared_memory(one: Launch) -> Steps:
        limit = partial(shared_limit, capability, one)
        values = _shared_places(capability, one)
        return _steps(values, _varied(capability, one, "shared_memory", limit))

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


def _varied(
    capability: Capability, launch: Launch, name: str, limit: Callable[[int], int]
) -> Callable[[int], int]:
    """Resident warps by one limit that changes, the others being those of the launch.

    A tenth of what the whole rule would take for each of the thousands of values.
    """
    limits = launch.on(capability).limits
    others = min(
        value
        for field in fields(limits)
        if field.name != name and (value := getattr(limits, field.name)) is not None
    )
    warps: int = ceil_div(launch.threads, capability.limits.warp_size)
    return lambda value: min(limit(value), others) * warps


def _shared_places(capability: Capability, launch: Launch) -> Iterable[int]:
    """Where anything can change: the first byte of an allocation unit.

    By the driver's rule more memory is never more blocks, and the edges are known.
    """
    shared = capability.shared_memory
    top, unit = shared.max_per_block_optin_bytes, shared.allocation_unit_bytes
    if launch.rule == "driver":
        edges = (
            largest_smem(capability, blocks=blocks, carveout=launch.carveout, rule="driver")
            for blocks in range(capability.limits.max_blocks_per_sm, 0, -1)
        )
        return [0, *(edge + 1 for edge in edges if edge is not None and edge < top)]
    first = unit - shared.reserved_per_block_bytes % unit + 1
    return [0, *range(first, top + 1, unit)]
