"""Kernels -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from perfkit.kernel import KernelResources
from perfkit.report.document import Column, Document, Table, printable

_COLUMNS: Final = (
    Column("demangled", "kernel"),
    Column("arch", "arch"),
    Column("registers_per_thread", "regs", "count"),
    Column("static_shared_bytes", "static shared", "bytes"),
    Column("stack_bytes", "stack", "bytes"),
    Column("spill_store_bytes", "spill stores", "bytes"),
    Column("spill_load_bytes", "spill loads", "bytes"),
    Column("local_bytes", "local", "bytes"),
    Column("constant_bytes", "constant bank 0", "bytes"),
    Column("parameter_bytes", "parameters", "bytes"),
    Column("barriers", "barriers", "count"),
    Column("max_threads", "max threads", "count"),
    Column("min_blocks", "min blocks", "count"),
    Column("required_block", "required block"),
    Column("required_cluster", "required cluster"),
)

#: most kernels declare none of these, and nobody misses them
_DECLARATIONS: Final = frozenset(
    {"max_threads", "min_blocks", "required_block", "required_cluster"}
)


def document(kernels: Sequence[KernelResources]) -> Document:
    rows = tuple(tuple(_value(getattr(k, c.key)) for c in _COLUMNS) for k in kernels)
    table = Table(columns=_COLUMNS, rows=rows)
    reasons: dict[str, list[str]] = {}
    for kernel in kernels:
        for name, reason in kernel.unknown.items():
            if name in _DECLARATIONS:
                continue
            title = next((c.title for c in _COLUMNS if c.key == name), name)
            reasons.setdefault(f"{title}: {reason}", []).append(kernel.demangled)
    notes = tuple(
        note
        if len(set(names)) == len({k.demangled for k in kernels})
        else f"{printable(names[0])}, {note}"
        for note, names in reasons.items()
    )
    names = (Column("name", "symbol"), *_COLUMNS)
    return Document(
        tables=(table.without_empty_columns(),),
        notes=notes,
        flat=Table(
            columns=names, rows=tuple((k.name, *row) for k, row in zip(kernels, rows, strict=True))
        ),
    )


def _value(value: Any) -> Any:
    return "x".join(map(str, value)) if isinstance(value, tuple) else value


def content(kernels: Sequence[KernelResources]) -> dict[str, Any]:
    return {"kernels": [asdict(kernel) for kernel in kernels]}
