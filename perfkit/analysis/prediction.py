"""What a launch has to do, and the time that follows from it on a card.

The bound is what nothing can beat: every byte and operation at the best rate there is. The time
expected, of ``analysis.expected``, can be beaten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from perfkit.analysis.expected import expected_s
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.roofline import COMPUTE, Bound, Load, bound
from perfkit.models.roofs import (
    Ceilings,
    Level,
    Roof,
    choose,
    compute_load,
    levels,
    measured_levels,
    measured_roofs,
    memory_load,
    roofs,
)
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.arch.types import Capability, Gpu


@record
class Flow:
    """Arithmetic of one kind. ``issued`` counts the lanes that idle in a warp as well."""

    flops: float
    dtype: DType = DType.F32
    unit: str | None = "simt"  #: simt | tensor; None: the faster one
    accumulate: DType | None = None
    issued: float | None = None  #: None: as many
    instruction: str | None = None  #: mma.sync | wgmma, for what a ceilings file knows of each


class Model(Protocol):
    """What takes a kernel's own structure into account."""

    def expected_s(self, machine: Machine, blocks_per_sm: int | None) -> float | None:
        """Seconds, with so many resident blocks if that is known; None: cannot be told."""


@record
class Demand:
    """What a launch has to do at least.

    Bytes through DRAM: each input read once and each output written once, whole sectors where only
    parts of them are used. L2: sectors of each access. L1 and shared memory: 128 for every pass of
    a warp through the pipe. None: as many as through the level below.
    """

    read_bytes: float = 0
    write_bytes: float = 0
    l2_bytes: float | None = None
    l1_bytes: float | None = None
    flow: Flow | None = None
    #: of L2 as ``models.l2`` counts them, for the time expected; None: no more than the bytes say
    l2_turns: float | None = None
    useful_bytes: float | None = None  #: without what comes along in sectors; None: all are useful
    #: read in the pieces in which DRAM gives them, for the time expected; None: as many as read
    fetched_bytes: float | None = None
    #: instructions of warps, as the compiler may be expected to make them; None: not counted
    instructions: float | None = None
    blocks: int | None = None  #: that share the work out evenly; None: SMs do as much each
    model: Model | None = None  #: of this very kernel, for the time expected

    @property
    def bytes(self) -> float:
        return self.read_bytes + self.write_bytes


@record
class Chain:
    """Loads that wait for one another."""

    hops: int
    level: str  #: where the data lie: dram | l2 | l1


@record
class Machine:
    """The card that is asked about: a product, or what its driver tells of one not known."""

    gpu: Gpu
    capability: Capability
    ceilings: Ceilings | None = None
    l2_bytes: int | None = None
    missing: tuple[str, ...] = ()  #: what is not known of it


@record
class Prediction:
    """The least time of a launch, and the time expected."""

    bound: Bound | None  #: None: nothing to go by
    bound_s: float | None
    expected_s: float | None  #: None: no model
    bound_by: tuple[str, ...]  #: dram | l2 | l1 | simt | tensor | overlap
    basis: str  #: measured | data sheet
    missing: tuple[str, ...]  #: what could not be taken into account


def predict(
    machine: Machine,
    demand: Demand,
    *,
    chain: Chain | None = None,
    cold: bool = False,
    footprint_bytes: float | None = None,
    blocks_per_sm: int | None = None,
) -> Prediction:
    """The bound and the time expected of one launch.

    Args:
        machine: the card.
        demand: what there is to do.
        chain: loads that wait for one another, in place of the demand.
        cold: L2 holds nothing before the launch; what it wrote may stay there.
        footprint_bytes: all data; where they fit in L2 and the launch is not cold, DRAM is left
            out.
        blocks_per_sm: resident blocks, if they are known.
    """
    if chain is not None:
        return _chained(machine, chain)
    memory = list(_memory(machine, demand, cold=cold, footprint_bytes=footprint_bytes))
    compute, missing = _compute(machine, demand)
    loads = [*compute, *memory]
    missing = (*machine.missing, *missing, *_unknown(loads))
    if all(load.time_s is None for load in loads):
        return Prediction(
            bound=None, bound_s=None, expected_s=None, bound_by=(), basis="", missing=missing
        )
    least = bound(loads)
    decides = [load for load in loads if load.name in least.limited_by]
    return Prediction(
        bound=least,
        bound_s=least.time_s,
        expected_s=expected_s(machine, demand, loads, blocks_per_sm),
        bound_by=least.limited_by,
        basis="measured" if all(load.basis == "measured" for load in decides) else "data sheet",
        missing=missing,
    )


