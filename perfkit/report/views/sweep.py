"""Rows of a sweep -> document and JSON content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perfkit.report.document import Column, Document, Table

_COLUMNS: Final = (
    Column("target", "GPU"),
    Column("block_threads", "block", "count"),
    Column("registers_per_thread", "regs", "count"),
    Column("shared_bytes_per_block", "shared", "bytes"),
    Column("carveout_percent", "carveout", "preference"),
    Column("barriers_per_block", "barriers", "count"),
    Column("blocks_per_sm", "blocks/SM", "count"),
    Column("warps_per_sm", "warps/SM", "count"),
    Column("occupancy", "occupancy", "ratio"),
)


def document(rows: Sequence[Mapping[str, Any]]) -> Document:
    # a barrier each is what nobody asked about
    usual = all(row["barriers_per_block"] == 1 for row in rows)
    columns = [c for c in _COLUMNS if c.key != "barriers_per_block" or not usual]
    found = tuple(tuple(row[column.key] for column in columns) for row in rows)
    return Document(tables=(Table(columns=tuple(columns), rows=found),))


def content(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"results": [{column.key: row[column.key] for column in _COLUMNS} for row in rows]}
