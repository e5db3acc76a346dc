"""The cliffs of ``analysis.steps``, and what one more block takes, as tables and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from perfkit.analysis.next_block import Need, NextBlock
from perfkit.analysis.occupancy import Estimate
from perfkit.analysis.steps import Step
from perfkit.report.document import Column, Table
from perfkit.units import format_bytes, format_ratio

Field = tuple[Column, Callable[[Estimate], Any]]

_QUANTITIES: Final = (
    ("registers", "registers"),
    ("shared_memory", "shared memory"),
    ("block_size", "block size"),
)
_COSTS: Final = "Room before occupancy drops{rule} - next step up (change): occupancy there"
_GAINS: Final = "What would raise occupancy{rule} - what it takes: occupancy there"
_EVIDENCE: Final[Field] = (
    Column("evidence", "evidence"),
    lambda e: e.hardware.evidence if e.hardware else None,
)


def step_tables(who: tuple[Field, ...], found: Sequence[Estimate]) -> Iterator[Table]:
    """Cost and gain by the occupancy API, then of the hardware where it has others.

    Args:
        who: the columns that tell rows apart.
        found: the rows.
    """
    differing = [e for e in found if e.hardware_differs]
    rule = " (by the occupancy API)" if differing else ""
    yield _table(_COSTS.format(rule=rule), (*who, *_costs(_driver_steps)), found)
    yield _table(_GAINS.format(rule=rule), (*who, *_gains(_driver_steps, _driver_next)), found)
    rule = " (on the hardware)"
    if differing:
        costs = (*who, *_costs(_hardware_steps), _EVIDENCE)
        yield _table(_COSTS.format(rule=rule), costs, differing)
        gains = (*who, *_gains(_hardware_steps, _hardware_next), _EVIDENCE)
        yield _table(_GAINS.format(rule=rule), gains, differing)


Steps = Callable[[Estimate], tuple[Step, ...]]
Next = Callable[[Estimate], NextBlock | None]


def _driver_steps(e: Estimate) -> tuple[Step, ...]:
    return e.steps


def _driver_next(e: Estimate) -> NextBlock | None:
    return e.next_block


def _hardware_steps(e: Estimate) -> tuple[Step, ...]:
    return e.hardware.steps if e.hardware else ()


def _hardware_next(e: Estimate) -> NextBlock | None:
    return e.hardware.next_block if e.hardware else None


def _costs(steps: Steps) -> tuple[Field, ...]:
    return tuple(
        (
            Column(f"{quantity}_cost", name),
            partial(_step_text, steps=steps, quantity=quantity, kind="cost"),
        )
        for quantity, name in _QUANTITIES
    )


def _gains(steps: Steps, more: Next) -> tuple[Field, ...]:
    """What one more block takes says it of registers and shared memory, together."""
    return (
        (Column("next_block", "one more block"), lambda e: _next_text(more(e))),
        (
            Column("block_size_gain", "block size"),
            partial(_step_text, steps=steps, quantity="block_size", kind="gain"),
        ),
    )


def _table(title: str, fields: tuple[Field, ...], found: Sequence[Estimate]) -> Table:
    rows = tuple(tuple(get(e) for _, get in fields) for e in found)
    said = {field[0].key for field in fields} & _SAYING
    places = [i for i, (column, _) in enumerate(fields) if column.key in said]
    if not any(row[i] is not None for row in rows for i in places):
        return Table(columns=(), rows=())
    return Table(title=title, columns=tuple(column for column, _ in fields), rows=rows)


_SAYING: Final = frozenset(
    {*(f"{quantity}_cost" for quantity, _ in _QUANTITIES), "next_block", "block_size_gain"}
)


def _step_text(e: Estimate, *, steps: Steps, quantity: str, kind: str) -> str | None:
    """The value, how far away it is, and the occupancy there."""
    step = next((s for s in steps(e) if (s.quantity, s.kind) == (quantity, kind)), None)
    if step is None:
        return None
    value, change = str(step.value), f"{step.change:+d}"
    if quantity == "shared_memory":
        value, change = format_bytes(step.value), f"{step.change:+d} B"
    outcome = format_ratio(step.ratio) if step.blocks_per_sm else "the limit, no launch"
    return f"{value} ({change}): {outcome}"


#: resource -> what is said of the amount with which there is room, and of none
_NEEDS: Final = {
    "registers": ("registers", "even one register per thread is too much"),
    "shared_memory": ("shared memory", "even no shared memory is too much"),
    "barriers": ("barriers", "even one barrier is too much"),
    "launch_bounds": ("block", ""),
    "warps": ("", "too few warp slots left for blocks of {now} threads"),
    "blocks": ("", "all {now} block slots are taken"),
}


def _next_text(more: NextBlock | None) -> str | None:
    if more is None:
        return None
    count = f"{more.blocks_per_sm} blocks" if more.blocks_per_sm != 1 else "1 block"
    if not more.is_possible:
        why = (_NEEDS[n.resource][1].format(now=n.now) for n in more.needs if n.at_most is None)
        return f"{count}: impossible, {' and '.join(why)}"
    return f"{count}, {' and '.join(map(_need_text, more.needs))}: {format_ratio(more.ratio)}"


def _need_text(need: Need) -> str:
    text = format_bytes if need.resource == "shared_memory" else str
    return f"{_NEEDS[need.resource][0]} <= {text(need.at_most or 0)} (now {text(need.now)})"


def step_content(step: Step) -> dict[str, Any]:
    return {
        "quantity": step.quantity,
        "kind": step.kind,
        "value": step.value,
        "change": step.change,
        "blocks_per_sm": step.blocks_per_sm,
        "warps_per_sm": step.warps_per_sm,
        "occupancy": step.ratio,
    }


def next_block_content(more: NextBlock | None) -> dict[str, Any] | None:
    if more is None:
        return None
    return {
        "blocks_per_sm": more.blocks_per_sm,
        "warps_per_sm": more.warps_per_sm,
        "occupancy": more.ratio,
        "possible": more.is_possible,
        "needs": [
            {"resource": need.resource, "now": need.now, "at_most": need.at_most}
            for need in more.needs
        ],
    }