def _chained(machine: Machine, chain: Chain) -> Prediction:
    """One load after the other: nothing hides the latency, of which measured ones are known."""
    latency, basis = _latency_s(machine, chain.level)
    lacks = f"{chain.level}: nobody measured its latency; a ceilings file can"
    return Prediction(
        bound=None,
        bound_s=None,
        expected_s=None if latency is None else chain.hops * latency,
        bound_by=("latency",),
        basis=basis,
        missing=(lacks,) if latency is None else (),
    )


def _latency_s(machine: Machine, level: str) -> tuple[float | None, str]:
    """Of the ceilings file, else of the database, which counts clocks."""
    if machine.ceilings and level in machine.ceilings.latencies_s:
        return machine.ceilings.latencies_s[level], "measured"
    known = machine.capability.latency if level == "l1" else machine.gpu.latency
    cycles = getattr(known, f"{level}_cycles", None)
    clock = machine.gpu.boost_clock_hz
    return (cycles / clock, "database") if cycles and clock else (None, "")


def _memory(
    machine: Machine, demand: Demand, *, cold: bool, footprint_bytes: float | None
) -> Iterator[Load]:
    by_name = {level.name: level for level in _levels(machine)}
    l2 = demand.bytes if demand.l2_bytes is None else demand.l2_bytes
    l1 = l2 if demand.l1_bytes is None else demand.l1_bytes
    for name, amount in (
        ("dram", through_dram(machine, demand, cold=cold, footprint_bytes=footprint_bytes)),
        ("l2", l2),
        ("l1", l1),
    ):
        if amount > 0:
            yield memory_load(by_name[name], amount)


def through_dram(
    machine: Machine, demand: Demand, *, cold: bool, footprint_bytes: float | None
) -> float:
    """Bytes that have to pass DRAM within the launch."""
    held = machine.l2_bytes or 0
    if cold:
        return demand.read_bytes + max(0.0, demand.write_bytes - held)
    return 0.0 if footprint_bytes is not None and footprint_bytes <= held else demand.bytes


def _levels(machine: Machine) -> tuple[Level, ...]:
    return measured_levels(levels(machine.gpu, machine.capability), machine.ceilings)


def _roofs(machine: Machine) -> tuple[Roof, ...]:
    return measured_roofs(roofs(machine.gpu, machine.capability), machine.ceilings)


def _compute(machine: Machine, demand: Demand) -> tuple[list[Load], tuple[str, ...]]:
    flow = demand.flow
    if flow is None or not flow.flops:
        return [], ()
    try:
        roof = choose(
            _roofs(machine),
            flow.dtype,
            label=machine.gpu.name,
            accumulate=flow.accumulate,
            unit=flow.unit,
        )
    except UsageError as error:
        return [], (error.message,)
    return [compute_load(roof, flow.issued or flow.flops)], ()


def _unknown(loads: list[Load]) -> tuple[str, ...]:
    """Levels without a rate, unless as much passes a faster one below them."""
    dram = next((load.amount for load in loads if load.name == "dram"), 0.0)
    return tuple(
        f"{load.name}: {load.roof}"
        for load in loads
        if load.rate_per_s is None and load.amount > dram
    )


def share_of(found: Bound, kind: str, time_s: float) -> float | None:
    """How much of the time the busiest unit (``compute``) or level (``memory``) needs at least."""
    times = [load.time_s for load in found.loads if load.kind == kind and load.time_s is not None]
    if not times:
        return 0.0 if kind == COMPUTE else None
    return max(times) / time_s
