"""Values of an occupancy answer that people read as more than a number."""

from __future__ import annotations

from perfkit.analysis.occupancy import Estimate
from perfkit.models.carveout import NO_PREFERENCE, driver_capacity_bytes
from perfkit.report.document import Cell
from perfkit.units import format_bytes


def carveout_text(e: Estimate) -> int | Cell | None:
    percent, asked = e.driver.carveout, e.carveout_asked_bytes
    if percent is None or asked is None:
        return percent
    return Cell(percent, f"{format_bytes(asked)} ({percent}%)")


def registers_limit(e: Estimate) -> str | None:
    limit, taken = e.driver.limits.registers, e.driver.allocated_registers_per_block
    if limit is None:
        return None
    return f"{limit} ({taken} of {e.target.capability.registers.per_sm})"


def shared_limit(e: Estimate) -> str | None:
    limit, taken = e.driver.limits.shared_memory, e.driver.allocated_shared_bytes_per_block
    if limit is None:
        return None
    percent = NO_PREFERENCE if e.driver.carveout is None else e.driver.carveout
    capacity = driver_capacity_bytes(
        e.target.capability.shared_memory, e.driver.smem_bytes, percent
    )
    return f"{limit} ({format_bytes(taken)} of {format_bytes(capacity)})"


def cluster_text(e: Estimate) -> str | None:
    if e.cluster is None:
        return None
    return f"{'' if e.cluster.exact else 'at most '}{e.cluster.active_clusters}"


def waves_text(e: Estimate) -> str | None:
    if e.waves is None:
        return None
    # at most so many clusters at once are at least so many waves
    at_least = e.cluster is not None and not e.cluster.exact
    return f"{'at least ' if at_least else ''}{e.waves.waves:.2f}"
