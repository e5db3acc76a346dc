"""Where the cliffs are: what a little more of a resource costs, what a little less would gain.

For registers and shared memory the nearest values at which the number of resident blocks changes;
for the block size, which changes blocks and warps at once, the nearest sizes at which the
occupancy changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from perfkit.arch.types import Capability
from perfkit.models.inverse import largest_smem
from perfkit.models.occupancy import Occupancy, Rule, occupancy
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


@record
class Launch:
    """The inputs of ``models.occupancy`` that steps vary, and those they keep."""

    threads: int
    regs: int
    smem: int
    carveout: int | None = None
    barriers: int = 1
    rule: Rule = "driver"
    max_threads: int | None = None

    def on(self, capability: Capability) -> Occupancy:
        return occupancy(
            capability,
            threads=self.threads,
            regs=self.regs,
            smem=self.smem,
            carveout=self.carveout,
            barriers=self.barriers,
            rule=self.rule,
            max_threads=self.max_threads,
        )


def steps(capability: Capability, launch: Launch) -> tuple[Step, ...]:
    """The next step up and the nearest step down of registers, shared memory and block size.

    A step that does not exist (nothing to gain because another resource binds, nothing to lose
    below the hardware's limit) is left out. The launch's rule is ignored: steps are those of
    ``driver``, as the hardware may hold more blocks of a larger size under a carveout preference.
    """
    launch = replace(launch, rule="driver")
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
    values = range(launch.regs + 1, most + 1) if up else range(launch.regs - 1, 0, -1)
    if launch.regs == 0:
        return None
    return _first(
        "registers",
        values if up or _may_gain(present, "registers") else (),
        lambda value: replace(launch, regs=value).on(capability),
        present,
        launch.regs,
        lambda other: (
            other.blocks_per_sm < present.blocks_per_sm
            if up
            else other.blocks_per_sm > present.blocks_per_sm
        ),
    )


def _shared(capability: Capability, launch: Launch, present: Occupancy, *, up: bool) -> Step | None:
    """Shared memory limits only through ``largest_smem``, so only its edges can be steps."""
    blocks = present.blocks_per_sm
    if up:
        edge = largest_smem(
            capability, blocks=max(blocks, 1), carveout=launch.carveout, rule=launch.rule
        )
        values = [edge + 1] if blocks and edge is not None and edge >= launch.smem else []
    else:
        edge = largest_smem(
            capability, blocks=blocks + 1, carveout=launch.carveout, rule=launch.rule
        )
        gains = _may_gain(present, "shared_memory")
        values = [edge] if gains and edge is not None and edge < launch.smem else []
    return _first(
        "shared_memory",
        values,
        lambda value: replace(launch, smem=value).on(capability),
        present,
        launch.smem,
        lambda other: other.blocks_per_sm != blocks,
    )


def _block_size(
    capability: Capability, launch: Launch, present: Occupancy, *, better: bool
) -> Step | None:
    """Nearest larger block size with less occupancy, or nearest of either side with more."""
    warp = capability.limits.warp_size
    most = min(capability.limits.max_threads_per_block, launch.max_threads or 1 << 30)
    larger = list(range((launch.threads // warp + 1) * warp, most + 1, warp))
    smaller = list(range((launch.threads - 1) // warp * warp, 0, -warp))
    values = sorted(smaller + larger, key=lambda v: abs(v - launch.threads)) if better else larger
    return _first(
        "block_size",
        values,
        lambda value: replace(launch, threads=value).on(capability),
        present,
        launch.threads,
        lambda other: (
            other.warps_per_sm > present.warps_per_sm
            if better
            else other.warps_per_sm < present.warps_per_sm
        ),
    )


def _may_gain(present: Occupancy, resource: str) -> bool:
    """Less of one resource helps only where it alone binds."""
    return present.binding == (resource,)


def _first(
    quantity: Quantity,
    values: Iterable[int],
    at: Callable[[int], Occupancy],
    present: Occupancy,
    now: int,
    differs: Callable[[Occupancy], bool],
) -> Step | None:
    for value in values:
        other = at(value)
        if differs(other):
            return Step(
                quantity=quantity,
                kind="gain" if other.warps_per_sm > present.warps_per_sm else "cost",
                value=value,
                change=value - now,
                blocks_per_sm=other.blocks_per_sm,
                warps_per_sm=other.warps_per_sm,
                ratio=other.ratio,
            )
    return None
