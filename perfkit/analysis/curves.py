"""Occupancy over one input at a time, the others as they are: the curves around a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

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
    limits, shared = capability.limits, capability.shared_memory
    most = min(limits.max_threads_per_block, launch.max_threads or limits.max_threads_per_block)
    warp, unit = limits.warp_size, shared.allocation_unit_bytes
    top = shared.max_per_block_optin_bytes
    # only the first thread of a warp and the first byte of an allocation unit change anything
    first = unit - shared.reserved_per_block_bytes % unit + 1
    return (
        _curve(
            capability,
            "block_size",
            range(1, most + 1, warp),
            lambda v: replace(launch, threads=v),
            last=most,
        ),
        _curve(
            capability,
            "registers",
            range(1, capability.registers.max_per_thread + 1),
            lambda v: replace(launch, regs=v),
        ),
        _curve(
            capability,
            "shared_memory",
            [0, *range(first, top + 1, unit)],
            lambda v: replace(launch, smem=v),
            last=top,
        ),
    )


def _curve(
    capability: Capability,
    quantity: Quantity,
    values: Iterable[int],
    at: Callable[[int], Launch],
    *,
    last: int | None = None,
) -> Curve:
    places = list(values)
    driver = _steps(capability, places, lambda v: replace(at(v), rule="driver"))
    one = at(places[0])
    return Curve(
        quantity=quantity,
        first=places[0],
        last=places[-1] if last is None else last,
        driver=driver,
        # without a preference and clusters the rules agree
        hardware=driver
        if one.carveout is None and one.cluster is None
        else _steps(capability, places, lambda v: replace(at(v), rule="hardware")),
    )


def _steps(capability: Capability, places: Iterable[int], at: Callable[[int], Launch]) -> Steps:
    found: list[tuple[int, int]] = []
    for value in places:
        warps = at(value).on(capability).warps_per_sm
        if not found or found[-1][1] != warps:
            found.append((value, warps))
    return tuple(found)
