"""Tests of symptoms: what limits a launch, whether it fills the GPU, and how it is scheduled.

Each gets metrics of which the figures that it needs are known, and the threshold of its rule.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from perfkit.analysis.metrics import Metrics

NEAR_PEAK: Final = 0.8
BUSY: Final = 0.6
ISSUES_ENOUGH: Final = 0.8
MOST_ARE_THERE: Final = 0.8
#: states of a warp that are no wait
_NO_WAIT: Final = frozenset({"selected", "not_selected"})


class Fires(NamedTuple):
    """What a rule saw: the figure, and words to go with it."""

    value: float
    detail: str | None = None


def known(value: float | None) -> float:
    """A figure that ``needs`` promised."""
    if value is None:
        raise AssertionError("a rule asked for a figure that it did not list")
    return value


# --- what limits ----------------------------------------------------------------------------------


def _shares(m: Metrics) -> tuple[float, float]:
    return known(m.compute_share), known(m.memory_share)


def memory_bound(m: Metrics, least: float) -> Fires | None:
    compute, memory = _shares(m)
    if memory < least or memory < compute:
        return None
    is_dram = m.dram_share is not None and m.dram_share >= least
    return Fires(memory, "dram" if is_dram else None)


def compute_bound(m: Metrics, least: float) -> Fires | None:
    compute, memory = _shares(m)
    return Fires(compute) if compute >= least and compute > memory else None


def balanced(m: Metrics, most: float) -> Fires | None:
    compute, memory = _shares(m)
    if min(compute, memory) < BUSY or max(compute, memory) >= NEAR_PEAK:
        return None
    apart = round(abs(compute - memory), 9)
    return Fires(apart) if apart < most else None


def latency_bound(m: Metrics, most: float) -> Fires | None:
    compute, memory = _shares(m)
    if max(compute, memory) >= most or (m.waves is not None and m.waves < 1):
        return None
    return Fires(max(compute, memory))


def small_grid(m: Metrics, most: float) -> Fires | None:
    compute, memory = _shares(m)
    waves = known(m.waves)
    return Fires(waves) if max(compute, memory) < most and waves < 1 else None


# --- launch ---------------------------------------------------------------------------------------


def few_blocks(m: Metrics, most: float) -> Fires | None:
    share = known(m.grid_blocks) / max(known(m.sm_count), 1)
    return Fires(share) if share < most else None


def tail(m: Metrics, least: float) -> Fires | None:
    waves = known(m.waves)
    whole = int(waves)
    share = 1 / (whole + 1)
    return Fires(share) if waves > whole >= 1 and share >= least else None


_LIMITS: Final = {
    "blocks": "limit_blocks",
    "registers": "limit_registers",
    "shared_memory": "limit_shared_memory",
    "warps": "limit_warps",
    "barriers": "limit_barriers",
}


def limiters(m: Metrics) -> tuple[str, ...]:
    """The limits that bind: all that tie for the least, barriers too, which the tool leaves out."""
    present = {name: getattr(m, field) for name, field in _LIMITS.items()}
    there = {name: value for name, value in present.items() if value is not None}
    least = min(there.values(), default=None)
    return tuple(name for name, value in there.items() if value == least)


def low_occupancy(m: Metrics, least: float) -> Fires | None:
    ratio = known(m.theoretical_occupancy)
    return Fires(ratio, ", ".join(limiters(m)) or None) if ratio < least else None


def occupancy_gap(m: Metrics, least: float) -> Fires | None:
    gap = known(m.theoretical_occupancy) - known(m.achieved_occupancy)
    return Fires(gap) if gap > least else None


# --- scheduling -----------------------------------------------------------------------------------


def too_few_warps(m: Metrics, most: float) -> Fires | None:
    warps = known(m.active_warps)
    return Fires(warps) if known(m.issued_per_cycle) < most and warps < 1 else None


def _ratio_of_warps(m: Metrics) -> float:
    return known(m.active_warps) / max(known(m.theoretical_warps), 1e-9)


def stalled(m: Metrics, most: float) -> Fires | None:
    issued = known(m.issued_per_cycle)
    idle = issued < most and known(m.active_warps) >= 1
    return Fires(issued) if idle and _ratio_of_warps(m) < MOST_ARE_THERE else None


def uneven(m: Metrics, most: float) -> Fires | None:
    issued = known(m.issued_per_cycle)
    idle = issued < most and known(m.active_warps) >= 1
    return Fires(issued) if idle and _ratio_of_warps(m) >= MOST_ARE_THERE else None


def stall_reason(m: Metrics, least: float) -> Fires | None:
    if known(m.issued_per_cycle) >= ISSUES_ENOUGH:
        return None
    waits = [stall for stall in m.stalls if stall.reason not in _NO_WAIT]
    worst = max(waits, key=lambda s: s.cycles, default=None)
    total = known(m.cycles_per_instruction)
    if worst is None or total <= 0 or worst.cycles / total <= least:
        return None
    return Fires(worst.cycles / total, worst.reason)
