"""How many warps hide a latency on a target, against those that a launch has there."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from perfkit.errors import DoesNotFit, UsageError
from perfkit.models.latency import Concurrency, concurrency, memory_per_warp, positive
from perfkit.models.roofs import levels
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfkit.analysis.launch import Launch
    from perfkit.arch.types import Capability, Target
    from perfkit.models.occupancy import Occupancy


class Level(StrEnum):
    """Where a warp waits: a memory, the issue of instructions, or one kind of arithmetic."""

    DRAM = "dram"
    L2 = "l2"
    L1 = "l1"
    SHARED = "shared"
    ISSUE = "issue"
    F64 = "f64"
    F32 = "f32"
    INT32 = "int32"
    SFU = "sfu"


#: memories whose rate is that of the whole GPU; the rest belongs to an SM and is told per clock
WHOLE_GPU: Final = (Level.DRAM, Level.L2, Level.L1)
MEMORIES: Final = (*WHOLE_GPU, Level.SHARED)

#: what one SM does per clock: bytes of shared memory (4 per bank), else warp instructions. The
#: sub-partitions of the register file are those of the SM: each has a scheduler.
_PER_CLOCK: Final[dict[Level, Callable[[Capability], float | None]]] = {
    Level.SHARED: lambda c: 4 * c.shared_memory.banks,
    Level.ISSUE: lambda c: c.registers.sub_partitions,
    Level.F64: lambda c: _warps(c, c.throughput.f64),
    Level.F32: lambda c: _warps(c, c.throughput.f32),
    Level.INT32: lambda c: _warps(c, c.throughput.int32_add),
    Level.SFU: lambda c: _warps(c, c.throughput.special_function),
}


def _warps(capability: Capability, results: int | None) -> float | None:
    return None if results is None else results / capability.limits.warp_size


@record
class LatencyQuestion:
    """What is waited for. At most one of the two latencies is given; neither: the database's."""

    level: Level
    latency_s: float | None = None
    latency_cycles: float | None = None
    width_bytes: int = 4  #: of an access of one thread; memories only
    ilp: int = 1  #: accesses or instructions of a thread that do not wait for one another
    bytes_per_s: float | None = None  #: of the whole GPU, in place of the database's
    clock_hz: float | None = None  #: of the SMs, in place of the database's


@record
class Hiding:
    """What hides the latency on one target."""

    target: Target
    question: LatencyQuestion
    latency_s: float | None  #: None: no clock is known to tell it
    latency_cycles: float | None  #: likewise
    latency_source: str | None  #: of a latency of the database; None: it was given
    bytes_per_s: float | None  #: rate of one SM; None: instructions, or no clock is known
    per_clock: float | None  #: rate of one SM in bytes or warp instructions
    concurrency: Concurrency
    max_warps: int
    occupancy: Occupancy | None  #: of the launch, if there is one

    @property
    def occupancy_needed(self) -> float:
        """Warps needed over the SM's warp slots; above 1 no occupancy is enough."""
        return self.concurrency.warps_needed / self.max_warps

    @property
    def ilp_needed(self) -> int:
        """What hides the latency with the warps that are there: the launch's, else all slots."""
        warps = self.concurrency.resident_warps or self.max_warps
        of_one = self.concurrency.per_warp / self.question.ilp
        return max(1, math.ceil(round(self.concurrency.needed / (warps * of_one), 9)))

    def warps_needed(self, *, width_bytes: int, ilp: int) -> int:
        """The same question with other accesses."""
        per_warp = memory_per_warp(width_bytes=width_bytes, ilp=ilp)
        found = concurrency(rate=self.concurrency.needed, latency=1, per_warp=per_warp)
        return found.warps_needed


