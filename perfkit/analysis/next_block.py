"""What one more block per SM takes: everything that binds, together.

Less of one resource gains nothing where another binds as well, which is where people give up. Here
each binding resource is asked how much of it leaves room for one more block; a resource of which
no amount does (warp slots at this block size) makes it impossible.
"""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.launch import Launch
from perfkit.analysis.steps import shared_below, shared_limit
from perfkit.arch.types import Capability
from perfkit.models.occupancy import Occupancy
from perfkit.models.ops import SCALAR, ceil_div
from perfkit.models.registers import register_limit
from perfkit.record import record


@record
class Need:
    """One resource that stands in the way."""

    resource: str  #: registers | shared_memory | barriers | warps | blocks | launch_bounds
    now: int  #: what the launch has of it, per thread or per block; of ``blocks``: slots in use
    at_most: int | None  #: with which there is room; None: no amount at this block size


@record
class NextBlock:
    """The next number of resident blocks, and what it takes."""

    blocks_per_sm: int
    warps_per_sm: int
    ratio: float
    needs: tuple[Need, ...]  #: all of them at once

    @property
    def is_possible(self) -> bool:
        return all(need.at_most is not None for need in self.needs)


def next_block(capability: Capability, launch: Launch) -> NextBlock | None:
    """What ``launch`` needs for another block, by its rule; None: the SM is full of warps."""
    present = launch.on(capability)
    if present.warps_per_sm == present.max_warps_per_sm:
        return None
    wanted = present.blocks_per_sm + 1
    needs = tuple(_need(capability, launch, present, name, wanted) for name in present.binding)
    amounts = {need.resource: need.at_most for need in needs if need.at_most is not None}
    there = replace(
        launch,
        threads=amounts.get("launch_bounds", launch.threads),
        regs=amounts.get("registers", launch.regs),
        smem=amounts.get("shared_memory", launch.smem),
        barriers=amounts.get("barriers", launch.barriers),
    )
    if all(need.at_most is not None for need in needs):
        wanted = there.on(capability).blocks_per_sm
    warps = wanted * ceil_div(there.threads, capability.limits.warp_size)
    return NextBlock(
        blocks_per_sm=wanted,
        warps_per_sm=warps,
        ratio=warps / present.max_warps_per_sm,
        needs=needs,
    )


def _need(
    capability: Capability, launch: Launch, present: Occupancy, name: str, wanted: int
) -> Need:
    if name == "registers":
        return Need(resource=name, now=launch.regs, at_most=_registers(capability, launch, wanted))
    if name == "shared_memory":
        return Need(resource=name, now=launch.smem, at_most=_shared(capability, launch, wanted))
    if name == "barriers":
        per_sm = capability.limits.block_barriers_per_sm or 0
        return Need(resource=name, now=launch.barriers, at_most=per_sm // wanted or None)
    if name == "warps" and present.blocks_per_sm == 0 and launch.max_threads is not None:
        return Need(resource="launch_bounds", now=launch.threads, at_most=launch.max_threads)
    now = launch.threads if name == "warps" else present.blocks_per_sm
    return Need(resource=name, now=now, at_most=None)


def _registers(capability: Capability, launch: Launch, wanted: int) -> int | None:
    warps = ceil_div(launch.threads, capability.limits.warp_size)
    return next(
        (
            regs
            for regs in range(launch.regs - 1, 0, -1)
            if register_limit(capability.registers, warps, regs, halves=1, ops=SCALAR) >= wanted
        ),
        None,
    )


def _shared(capability: Capability, launch: Launch, wanted: int) -> int | None:
    return next(
        (
            smem
            for smem in shared_below(capability, launch, wanted)
            if shared_limit(capability, launch, smem) >= wanted
        ),
        None,
    )
