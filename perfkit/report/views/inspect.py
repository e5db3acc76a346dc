"""Kernels -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from perfkit.kernel import KernelResources
from perfkit.report.document import Column, Document, Table, printable
from perfkit.report.views.origins import telling_apart

_COLUMNS: Final = (
    Column("demangled", "kernel"),
    Column("arch", "arch"),
    Column("registers_per_thread", "regs", "count"),
    Column("static_shared_bytes", "static shared", "bytes"),
    Column("stack_bytes", "stack", "bytes"),
    Column("spill_store_bytes", "spill stores", "bytes"),
    Column("spill_load_bytes", "spill loads", "bytes"),
    Column("callee_spill_store_bytes", "callee spill stores", "bytes"),
    Column("callee_spill_load_bytes", "callee spill loads", "bytes"),
    Column("frame_bytes", "own frame", "bytes"),
    Column("cumulative_stack_bytes", "stack with callees", "bytes"),
    Column("unbounded_stack", "unbounded stack", "yes"),
    Column("local_bytes", "local", "bytes"),
    Column("constant_bytes", "constant bank 0", "bytes"),
    Column("parameter_bytes", "parameters", "bytes"),
    Column("barriers", "barriers", "count"),
    Column("max_threads", "max threads", "count"),
    Column("min_blocks", "min blocks", "count"),
    Column("required_block", "required block"),
    Column("required_cluster", "required cluster"),
    Column("max_cluster_blocks", "max cluster", "count"),
    Column("threads", "threads", "count"),
    Column("dynamic_shared_bytes", "dynamic shared", "bytes"),
    Column("uses_dynamic_shared", "uses dynamic shared", "yes"),
    Column("num_stages", "stages", "count"),
)

#: only logs or launches have these: no column and no word about them where no kernel has one
_RARE: Final = frozenset(
    {
        "callee_spill_store_bytes",
        "callee_spill_load_bytes",
        "max_cluster_blocks",
        "threads",
        "dynamic_shared_bytes",
        "num_stages",
    }
)

#: a column only where a kernel says yes
_SELDOM: Final = ("uses_dynamic_shared", "unbounded_stack")

#: the two meanings that the stack of a source can have: a column only where it tells more
_STACKS: Final = ("frame_bytes", "cumulative_stack_bytes")

#: most kernels declare none of these, and nobody misses them
_DECLARATIONS: Final = frozenset(
    {"max_threads", "min_blocks", "required_block", "required_cluster", "max_cluster_blocks"}
)


def document(kernels: Sequence[KernelResources], notes: Sequence[str] = ()) -> Document:
    """``notes``: what is to be said of the file as a whole."""
    absent = {key for key in _RARE if all(getattr(kernel, key) is None for kernel in kernels)}
    absent.update(
        key
        for key in _STACKS
        if all(getattr(kernel, key) in {None, kernel.stack_bytes} for kernel in kernels)
    )
    absent.update(key for key in _SELDOM if not any(getattr(kernel, key) for kernel in kernels))
    columns = tuple(column for column in _COLUMNS if column.key not in absent)
    rows = tuple(tuple(_value(getattr(k, c.key)) for c in columns) for k in kernels)
    same = [(kernel.demangled, kernel.arch) for kernel in kernels]
    origins = telling_apart(same, [kernel.origin for kernel in kernels])
    table = Table(
        columns=(*columns, Column("origin", "origin")),
        rows=tuple((*row, origin) for row, origin in zip(rows, origins, strict=True)),
    )
    names = (Column("name", "symbol"), *columns, Column("origin", "origin"))
    return Document(
        tables=(table.without_empty_columns(),),
        notes=(*_notes(kernels, columns), *map(printable, notes)),
        flat=Table(
            columns=names,
            rows=tuple((k.name, *row, k.origin) for k, row in zip(kernels, rows, strict=True)),
        ),
    )


def _notes(kernels: Sequence[KernelResources], columns: Sequence[Column]) -> tuple[str, ...]:
    """Why values are absent: what is absent for one reason stands in one note."""
    everybody = {kernel.demangled for kernel in kernels}
    titles = {column.key: column.title for column in columns}
    found: dict[str, list[str]] = {}
    for kernel in kernels:
        reasons: dict[str, list[str]] = {}
        for key, reason in kernel.unknown.items():
            if key in titles and key not in _DECLARATIONS:
                reasons.setdefault(reason, []).append(titles[key])
        for reason, absent in reasons.items():
            found.setdefault(f"{', '.join(absent)}: {reason}", []).append(kernel.demangled)
    return tuple(
        note if set(names) == everybody else f"{_some(names)}, {note}"
        for note, names in found.items()
    )


def _some(names: list[str]) -> str:
    different = list(dict.fromkeys(names))
    more = f" and {len(different) - 1} more" if len(different) > 1 else ""
    return printable(different[0]) + more


def _value(value: Any) -> Any:
    return "x".join(map(str, value)) if isinstance(value, tuple) else value


def content(
    kernels: Sequence[KernelResources], notes: Sequence[str] = (), unread: int = 0
) -> dict[str, Any]:
    """``unread``: how many files, members, images or kernels there are besides."""
    return {
        "kernels": [asdict(kernel) for kernel in kernels],
        "notes": list(notes),
        "unread": unread,
    }