def latency(target: Target, question: LatencyQuestion, launch: Launch | None = None) -> Hiding:
    """Little's law for one level of ``target``.

    Args:
        target: a product; a capability is enough where nothing but cycles is asked.
        question: the level, its latency and how it is accessed.
        launch: whose resident warps are compared, by the occupancy API.

    Raises:
        UsageError: no such rate or clock is known, or a number that cannot be.
        InvalidLaunch: a launch beyond the limits of the capability.
        DoesNotFit: not even one block of the launch is resident.
    """
    if question.latency_s is not None and question.latency_cycles is not None:
        raise UsageError("a latency is given in seconds or in cycles")
    source = None
    if question.latency_s is None and question.latency_cycles is None:
        known, source = known_cycles(target, question.level)
        question = replace(question, latency_cycles=known)
    clock = _clock(target, question)
    if question.level in WHOLE_GPU:
        rate, time = _bytes_per_s(target, question, clock), _seconds(target, question, clock)
        seconds: float | None = time
        cycles = time * clock if clock else question.latency_cycles
    else:
        rate, time = _per_clock(target, question), _cycles(target, question, clock)
        cycles = time
        seconds = time / clock if clock else question.latency_s
    in_seconds = question.level in WHOLE_GPU
    is_memory = question.level in MEMORIES
    occupancy = _occupancy(target, launch)
    return Hiding(
        target=target,
        question=question,
        latency_s=seconds,
        latency_cycles=cycles,
        latency_source=source,
        bytes_per_s=rate if in_seconds else rate * clock if clock and is_memory else None,
        per_clock=(rate / clock if clock else None) if in_seconds else rate,
        concurrency=concurrency(
            rate=rate,
            latency=time,
            per_warp=memory_per_warp(width_bytes=question.width_bytes, ilp=question.ilp)
            if is_memory
            else positive("ilp", question.ilp, most=10**6),
            resident_warps=occupancy.warps_per_sm if occupancy else None,
        ),
        max_warps=target.capability.limits.max_warps_per_sm,
        occupancy=occupancy,
    )


def _occupancy(target: Target, launch: Launch | None) -> Occupancy | None:
    """Of a launch that has warps: for others there is nothing to compare."""
    found = launch.on(target.capability) if launch else None
    if found is not None and found.blocks_per_sm == 0:
        why = f": {found.refusal}" if found.refusal else ""
        raise DoesNotFit(
            f"no block of {found.threads} threads is resident on {target.label}{why}",
            hint="'perfkit fits' says what would make it fit",
        )
    return found


def known_cycles(target: Target, level: Level) -> tuple[int, str | None]:
    """A latency of the database in clocks of the SM, and where it comes from.

    Raises:
        UsageError: nobody measured it, or it is none of a memory.
    """
    owner = target.gpu if level in {Level.DRAM, Level.L2} else target.capability
    found = getattr(owner.latency, f"{level}_cycles", None) if owner else None
    if owner is None or found is None:
        raise UsageError(
            f"{target.label}: how long is the latency of {level}? The database does not say",
            hint="write --latency-ns 600 or --latency-cycles 4; some products have measured ones: "
            "perfkit gpu show h200",
        )
    return found, owner.cite(f"latency.{level}_cycles")


def _clock(target: Target, question: LatencyQuestion) -> float | None:
    if question.clock_hz is not None:
        return positive("clock", question.clock_hz)
    return target.gpu.boost_clock_hz if target.gpu else None


def _bytes_per_s(target: Target, question: LatencyQuestion, clock: float | None) -> float:
    """The rate of one SM."""
    level, gpu = question.level, target.gpu
    if gpu is None:
        raise UsageError(
            f"{target.label} alone does not say how many SMs share the {level} bandwidth",
            hint="name a product: h100, rtx-4090",
        )
    whole = question.bytes_per_s
    if whole is None:
        found = levels(gpu, target.capability, clock)
        whole = next(one.bytes_per_s for one in found if one.name == level)
    if whole is None:
        raise UsageError(
            f"{target.label}: the {level} bandwidth is not known",
            hint="write --gb-per-s with what was measured, for the whole GPU",
        )
    return positive("bandwidth", whole) / gpu.sm_count


def _per_clock(target: Target, question: LatencyQuestion) -> float:
    if question.bytes_per_s is not None:
        raise UsageError(f"{question.level} has no bandwidth of the whole GPU to replace")
    found = _PER_CLOCK[question.level](target.capability)
    if found is None:
        raise UsageError(
            f"{target.label}: what an SM does per clock of {question.level} is not known",
            hint=f"perfkit arch show {target.capability.compute_capability} shows what is",
        )
    return found


def _seconds(target: Target, question: LatencyQuestion, clock: float | None) -> float:
    if question.latency_s is not None:
        return positive("latency", question.latency_s)
    if clock is None:
        raise _no_clock(target, "cycles")
    return positive("latency", question.latency_cycles or 0) / clock


def _cycles(target: Target, question: LatencyQuestion, clock: float | None) -> float:
    if question.latency_cycles is not None:
        return positive("latency", question.latency_cycles)
    if clock is None:
        raise _no_clock(target, "seconds")
    return positive("latency", question.latency_s or 0) * clock


def _no_clock(target: Target, unit: str) -> UsageError:
    return UsageError(
        f"{target.label} has no known clock to read a latency in {unit} by",
        hint="name a product, or write --clock-mhz",
    )
