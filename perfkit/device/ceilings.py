"""``perfkit ceilings``: every group of figures in a child of its own; one may fail alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.measured_ceilings import (
    INTERRUPTED,
    Ceiling,
    CeilingsReport,
    Unmeasured,
    compared,
)
from perfkit.analysis.validation import HOST_LINK
from perfkit.device.cards import Cards, number
from perfkit.device.child import Failure, Limits, run_child
from perfkit.device.environment import environment
from perfkit.device.experiments.groups import GROUPS
from perfkit.device.nvml import Monitor
from perfkit.device.properties import target_of
from perfkit.errors import EXIT_INTERRUPTED, UnknownTarget, UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.properties import Device

#: copies from and to the host, and launches by the host's clock; all else stays on the card
_SHARES: Final = {"transfer": HOST_LINK, "launch": HOST_LINK}


@record
class _Task:
    """What is measured on each card."""

    groups: tuple[str, ...]
    quick: bool
    limits: Limits
    on_ceiling: Callable[[int | None, Ceiling], None]


def groups_of(names: Sequence[str]) -> tuple[str, ...]:
    """The groups of these names, or all.

    Raises:
        UsageError: an unknown group.
    """
    for name in names:
        if name not in GROUPS:
            raise UsageError(f"there is no group {name!r}", hint=f"one of: {', '.join(GROUPS)}")
    return tuple(names or GROUPS)


def measure_ceilings(
    devices: Sequence[Device],
    *,
    groups: Sequence[str] = (),
    quick: bool = False,
    limits: Limits | None = None,
    on_ceiling: Callable[[int | None, Ceiling], None] = lambda *_: None,
) -> tuple[CeilingsReport, ...]:
    """Measure cards, all at the same time.

    What they share they take in turns. Ctrl-C ends what runs and keeps what is done.

    Args:
        devices: the cards.
        groups: some of ``GROUPS``; empty: all.
        quick: fewer launch shapes.
        limits: of each group's child.
        on_ceiling: called with each figure as it comes, and the card's number where there are
            several.

    Raises:
        UsageError: an unknown group.
    """
    task = _Task(
        groups=groups_of(groups),
        quick=quick,
        limits=limits or Limits(seconds=180),
        on_ceiling=on_ceiling,
    )
    cards = Cards()
    return cards.side_by_side(
        [partial(_card, device, number(device, devices), cards, task) for device in devices]
    )


def _card(device: Device, index: int | None, cards: Cards, task: _Task) -> CeilingsReport:
    """Every group on one card."""
    monitor = Monitor(device.uuid)
    about = environment(device, monitor, index=index)
    found: dict[str, list[Ceiling]] = {}
    unmeasured: dict[str, Unmeasured] = {}

    def take(result: dict[str, Any]) -> None:
        ceiling = Ceiling(**{**result, "throttles": tuple(result["throttles"])})
        found[group].append(ceiling)
        task.on_ceiling(index, ceiling)

    for group in cards.in_turn(task.groups, _SHARES.get):
        found[group] = []
        outcome = run_child(
            "ceilings",
            {"group": group, "quick": task.quick},
            uuid=device.uuid,
            limits=task.limits,
            monitor=monitor,
            on_result=take,
            stop=cards.stopped,
        )
        if outcome.failure is not None:
            unmeasured[group] = _unmeasured(group, outcome.failure)
            if outcome.failure.exit_code == EXIT_INTERRUPTED:
                break
    left = [group for group in task.groups if group not in found]
    if left and INTERRUPTED not in {one.message for one in unmeasured.values()}:
        unmeasured[left[0]] = Unmeasured(group=left[0], message=INTERRUPTED)
    try:
        target = target_of(device)
    except UnknownTarget:
        target = None
    return CeilingsReport(
        environment=about,
        ceilings=compared([one for group in task.groups for one in found.get(group, ())], target),
        unmeasured=tuple(unmeasured[group] for group in task.groups if group in unmeasured),
    )


def _unmeasured(group: str, failure: Failure) -> Unmeasured:
    return Unmeasured(group=group, message=failure.told, hint=failure.hint)
