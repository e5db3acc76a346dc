"""Tests of symptoms: how a launch uses memory and the lanes of its warps.

Each gets metrics of which the figures that it needs are known, and the threshold of its rule.
"""

from __future__ import annotations

from collections.abc import Callable

from perfkit.analysis.metrics import Metrics
from perfkit.analysis.symptoms_launch import Fires, known


def below(field: str) -> Callable[[Metrics, float], Fires | None]:
    def test(m: Metrics, least: float) -> Fires | None:
        value = known(getattr(m, field))
        return Fires(value) if value < least else None

    return test


def conflicts(kind: str) -> Callable[[Metrics, float], Fires | None]:
    def test(m: Metrics, least: float) -> Fires | None:
        wavefronts = known(getattr(m, f"shared_{kind}_wavefronts"))
        share = known(getattr(m, f"shared_{kind}_conflicts")) / wavefronts if wavefronts else 0.0
        return Fires(share) if share >= least else None

    return test


def divergence(m: Metrics, least: float) -> Fires | None:
    threads = known(m.active_threads)
    on = m.predicated_on_threads
    fewest = threads if on is None else min(threads, on)
    return Fires(fewest) if fewest < least else None


def partial_warp(m: Metrics, warp: float) -> Fires | None:
    rest = known(m.block_threads) % warp
    return Fires(rest) if rest else None


def local_memory(m: Metrics, least: float) -> Fires | None:
    total = known(m.instructions)
    share = known(m.local_instructions) / total if total else 0.0
    return Fires(share) if share > least else None


def spills(m: Metrics, most: float) -> Fires | None:
    spilled = known(m.spill_bytes)
    return Fires(spilled) if spilled > most else None
