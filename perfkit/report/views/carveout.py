"""``analysis.carveout`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from perfkit.analysis.carveout import Outcome, Setting
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.occupancy_notes import refusal_text
from perfkit.units import format_bytes


def document(found: Sequence[Setting], outcomes: Sequence[Outcome] = ()) -> Document:
    """A table per target; CSV has them in one, with the keys of JSON.

    Args:
        found: the rows.
        outcomes: of the launch on each target, if there is one.
    """
    tables = [
        _table([s for s in found if s.target.label == label])
        for label in dict.fromkeys(s.target.label for s in found)
    ]
    flat = Table(
        columns=tuple(Column(key, key) for key in _KEYS),
        rows=tuple(tuple(row.values()) for row in content(found)["results"]),
    )
    said = dict.fromkeys([*_notes(found), *_defaults(found), *map(_advice, outcomes)])
    return Document(tables=tuple(tables), notes=tuple(note for note in said if note), flat=flat)


def _preference(s: Setting) -> str:
    if s.first_percent is None:
        return "default"
    if s.first_percent == s.last_percent:
        return f"{s.first_percent}%"
    return f"{s.first_percent}-{s.last_percent}%"


_COLUMNS: Final[tuple[tuple[Column, Callable[[Setting], Any]], ...]] = (
    (Column("preference", "preference"), _preference),
    (Column("capacity_bytes", "shared memory", "bytes"), lambda s: s.capacity_bytes),
    (Column("l1_bytes", "L1", "bytes"), lambda s: s.l1_bytes),
    (
        Column("driver_blocks_per_sm", "blocks/SM by the API", "count"),
        lambda s: s.driver_blocks_per_sm,
    ),
    (
        Column("hardware_blocks_per_sm", "blocks/SM on the hardware", "count"),
        lambda s: s.hardware_blocks_per_sm,
    ),
    (
        Column("configured_bytes", "configured for the launch", "bytes"),
        lambda s: s.configured_bytes,
    ),
    (Column("configured_l1_bytes", "L1 left", "bytes"), lambda s: s.configured_l1_bytes),
    (
        Column("evidence", "evidence"),
        lambda s: s.evidence if s.driver_blocks_per_sm is not None else None,
    ),
)


def _table(found: Sequence[Setting]) -> Table:
    return Table(
        title=found[0].target.label,
        columns=tuple(column for column, _ in _COLUMNS),
        rows=tuple(tuple(get(s) for _, get in _COLUMNS) for s in found),
    ).without_empty_columns()


def _notes(found: Sequence[Setting]) -> list[str]:
    notes = [
        f"{s.target.label}: shared memory is dedicated, a preference has no effect"
        for s in found
        if not s.target.capability.shared_memory.configurable
    ]
    if any(
        s.driver_blocks_per_sm
        and s.first_percent is not None
        and s.target.capability.shared_memory.reserved_per_block_bytes
        for s in found
    ):
        notes.append(
            "on the hardware a preference is for the kernel's own shared memory and the reserve of "
            "every block comes on top, so the last columns may differ inside a range of "
            "percentages; they are those of its first"
        )
    return notes


def _defaults(found: Sequence[Setting]) -> list[str]:
    """What is computed and what is done without a preference."""
    rows = [
        s
        for s in found
        if s.first_percent is None and s.target.capability.shared_memory.configurable
    ]
    texts = []
    for s in rows:
        computed = f"{s.target.label}: without a preference the occupancy API computes with all of"
        done = "what the driver configures depends on the launch (--threads, --regs, --smem)"
        if s.configured_bytes is not None:
            done = f"the driver configures {format_bytes(s.configured_bytes)} for this launch"
        if s.driver_blocks_per_sm != 0:
            texts.append(f"{computed} {format_bytes(s.capacity_bytes)}, {done}")
    return texts


def _advice(outcome: Outcome) -> str | None:
    """Which preference to set, or why nothing launches; None: there is nothing to set."""
    label, choice = outcome.target.label, outcome.choice
    if outcome.refusal is not None:
        capability = outcome.target.capability.label
        return f"does not launch on {label}: {refusal_text(outcome.refusal, capability)}"
    if choice is None or choice.evidence == "dedicated":
        return None
    blocks = "1 block" if outcome.blocks_per_sm == 1 else f"{outcome.blocks_per_sm} blocks"
    default = format_bytes(choice.default_l1_bytes)
    if choice.percent is None:
        return (
            f"{label}: leave the default: {blocks} per SM, and no preference leaves L1 more than "
            f"{default}"
        )
    span = f"{choice.percent}%"
    if choice.last_percent != choice.percent:
        span += f" (up to {choice.last_percent}% is the same)"
    known = "" if choice.evidence == "measured" else ", assumed from measurements on 9.0"
    return (
        f"{label}: set {span}: {blocks} per SM as with the default, and L1 has "
        f"{format_bytes(choice.l1_bytes)} instead of {default}{known}"
    )


#: of one result, in JSON and in CSV
_KEYS: Final = (
    "target",
    "compute_capability",
    "first_percent",
    "last_percent",
    "capacity_bytes",
    "l1_bytes",
    "configured_bytes",
    "configured_l1_bytes",
    "driver_blocks_per_sm",
    "hardware_blocks_per_sm",
    "evidence",
)


def content(found: Sequence[Setting], outcomes: Sequence[Outcome] = ()) -> dict[str, Any]:
    return {
        "results": [
            {
                "target": s.target.label,
                "compute_capability": str(s.target.capability.compute_capability),
                **{name: getattr(s, name) for name in _KEYS[2:]},
            }
            for s in found
        ],
        "choices": [_choice(one) for one in outcomes],
    }


def _choice(outcome: Outcome) -> dict[str, Any]:
    choice = outcome.choice
    keys = ("percent", "last_percent", "configured_bytes", "l1_bytes", "evidence")
    return {
        "target": outcome.target.label,
        "refusal": outcome.refusal._asdict() if outcome.refusal else None,
        "blocks_per_sm": outcome.blocks_per_sm,
        **{key: getattr(choice, key) if choice else None for key in keys},
    }
