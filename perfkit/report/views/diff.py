"""``analysis.diff`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from perfkit.analysis.diff import (
    BLOCK_THREADS,
    OCCUPANCY,
    QUANTITIES,
    Change,
    Diff,
    Pair,
    Status,
    needed,
)
from perfkit.kernel import KernelResources
from perfkit.report.document import Cell, Column, Document, Table

_COLUMNS: Final = {
    OCCUPANCY: Column(OCCUPANCY, "occupancy", "ratio"),
    "spill_store_bytes": Column("spill_store_bytes", "spill stores", "bytes"),
    "spill_load_bytes": Column("spill_load_bytes", "spill loads", "bytes"),
    "registers_per_thread": Column("registers_per_thread", "regs", "count"),
    "static_shared_bytes": Column("static_shared_bytes", "static shared", "bytes"),
    "stack_bytes": Column("stack_bytes", "stack", "bytes"),
    "unbounded_stack": Column("unbounded_stack", "unbounded stack", "yes"),
    "barriers": Column("barriers", "barriers", "count"),
    "constant_bytes": Column("constant_bytes", "constant bank 0", "bytes"),
    BLOCK_THREADS: Column(BLOCK_THREADS, "block", "count"),
}
_KERNEL: Final = Column("kernel", "kernel")
_ARCH: Final = Column("arch", "arch")
_STATUS: Final = Column("status", "verdict")

_WORDS: Final[dict[Status, str]] = {
    "worse": "worse",
    "mixed": "mixed",
    "not_comparable": "not comparable",
    "changed": "changed",
    "better": "better",
    "unchanged": "unchanged",
}
_WORSE: Final = (
    "worse is lower occupancy, more spills, registers, static shared memory, stack or barriers, or "
    "a stack that has lost its bound; mixed is worse in one and better in another"
)

#: more rows than a reviewer reads at a glance
_AT_A_GLANCE: Final = 20


def document(found: Diff) -> Document:
    """The changed kernels, worst first, then new and vanished ones; unchanged ones are counted."""
    changed = [pair for pair in found.pairs if pair.status != "unchanged"]
    rest = changed[_AT_A_GLANCE:]
    tables = [
        _changed(changed[:_AT_A_GLANCE], None),
        _changed(rest, f"{len(rest)} more with changes"),
        _alone(found.new, f"{len(found.new)} new"),
        _alone(found.vanished, f"{len(found.vanished)} vanished"),
    ]
    return Document(
        tables=tuple(tables),
        notes=tuple(_notes(found, changed)),
        summary=_summary(found),
        flat=_flat(found),
    )


def _summary(found: Diff) -> str:
    counts = {word: found.count(status) for status, word in _WORDS.items()}
    counts |= {"new": len(found.new), "vanished": len(found.vanished)}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    compared = len(found.pairs)
    return f"{compared} {'kernel' if compared == 1 else 'kernels'} compared: {said}"


def _changed(pairs: Sequence[Pair], title: str | None) -> Table:
    """Only what differs somewhere; what is the same in a row stands as one number."""
    shown = [
        place
        for place, _ in enumerate(QUANTITIES)
        if any(pair.changes[place].verdict in _SHOWN for pair in pairs)
    ]
    return Table(
        title=title,
        columns=(_KERNEL, _ARCH, _STATUS, *(_COLUMNS[QUANTITIES[p].name] for p in shown)),
        rows=tuple(
            (
                pair.new.demangled,
                pair.new.arch,
                _WORDS[pair.status],
                *(_cell(pair.changes[place]) for place in shown),
            )
            for pair in pairs
        ),
        collapsed=title is not None,
    )


_SHOWN: Final = frozenset({"worse", "better", "changed", "not_comparable"})


def _cell(change: Change) -> Cell | None:
    column = _COLUMNS[change.quantity.name]
    if change.verdict == "unknown":
        return None
    text = column.text(change.new)
    if change.verdict != "same":
        text = f"{column.text(change.old)} → {text}"
    return Cell(change.new, text)


def _alone(kernels: Sequence[KernelResources], title: str) -> Table:
    left_out = _OF_A_LAUNCH
    if not any(kernel.unbounded_stack for kernel in kernels):
        left_out |= {"unbounded_stack"}
    names = [quantity.name for quantity in QUANTITIES if quantity.name not in left_out]
    return Table(
        title=title,
        columns=(_KERNEL, _ARCH, *(_COLUMNS[name] for name in names)),
        rows=tuple(
            (kernel.demangled, kernel.arch, *(needed(kernel, name).value for name in names))
            for kernel in kernels
        ),
        collapsed=len(kernels) > _AT_A_GLANCE,
    ).without_empty_columns()


#: no fields of a kernel alone
_OF_A_LAUNCH: Final = frozenset({OCCUPANCY, BLOCK_THREADS})


def _notes(found: Diff, changed: Iterable[Pair]) -> list[str]:
    """What worse means where there is a verdict, and why a quantity could not be compared."""
    reasons: dict[str, set[str]] = {}
    for pair in found.pairs:
        for change in pair.changes:
            if change.quantity.name == BLOCK_THREADS:
                continue  # occupancy says it
            said = change.verdict == "not_comparable" or (
                change.verdict == "unknown" and change.quantity.name in _ALWAYS_WANTED
            )
            if said:
                title = _COLUMNS[change.quantity.name].title
                reasons.setdefault(f"{title}: {change.why_not}", set()).add(pair.new.demangled)
    notes = [_WORSE] if any(pair.status in {"worse", "mixed"} for pair in changed) else []
    for reason, names in reasons.items():
        whose = next(iter(names)) if len(names) == 1 else f"{len(names)} kernels"
        notes.append(f"not compared for {whose}: {reason}")
    return notes


#: what a reader takes for granted: it is said where neither side has it
_ALWAYS_WANTED: Final = frozenset({OCCUPANCY, "spill_store_bytes", "registers_per_thread"})


def _flat(found: Diff) -> Table:
    """One row per kernel of either side, old and new values in columns of their own."""
    columns = [_KERNEL, _ARCH, _STATUS]
    for quantity in QUANTITIES:
        unit = _COLUMNS[quantity.name].unit
        columns += [
            Column(f"{quantity.name}_{side}", f"{side} {quantity.name}", unit)
            for side in ("old", "new")
        ]
    rows = [
        (p.new.demangled, p.new.arch, p.status, *(v for c in p.changes for v in (c.old, c.new)))
        for p in found.pairs
    ]
    rows += [(k.demangled, k.arch, "new", *_one_side(k, new=True)) for k in found.new]
    rows += [(k.demangled, k.arch, "vanished", *_one_side(k, new=False)) for k in found.vanished]
    return Table(columns=tuple(columns), rows=tuple(rows))


def _one_side(kernel: KernelResources, *, new: bool) -> list[Any]:
    values: list[Any] = []
    for name, _ in QUANTITIES:
        value = None if name in _OF_A_LAUNCH else needed(kernel, name).value
        values += [None, value] if new else [value, None]
    return values


def content(found: Diff) -> dict[str, Any]:
    return {
        "summary": {
            "compared": len(found.pairs),
            **{status: found.count(status) for status in _WORDS},
            "new": len(found.new),
            "vanished": len(found.vanished),
        },
        "changes": [_pair(pair) for pair in found.pairs if pair.status != "unchanged"],
        "new": [_single(kernel) for kernel in found.new],
        "vanished": [_single(kernel) for kernel in found.vanished],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "kernel": pair.new.demangled,
        "arch": pair.new.arch,
        "status": pair.status,
        "old_name": pair.old.name,
        "new_name": pair.new.name,
        "quantities": {
            change.quantity.name: {
                "old": change.old,
                "new": change.new,
                "verdict": change.verdict,
                "reason": change.why_not,
            }
            for change in pair.changes
        },
    }


def _single(kernel: KernelResources) -> dict[str, Any]:
    return {
        "kernel": kernel.demangled,
        "arch": kernel.arch,
        "name": kernel.name,
        **{
            quantity.name: needed(kernel, quantity.name).value
            for quantity in QUANTITIES
            if quantity.name not in _OF_A_LAUNCH
        },
    }
