"""``analysis.carveout`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from perfkit.analysis.carveout import Setting
from perfkit.report.document import Column, Document, Table


def document(found: Sequence[Setting]) -> Document:
    """A table per target; CSV has them in one, with the keys of JSON."""
    tables = [
        _table([s for s in found if s.target.label == label])
        for label in dict.fromkeys(s.target.label for s in found)
    ]
    flat = Table(
        columns=tuple(Column(key, key) for key in _KEYS),
        rows=tuple(tuple(row.values()) for row in content(found)["results"]),
    )
    return Document(tables=tuple(tables), notes=tuple(dict.fromkeys(_notes(found))), flat=flat)


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
    if any(s.driver_blocks_per_sm is not None and s.first_percent is not None for s in found):
        notes.append(
            "on the hardware a preference is for the kernel's own shared memory and the reserve of "
            "every block comes on top, so the last columns may differ inside a range of "
            "percentages; they are those of its first"
        )
    return notes


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


def content(found: Sequence[Setting]) -> dict[str, Any]:
    return {
        "results": [
            {
                "target": s.target.label,
                "compute_capability": str(s.target.capability.compute_capability),
                **{name: getattr(s, name) for name in _KEYS[2:]},
            }
            for s in found
        ]
    }
