"""Where the cliffs are: what a little more of a resource costs, what a little less would gain.

For registers and shared memory the nearest values at which the number of resident blocks changes;
for the block size, which changes blocks and warps at once, the nearest sizes at which the
occupancy changes: whole warps, and the largest block that the launch bounds allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Literal

from perfkit.analysis.launch import Launch
from perfkit.arch.types import Capability
from perfkit.models.carveout import NO_PREFERENCE, allocated_bytes, shared_block_limit
from perfkit.models.inverse import largest_smem
from perfkit.models.occupancy import Occupancy
from perfkit.models.ops import SCALAR, ceil_div
from perfkit.models.registers import register_limit
from perfkit.record import record

Quantity = Literal["registers", "shared_memory", "block_size"]


@record
class Step:
    """One cliff: at ``value`` of ``quantity`` the launch has this occupancy instead."""

    quantity: Quantity
    kind: Literal["cost", "gain"]
    value: int
    change: int  #: value minus the present one
    blocks_per_sm: int
    warps_per_sm: int
    ratio: float


def steps(capability: Capability, launch: Launch) -> tuple[Step, ...]:
    """The next step up and the nearest step down of registers, shared memory and block size.

    By the launch's rule. A step that does not exist (nothing to gain because another resource
    binds, nothing to lose below the hardware's limit) is left out.
    """
    present = launch.on(capability)
    found = (
        _registers(capability, launch, present, up=True),
        _registers(capability, launch, present, up=False),
        _shared(capability, launch, present, up=True),
        _shared(capability, launch, present, up=False),
        _block_size(capability, launch, present, better=False),
        _block_size(capability, launch, present, better=True),
    )
    return tuple(step for step in found if step is not None)


def _registers(
    capability: Capability, launch: Launch, present: Occupancy, *, up: bool
) -> Step | None:
    most = capability.registers.max_per_thread
    # registers of 0 means "unknown": there is no step from there
    if launch.regs == 0 or not (up or _may_gain(present, "registers")):
        return None
    values = range(launch.regs + 1, most + 1) if up else range(launch.regs - 1, 0, -1)
    warps = ceil_div(launch.threads, capability.limits.warp_size)
    return _first(
        "registers",
        _crossing(
            values,
            lambda regs: register_limit(capability.registers, warps, regs, halves=1, ops=SCALAR),
            present,
            up=up,
        ),
        lambda value: replace(launch, regs=value).on(capability),
        present,
        launch.regs,
    )


def _shared(capability: Capability, launch: Launch, present: Occupancy, *, up: bool) -> Step | None:
    blocks = present.blocks_per_sm
    if up:
        values = shared_above(capability, launch, blocks) if blocks else ()
    elif _may_gain(present, "shared_memory"):
        values = shared_below(capability, launch, blocks + 1)
    else:
        values = ()
    return _first(
        "shared_memory",
        _crossing(values, lambda smem: shared_limit(capability, launch, smem), present, up=up),
        lambda value: replace(launch, smem=value).on(capability),
        present,
        launch.smem,
    )


def _crossing(
    values: Iterable[int], limit: Callable[[int], int], present: Occupancy, *, up: bool
) -> Iterable[int]:
    """The values with fewer blocks (``up``) or with more, told by the one limit that changes.

    The others allow the present blocks, and more where one resource alone binds; the whole rule
    for each of some thousand values would be ten times as slow.
    """
    blocks = present.blocks_per_sm
    return (v for v in values if (limit(v) < blocks if up else limit(v) > blocks))


def shared_limit(capability: Capability, launch: Launch, smem: int) -> int:
    """Blocks per SM that ``smem`` bytes allow in place of the launch's own, by its rule."""
    percent = NO_PREFERENCE if launch.carveout is None else launch.carveout
    found: int = shared_block_limit(
        capability.shared_memory, smem, percent, rule=launch.rule, opt_in=True, ops=SCALAR
    )
    return found


def shared_above(capability: Capability, launch: Launch, blocks: int) -> Iterable[int]:
    """Amounts above the present one, ascending, of which the first with fewer blocks is a step.

    Memory is allocated in units, so that only the first byte of each can be one. By the driver's
    rule more memory is never more blocks, and the edge is known; by the hardware's it can be.
    """
    shared = capability.shared_memory
    top, unit = shared.max_per_block_optin_bytes, shared.allocation_unit_bytes
    if launch.rule == "driver":
        edge = largest_smem(capability, blocks=blocks, carveout=launch.carveout, rule=launch.rule)
        return [edge + 1] if edge is not None and edge >= launch.smem else []
    first = allocated_bytes(shared, launch.smem) - shared.reserved_per_block_bytes + 1
    return chain(range(first, top + 1, unit), [top + 1])


def shared_below(capability: Capability, launch: Launch, blocks: int) -> Iterable[int]:
    """Amounts below the present one, descending, of which the first with ``blocks`` is a step."""
    shared = capability.shared_memory
    top, unit = shared.max_per_block_optin_bytes, shared.allocation_unit_bytes
    if launch.rule == "driver":
        edge = largest_smem(capability, blocks=blocks, carveout=launch.carveout, rule=launch.rule)
        return [edge] if edge is not None and edge < launch.smem else []
    allocated = allocated_bytes(shared, min(launch.smem, top + 1))
    return range(allocated - unit - shared.reserved_per_block_bytes, -1, -unit)


def _block_size(
    capability: Capability, launch: Launch, present: Occupancy, *, better: bool
) -> Step | None:
    """Nearest larger block size with less occupancy, or nearest of either side with more."""
    if launch.fixed_threads:
        return None
    warp = capability.limits.warp_size
    most = min(capability.limits.max_threads_per_block, launch.max_threads or 1 << 30)
    larger = list(range((launch.threads // warp + 1) * warp, most + 1, warp))
    if most % warp and most > launch.threads:
        larger.append(most)  # the last, incomplete warp that the launch bounds leave room for
    smaller = list(range((min(launch.threads, most + 1) - 1) // warp * warp, 0, -warp))
    if most % warp and most < launch.threads:
        smaller.insert(0, most)
    values = sorted(smaller + larger, key=lambda v: abs(v - launch.threads)) if better else larger
    for value in values:
        other = replace(launch, threads=value).on(capability)
        change = other.warps_per_sm - present.warps_per_sm
        if change > 0 if better else change < 0:
            return _step("block_size", value, launch.threads, present, other)
    return None


def _may_gain(present: Occupancy, resource: str) -> bool:
    """Less of one resource helps only where it alone binds."""
    return present.binding == (resource,)


def _first(
    quantity: Quantity,
    values: Iterable[int],
    at: Callable[[int], Occupancy],
    present: Occupancy,
    now: int,
) -> Step | None:
    value = next(iter(values), None)
    return None if value is None else _step(quantity, value, now, present, at(value))


def _step(quantity: Quantity, value: int, now: int, present: Occupancy, other: Occupancy) -> Step:
    return Step(
        quantity=quantity,
        kind="gain" if other.warps_per_sm > present.warps_per_sm else "cost",
        value=value,
        change=value - now,
        blocks_per_sm=other.blocks_per_sm,
        warps_per_sm=other.warps_per_sm,
        ratio=other.ratio,
    )
