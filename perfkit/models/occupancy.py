"""How many blocks of a kernel are resident on one SM, and what limits them.

Every resource allows some number of blocks, and the scarcest one decides. Occupancy is the share of
the SM's warp slots that the resident blocks fill.

Formula:
    warps            = ceil(threads / 32)
    by warps         = max_warps_per_sm // warps
    by blocks        = max_blocks_per_sm
    by registers     : models.registers
    by shared memory : models.carveout
    by barriers      = block_barriers_per_sm // barriers, from 9.0 on
    blocks_per_sm    = min of them
    occupancy        = blocks_per_sm * warps / max_warps_per_sm

Units: threads and barriers per block, registers per thread, bytes per block; occupancy is 0..1.

Source: ``cuda_occupancy.h`` 13.0 (``rule="driver"``, equal on every input; 10.3 has the barriers of
the 13.5 header); one H200 for ``rule="hardware"``. The example is that of the CUDA C++ Best
Practices Guide 13.0, 11.1.1 "Calculating Occupancy".

Valid: every capability of the database.

>>> import perfkit
>>> found = perfkit.occupancy("7.0", threads=320, regs=37)
>>> found.blocks_per_sm, found.ratio, found.limited_by
(4, 0.625, ('registers',))
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final, Literal, NamedTuple, get_args

from perfkit.arch.types import Capability, ComputeCapability, SmLimits
from perfkit.errors import InvalidLaunch
from perfkit.models import launch
from perfkit.models.carveout import (
    NO_PREFERENCE,
    allocated_bytes,
    shared_block_limit,
)
from perfkit.models.ops import NO_LIMIT, SCALAR, Int, Ops, ceil_div, round_up
from perfkit.models.registers import register_limit, registers_per_warp
from perfkit.record import record
from perfkit.units import format_ratio

Rule = Literal["driver", "hardware"]
PartitionedCaching = Literal["off", "on", "strict"]

_PARTITIONED: Final = get_args(PartitionedCaching)


class Refusal(NamedTuple):
    """Why not even one block can be resident: ``needed`` of ``resource`` exceeds ``allowed``."""

    resource: str
    needed: int
    allowed: int
    fact: str | None  #: path of the limit in the capability's file; None: the kernel's own

    def __str__(self) -> str:
        return f"{self.needed} {self.resource.replace('_', ' ')}, {self.allowed} allowed"


@record
class BlockLimits:
    """Blocks per SM that each resource allows on its own; ``None``: it does not limit."""

    warps: int
    blocks: int
    registers: int | None
    shared_memory: int | None
    barriers: int | None
    virtual_resources: int | None

    def binding(self) -> tuple[str, ...]:
        """Every limit that ties for the minimum."""
        present = {f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None}
        least = min(present.values())
        return tuple(name for name, value in present.items() if value == least)


@record
class Occupancy:
    """Resident blocks and warps of one launch on one SM, and why not more."""

    compute_capability: ComputeCapability
    rule: Rule
    threads: int
    regs: int
    smem_bytes: int
    carveout: int | None  #: percent; None: no preference
    barriers: int
    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limits: BlockLimits
    limited_by: tuple[str, ...]  #: the set ``cuda_occupancy.h`` reports; see ``binding``
    allocated_registers_per_block: int
    allocated_shared_bytes_per_block: int
    partitioned_caching: bool
    refusal: Refusal | None

    @property
    def ratio(self) -> float:
        """Resident warps over the SM's warp slots, 0..1."""
        return self.warps_per_sm / self.max_warps_per_sm

    @property
    def binding(self) -> tuple[str, ...]:
        """The limits that really bind.

        Differs from ``limited_by`` when barriers are the smallest limit: the header names its
        limiters before it looks at barriers and keeps the earlier names.
        """
        return self.limits.binding()

    def __str__(self) -> str:
        """One line: where, how much, and what limits it."""
        blocks = "1 block" if self.blocks_per_sm == 1 else f"{self.blocks_per_sm} blocks"
        names = " and ".join(name.replace("_", " ") for name in self.binding)
        return (
            f"{self.compute_capability}: {blocks} and {self.warps_per_sm} of "
            f"{self.max_warps_per_sm} warps per SM ({format_ratio(self.ratio)}), limited by {names}"
        )


