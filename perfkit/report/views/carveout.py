"""``analysis.carveout`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perfkit.analysis.carveout import Setting
from perfkit.report.document import Column, Document, Table


def document(found: Sequence[Setting]) -> Document:
    columns = (
        Column("target", "GPU"),
        Column("preference", "preference"),
        Column("capacity_bytes", "shared memory", "bytes"),
        Column("l1_bytes", "L1", "bytes"),
        Column("driver_blocks_per_sm", "blocks/SM by the API", "count"),
        Column("hardware_blocks_per_sm", "blocks/SM on the hardware", "count"),
        Column("configured_bytes", "shared memory configured", "bytes"),
        Column("configured_l1_bytes", "L1 left", "bytes"),
        Column("evidence", "evidence"),
    )
    rows = tuple(
        (
            s.target.label,
            _preference(s),
            s.capacity_bytes,
            s.l1_bytes,
            s.driver_blocks_per_sm,
            s.hardware_blocks_per_sm,
            s.configured_bytes,
            s.configured_l1_bytes,
            s.evidence if s.driver_blocks_per_sm is not None else None,
        )
        for s in found
    )
    return Document(
        tables=(Table(columns=columns, rows=rows).without_empty_columns(),),
        notes=tuple(dict.fromkeys(_notes(found))),
    )


def _preference(s: Setting) -> str:
    if s.first_percent is None:
        return "none"
    if s.first_percent == s.last_percent:
        return f"{s.first_percent}%"
    return f"{s.first_percent}-{s.last_percent}%"


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


def content(found: Sequence[Setting]) -> dict[str, Any]:
    return {
        "results": [
            {
                "target": s.target.label,
                "compute_capability": str(s.target.capability.compute_capability),
                **{
                    name: getattr(s, name)
                    for name in (
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
                },
            }
            for s in found
        ]
    }
