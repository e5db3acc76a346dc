"""What each carveout preference leads to on a target, alone or for one launch."""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.carveout_choice import CarveoutChoice, choose
from perfkit.analysis.launch import Launch
from perfkit.analysis.shared_capacity import configured_shared_bytes
from perfkit.arch.types import Target
from perfkit.models.carveout import NO_PREFERENCE, carveout_bytes, l1_bytes
from perfkit.models.occupancy import Refusal
from perfkit.record import record


@record
class Setting:
    """One capacity, the preferences that ask for it, and a launch under it."""

    target: Target
    first_percent: int | None  #: None: no preference
    last_percent: int | None
    capacity_bytes: int  #: by ``cuda_occupancy.h``
    l1_bytes: int
    configured_bytes: int | None  #: what the driver configures for the launch; None: no launch
    configured_l1_bytes: int | None
    driver_blocks_per_sm: int | None
    hardware_blocks_per_sm: int | None
    evidence: str | None  #: of the hardware's figures: measured | assumed; None: dedicated


@record
class Outcome:
    """One launch on one target: why there is none, or which preference to set for it."""

    target: Target
    refusal: Refusal | None
    blocks_per_sm: int  #: with the preference to set, and without any
    choice: CarveoutChoice | None  #: None: nothing launches


def outcome(target: Target, *, threads: int, regs: int, smem: int) -> Outcome:
    """The preference with which as many blocks are resident as without, and L1 is largest."""
    launch = Launch(threads=threads, regs=regs, smem=smem)
    found = launch.on(target.capability)
    return Outcome(
        target=target,
        refusal=found.refusal,
        blocks_per_sm=found.blocks_per_sm,
        choice=choose(target.capability, launch) if found.refusal is None else None,
    )


def table(target: Target, *, threads: int | None, regs: int, smem: int) -> tuple[Setting, ...]:
    """One row per capacity that a preference can lead to, after one for "no preference".

    Args:
        target: product or capability.
        threads: threads per block of a launch; None: only the capacities.
        regs: registers per thread; 0: they do not limit.
        smem: static plus dynamic bytes per block.

    Raises:
        InvalidLaunch: a launch beyond the limits of the capability.
    """
    shared = target.capability.shared_memory
    spans: list[tuple[int | None, int | None]] = [(None, None)]
    if shared.configurable:
        by_capacity: dict[int, list[int]] = {}
        for percent in range(101):
            by_capacity.setdefault(carveout_bytes(shared, percent), []).append(percent)
        spans += [(percents[0], percents[-1]) for percents in by_capacity.values()]
    return tuple(_setting(target, first, last, threads, regs, smem) for first, last in spans)


def _setting(
    target: Target, first: int | None, last: int | None, threads: int | None, regs: int, smem: int
) -> Setting:
    capability = target.capability
    percent = NO_PREFERENCE if first is None else first
    capacity: int = carveout_bytes(capability.shared_memory, percent)
    configured = driver = hardware = None
    if threads is not None:
        launch = Launch(threads=threads, regs=regs, smem=smem, carveout=first)
        driver = launch.on(capability).blocks_per_sm
        hardware = replace(launch, rule="hardware").on(capability).blocks_per_sm
        if driver:  # where nothing is resident nothing is configured
            configured = configured_shared_bytes(capability, threads, regs, smem, percent)
    return Setting(
        target=target,
        first_percent=first,
        last_percent=last,
        capacity_bytes=capacity,
        l1_bytes=l1_bytes(capability.l1, capacity),
        configured_bytes=configured,
        configured_l1_bytes=None if configured is None else l1_bytes(capability.l1, configured),
        driver_blocks_per_sm=driver,
        hardware_blocks_per_sm=hardware,
        evidence=None if driver == 0 else capability.shared_memory.carveout_evidence,
    )