def warp_limit(limits: SmLimits, threads: Int, *, halves: int, ops: Ops) -> Int:
    """Blocks that the warp slots allow; with ``halves=2`` a block must fit in half an SM."""
    warps = ops.maximum(ceil_div(threads, limits.warp_size), 1)
    blocks = limits.max_warps_per_sm // halves // warps * halves
    return ops.where((threads < 1) | (threads > limits.max_threads_per_block), 0, blocks)


def barrier_limit(limits: SmLimits, barriers: Int, *, ops: Ops) -> Int:
    """Blocks that the SM's named barriers allow; before 9.0 they never limit."""
    if limits.block_barriers_per_sm is None:
        return NO_LIMIT + 0 * barriers
    blocks = limits.block_barriers_per_sm // ops.maximum(barriers, 1)
    return ops.where(barriers == 0, NO_LIMIT, blocks)


def occupancy(
    capability: Capability,
    *,
    threads: int,
    regs: int,
    smem: int = 0,
    carveout: int | None = None,
    barriers: int = 1,
    rule: Rule = "driver",
    opt_in: bool = True,
    partitioned_caching: PartitionedCaching = "off",
    virtual_resources: int = 0,
    max_threads: int | None = None,
) -> Occupancy:
    """Occupancy of one launch configuration.

    Args:
        capability: the SM, from ``perfkit.capability``.
        threads: threads per block, 1..1024.
        regs: registers per thread as compiled; 0 means that registers do not limit.
        smem: static plus dynamic shared memory per block in bytes, as declared.
        carveout: preferred share of shared memory in percent, 0..100; None: no preference.
        barriers: named barriers per block, 0..16; compilers report 1 for ``__syncthreads``.
        rule: ``driver`` equals ``cuda_occupancy.h``, ``hardware`` is what the SM does.
        opt_in: the kernel raised its dynamic shared memory limit to the opt-in maximum.
        partitioned_caching: on 5.2, 5.3, 6.1 and 6.2, global caching that confines a block to half
            an SM: ``on`` gives way where a block would not fit, ``strict`` does not.
        virtual_resources: per block; 10.x and later have 128 per SM.
        max_threads: the kernel's own limit on threads per block (``__launch_bounds__``), if any: a
            larger launch fails, although the occupancy API does not look at it.

    Raises:
        InvalidLaunch: an input that no configuration of this capability can have.

    >>> import perfkit
    >>> a = perfkit.occupancy("8.0", threads=224, regs=92)
    >>> a.blocks_per_sm, a.limited_by, a.ratio
    (2, ('registers',), 0.21875)
    """
    launch.check(capability, threads, regs, smem, carveout, barriers, virtual_resources)
    percent = NO_PREFERENCE if carveout is None else carveout
    shared = capability.shared_memory
    warps = ceil_div(threads, capability.limits.warp_size)
    halves = _halves(capability, warps, regs, partitioned_caching)
    by_warps = warp_limit(capability.limits, threads, halves=halves, ops=SCALAR)
    by_registers = register_limit(capability.registers, warps, regs, halves=halves, ops=SCALAR)
    by_shared = shared_block_limit(shared, smem, percent, rule=rule, opt_in=opt_in, ops=SCALAR)
    found = BlockLimits(
        warps=0 if _launch_bound(capability, threads, max_threads) else by_warps,
        blocks=capability.limits.max_blocks_per_sm,
        registers=_bounded(by_registers),
        shared_memory=_bounded(by_shared),
        barriers=_bounded(barrier_limit(capability.limits, barriers, ops=SCALAR)),
        virtual_resources=_virtual_limit(capability.limits, virtual_resources),
    )
    binding = found.binding()
    blocks: int = getattr(found, binding[0])
    return Occupancy(
        compute_capability=capability.compute_capability,
        rule=rule,
        threads=threads,
        regs=regs,
        smem_bytes=smem,
        carveout=carveout,
        barriers=barriers,
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps,
        max_warps_per_sm=capability.limits.max_warps_per_sm,
        limits=found,
        limited_by=_header_limiters(found) if rule == "driver" else binding,
        allocated_registers_per_block=registers_per_warp(capability.registers, regs) * warps,
        allocated_shared_bytes_per_block=allocated_bytes(shared, smem),
        partitioned_caching=halves == 2,
        refusal=None
        if blocks
        else _launch_bound(capability, threads, max_threads)
        or _exhausted(capability.limits, barriers, virtual_resources)
        or _refusal(capability, (warps, regs, smem), halves=halves, opt_in=opt_in),
    )


