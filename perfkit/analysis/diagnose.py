"""Symptom, cause, what to check: rules over what was measured of a launch.

Each rule looks at a few figures, and says nothing where one of them is not known: ``unchecked``
lists those rules, so that silence is not taken for health. The findings come in the order in which
they are worth looking at: what the launch is limited by, whether it fills the GPU, occupancy,
scheduling, then how it uses memory and its lanes.

Thresholds are those of the rules that ship with Nsight Compute 2025 (the name of each stands beside
it); access efficiency has none there, four of five bytes is what an access that is off by one
element reaches (CUDA C++ Best Practices Guide, Coalesced Access).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from perfkit.analysis import symptoms_launch as launch
from perfkit.analysis import symptoms_memory as memory
from perfkit.analysis.metrics import Metrics, names
from perfkit.analysis.symptoms_launch import Fires
from perfkit.errors import UsageError
from perfkit.record import record


class Symptom(StrEnum):
    MEMORY_BOUND = "memory_bound"
    COMPUTE_BOUND = "compute_bound"
    BALANCED = "balanced"
    LATENCY_BOUND = "latency_bound"
    SMALL_GRID = "small_grid"
    FEW_BLOCKS = "few_blocks"
    TAIL = "tail"
    LOW_OCCUPANCY = "low_occupancy"
    OCCUPANCY_GAP = "occupancy_gap"
    TOO_FEW_WARPS = "too_few_warps"
    STALLED = "stalled"
    UNEVEN = "uneven"
    STALL_REASON = "stall_reason"
    UNCOALESCED_LOADS = "uncoalesced_loads"
    UNCOALESCED_STORES = "uncoalesced_stores"
    BANK_CONFLICTS_LOADS = "bank_conflicts_loads"
    BANK_CONFLICTS_STORES = "bank_conflicts_stores"
    DIVERGENCE = "divergence"
    PARTIAL_WARP = "partial_warp"
    LOCAL_MEMORY = "local_memory"
    SPILLS = "spills"


@record
class Rule:
    """One rule; ``test`` gets metrics of which every field in ``needs`` is known."""

    symptom: Symptom
    needs: tuple[str, ...]
    threshold: float
    source: str
    test: Callable[[Metrics, float], Fires | None]


@record
class Finding:
    """A rule that fired."""

    symptom: Symptom
    value: float
    threshold: float
    detail: str | None  #: the limit, the unit or the reason that it is about
    source: str


@record
class Diagnosis:
    """What the rules say of one launch."""

    metrics: Metrics
    findings: tuple[Finding, ...]
    checked: tuple[Symptom, ...]
    unchecked: tuple[tuple[Symptom, tuple[str, ...]], ...]  #: rules, and the figures they lack


def diagnose(metrics: Metrics) -> Diagnosis:
    """Every rule over ``metrics``, most important first.

    Raises:
        UsageError: a figure that nothing can have been measured as.

    >>> found = diagnose(Metrics(compute_share=0.2, memory_share=0.9))
    >>> [finding.symptom.value for finding in found.findings]
    ['memory_bound']
    """
    _check(metrics)
    findings, checked, unchecked = [], [], []
    for rule in RULES:
        missing = tuple(name for name in rule.needs if getattr(metrics, name) in {None, ()})
        if missing:
            unchecked.append((rule.symptom, missing))
            continue
        checked.append(rule.symptom)
        fired = rule.test(metrics, rule.threshold)
        if fired is not None:
            findings.append(
                Finding(
                    symptom=rule.symptom,
                    value=fired.value,
                    threshold=rule.threshold,
                    detail=fired.detail,
                    source=rule.source,
                )
            )
    return Diagnosis(
        metrics=metrics,
        findings=tuple(findings),
        checked=tuple(checked),
        unchecked=tuple(unchecked),
    )


def _check(metrics: Metrics) -> None:
    whose = f"{metrics.kernel}: " if metrics.kernel else ""
    for name in names():
        value = getattr(metrics, name)
        if value is not None and not 0 <= value < math.inf:  # false for NaN, too
            shown = name.replace("_", " ")
            raise UsageError(f"{whose}{shown} = {value:g}: must be finite and not negative")


_SOL: Final = "Nsight Compute, rule SOLBottleneck"
_ISSUE: Final = "Nsight Compute, rule IssueSlotUtilization"
_LAUNCH: Final = "Nsight Compute, rule LaunchConfiguration"
_BOTH: Final = ("compute_share", "memory_share")
_SLOTS: Final = ("issued_per_cycle", "active_warps")


def _rule(
    symptom: Symptom,
    needs: tuple[str, ...],
    threshold: float,
    source: str,
    test: Callable[[Metrics, float], Fires | None],
) -> Rule:
    return Rule(symptom=symptom, needs=needs, threshold=threshold, source=source, test=test)


def _access(symptom: Symptom, field: str) -> Rule:
    source = "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory"
    return _rule(symptom, (field,), 0.8, source, memory.below(field))


def _banks(symptom: Symptom, kind: str) -> Rule:
    needs = (f"shared_{kind}_conflicts", f"shared_{kind}_wavefronts")
    source = "Nsight Compute, rule SharedMemoryConflicts"
    return _rule(symptom, needs, 0.1, source, memory.conflicts(kind))


RULES: Final[tuple[Rule, ...]] = (
    _rule(Symptom.MEMORY_BOUND, _BOTH, launch.NEAR_PEAK, _SOL, launch.memory_bound),
    _rule(Symptom.COMPUTE_BOUND, _BOTH, launch.NEAR_PEAK, _SOL, launch.compute_bound),
    _rule(Symptom.BALANCED, _BOTH, 0.1, _SOL, launch.balanced),
    _rule(Symptom.LATENCY_BOUND, _BOTH, launch.BUSY, _SOL, launch.latency_bound),
    _rule(Symptom.SMALL_GRID, (*_BOTH, "waves"), launch.BUSY, _SOL, launch.small_grid),
    _rule(Symptom.FEW_BLOCKS, ("grid_blocks", "sm_count"), 1.0, _LAUNCH, launch.few_blocks),
    _rule(Symptom.TAIL, ("waves",), 0.2, _LAUNCH, launch.tail),
    _rule(
        Symptom.LOW_OCCUPANCY,
        ("theoretical_occupancy",),
        0.8,
        "Nsight Compute, rule TheoreticalOccupancy",
        launch.low_occupancy,
    ),
    _rule(
        Symptom.OCCUPANCY_GAP,
        ("theoretical_occupancy", "achieved_occupancy"),
        0.1,
        "Nsight Compute, rule AchievedOccupancy",
        launch.occupancy_gap,
    ),
    _rule(Symptom.TOO_FEW_WARPS, _SLOTS, launch.BUSY, _ISSUE, launch.too_few_warps),
    _rule(Symptom.STALLED, (*_SLOTS, "theoretical_warps"), launch.BUSY, _ISSUE, launch.stalled),
    _rule(Symptom.UNEVEN, (*_SLOTS, "theoretical_warps"), launch.BUSY, _ISSUE, launch.uneven),
    _rule(
        Symptom.STALL_REASON,
        ("issued_per_cycle", "cycles_per_instruction", "stalls"),
        0.3,
        "Nsight Compute, rule CPIStall",
        launch.stall_reason,
    ),
    _access(Symptom.UNCOALESCED_LOADS, "load_efficiency"),
    _access(Symptom.UNCOALESCED_STORES, "store_efficiency"),
    _banks(Symptom.BANK_CONFLICTS_LOADS, "load"),
    _banks(Symptom.BANK_CONFLICTS_STORES, "store"),
    _rule(
        Symptom.DIVERGENCE,
        ("active_threads",),
        24,
        "Nsight Compute, rule ThreadDivergence",
        memory.divergence,
    ),
    _rule(Symptom.PARTIAL_WARP, ("block_threads",), 32, _LAUNCH, memory.partial_warp),
    _rule(
        Symptom.LOCAL_MEMORY,
        ("local_instructions", "instructions"),
        0.1,
        "Nsight Compute, rule LocalMemoryUsage",
        memory.local_memory,
    ),
    _rule(
        Symptom.SPILLS,
        ("spill_bytes",),
        0,
        "CUDA C++ Best Practices Guide, Local Memory",
        memory.spills,
    ),
)


def worth_a_look(found: Diagnosis) -> Iterator[Finding]:
    """The findings without those that a larger one explains.

    A launch that is near a peak needs no occupancy, and one that does not fill the GPU has no use
    for advice on its warps.
    """
    there = {finding.symptom for finding in found.findings}
    hidden: set[Symptom] = set()
    if there & {Symptom.MEMORY_BOUND, Symptom.COMPUTE_BOUND}:
        hidden |= {Symptom.LOW_OCCUPANCY, Symptom.OCCUPANCY_GAP, Symptom.STALLED, Symptom.UNEVEN}
    if there & {Symptom.SMALL_GRID, Symptom.FEW_BLOCKS}:
        hidden |= {Symptom.LOW_OCCUPANCY, Symptom.OCCUPANCY_GAP, Symptom.TOO_FEW_WARPS}
    yield from (finding for finding in found.findings if finding.symptom not in hidden)
