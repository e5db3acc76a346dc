"""``perfkit ceilings``: every group of figures in a child of its own; one may fail alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from perfkit.analysis.measured_ceilings import Ceiling, CeilingsReport, Unmeasured, compared
from perfkit.device.child import Failure, Limits, run_child
from perfkit.device.environment import environment
from perfkit.device.experiments.groups import GROUPS
from perfkit.device.nvml import Monitor
from perfkit.device.properties import read_device, target_of
from perfkit.errors import EXIT_INTERRUPTED, UnknownTarget, UsageError


def measure_ceilings(
    index: int = 0,
    *,
    groups: Sequence[str] = (),
    quick: bool = False,
    limits: Limits | None = None,
    on_ceiling: Callable[[Ceiling], None] = lambda _: None,
) -> CeilingsReport:
    """Measure the card.

    Args:
        index: which card, as CUDA counts them.
        groups: some of ``GROUPS``; empty: all.
        quick: fewer launch shapes.
        limits: of each group's child.
        on_ceiling: called with each figure as it comes.

    Raises:
        UsageError: an unknown group.
        Unavailable: no CUDA package, driver or device.
    """
    for name in groups:
        if name not in GROUPS:
            raise UsageError(f"there is no group {name!r}", hint=f"one of: {', '.join(GROUPS)}")
    device = read_device(index)
    monitor = Monitor(device.uuid)
    about = environment(device, monitor)
    try:
        target = target_of(device)
    except UnknownTarget:
        target = None
    found: list[Ceiling] = []
    unmeasured = []

    def take(result: dict[str, Any]) -> None:
        ceiling = Ceiling(**{**result, "throttles": tuple(result["throttles"])})
        found.append(ceiling)
        on_ceiling(ceiling)

    for group in groups or GROUPS:
        outcome = run_child(
            "ceilings",
            {"group": group, "quick": quick},
            uuid=device.uuid,
            limits=limits or Limits(seconds=180),
            monitor=monitor,
            on_result=take,
        )
        if outcome.failure is not None:
            unmeasured.append(_unmeasured(group, outcome.failure))
            if outcome.failure.exit_code == EXIT_INTERRUPTED:
                break
    return CeilingsReport(
        environment=about, ceilings=compared(found, target), unmeasured=tuple(unmeasured)
    )


def _unmeasured(group: str, failure: Failure) -> Unmeasured:
    last = failure.log.splitlines()[-1:] if failure.end == "crashed" else []
    return Unmeasured(group=group, message=": ".join([failure.message, *last]), hint=failure.hint)