def _bounded(limit: int) -> int | None:
    return None if limit == NO_LIMIT else limit


def _virtual_limit(limits: SmLimits, used: int) -> int | None:
    if limits.virtual_resources_per_sm is None or used == 0:
        return None
    return limits.virtual_resources_per_sm // used


def _halves(capability: Capability, warps: int, regs: int, mode: PartitionedCaching) -> int:
    """2 if partitioned caching stays on. ``on`` gives way only to registers, as in the header."""
    if mode not in _PARTITIONED:
        raise InvalidLaunch(f"partitioned_caching = {mode!r}: one of {', '.join(_PARTITIONED)}")
    if mode == "off" or not capability.limits.partitioned_global_caching:
        return 1
    registers = capability.registers
    whole = register_limit(registers, warps, regs, halves=1, ops=SCALAR)
    half = register_limit(registers, warps, regs, halves=2, ops=SCALAR)
    return 1 if mode == "on" and half == 0 and whole > 0 else 2


def _header_limiters(found: BlockLimits) -> tuple[str, ...]:
    """The header picks limiters without barriers, then adds barriers if they set the minimum."""
    present = [f.name for f in fields(found) if getattr(found, f.name) is not None]
    early = [name for name in present if name != "barriers"]
    before = min(getattr(found, name) for name in early)
    limiters = {name for name in early if getattr(found, name) == before}
    if found.barriers is not None and found.barriers <= before:
        limiters.add("barriers")
    return tuple(name for name in present if name in limiters)


def _launch_bound(capability: Capability, threads: int, max_threads: int | None) -> Refusal | None:
    if max_threads is None:
        return None
    launch.within(capability, "max_threads", max_threads, 1, None, "")
    if threads <= max_threads:
        return None
    return Refusal("threads_per_block", threads, max_threads, None)


def _exhausted(limits: SmLimits, barriers: int, virtual_resources: int) -> Refusal | None:
    """One block wants more of what an SM has in common than there is."""
    wanted = {"block_barriers": barriers, "virtual_resources": virtual_resources}
    for name, needed in wanted.items():
        fact = f"{name}_per_sm"
        per_sm = getattr(limits, fact)
        if per_sm is not None and needed > per_sm:
            resource = name.removeprefix("block_")
            return Refusal(f"{resource}_per_block", needed, per_sm, f"limits.{fact}")
    return None


def _refusal(
    capability: Capability, inputs: tuple[int, int, int], *, halves: int, opt_in: bool
) -> Refusal:
    """Shared memory or registers; ``inputs`` are warps, registers per thread and bytes."""
    registers, shared = capability.registers, capability.shared_memory
    warps, regs, smem = inputs
    allowed = shared.max_per_block_optin_bytes if opt_in else shared.max_per_block_bytes
    if smem > allowed:
        key = "max_per_block_optin_kib" if opt_in else "max_per_block_kib"
        return Refusal("shared_bytes_per_block", smem, allowed, f"shared_memory.{key}")
    parts = max(registers.sub_partitions, registers.compatibility_sub_partitions or 0)
    per_warp = registers_per_warp(registers, regs)
    assumed = per_warp * round_up(warps, parts)
    if assumed > registers.max_per_block:
        fact = "registers.max_per_block"
        return Refusal("registers_per_block", assumed, registers.max_per_block, fact)
    # the check passes, yet the partitions cannot hold the warps
    allowed = registers.per_sm // parts // per_warp * (parts // halves)
    return Refusal("warps_by_registers", warps, allowed, "registers.per_sm")
