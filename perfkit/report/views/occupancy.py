"""``analysis.occupancy`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.occupancy import Estimate, Hardware
from perfkit.analysis.steps import Step
from perfkit.models.occupancy import Occupancy, Refusal
from perfkit.report.document import ABSENT, Column, Document, Table
from perfkit.units import format_bytes, format_ratio

Field = tuple[Column, Callable[[Estimate], Any]]

_IDENTITY: Final[tuple[Field, ...]] = (
    (Column("kernel", "kernel"), lambda e: e.kernel.demangled if e.kernel else None),
    (Column("target", "GPU"), lambda e: e.target.label),
    (Column("compute_capability", "CC"), lambda e: str(e.target.capability.compute_capability)),
)
_INPUTS: Final[tuple[Field, ...]] = (
    (Column("block_threads", "block", "count"), lambda e: e.driver.threads),
    (Column("registers_per_thread", "regs", "count"), lambda e: e.driver.regs),
    (Column("shared_bytes_per_block", "shared", "bytes"), lambda e: e.driver.smem_bytes),
    (Column("carveout_percent", "carveout", "count"), lambda e: e.driver.carveout),
)
_ANSWER: Final[tuple[Field, ...]] = (
    (Column("blocks_per_sm", "blocks/SM", "count"), lambda e: e.driver.blocks_per_sm),
    (Column("warps_per_sm", "warps/SM", "count"), lambda e: e.driver.warps_per_sm),
    (Column("max_warps_per_sm", "of", "count"), lambda e: e.driver.max_warps_per_sm),
    (Column("occupancy", "occupancy", "ratio"), lambda e: e.driver.ratio),
    (Column("limited_by", "limited by", "names"), lambda e: e.driver.binding),
)
_LIMITS: Final[tuple[Field, ...]] = tuple(
    (Column(f"limit_{name}", title, "count"), getter)
    for name, title, getter in (
        ("warps", "by warps", lambda e: e.driver.limits.warps),
        ("blocks", "by blocks", lambda e: e.driver.limits.blocks),
        ("registers", "by registers", lambda e: e.driver.limits.registers),
        ("shared_memory", "by shared memory", lambda e: e.driver.limits.shared_memory),
        ("barriers", "by barriers", lambda e: e.driver.limits.barriers),
    )
)
_HARDWARE: Final[tuple[Field, ...]] = (
    (
        Column("configured_shared_bytes", "shared memory configured", "bytes"),
        lambda e: e.hardware.configured_shared_bytes if e.hardware else None,
    ),
    (Column("l1_bytes", "L1 left", "bytes"), lambda e: e.hardware.l1_bytes if e.hardware else None),
    (
        Column("hardware_blocks_per_sm", "blocks/SM on the hardware", "count"),
        lambda e: e.hardware.occupancy.blocks_per_sm if e.hardware else None,
    ),
    (
        Column("hardware_evidence", "evidence"),
        lambda e: e.hardware.evidence if e.hardware else None,
    ),
)


def document(found: Sequence[Estimate]) -> Document:
    """Tables: the answer, each limit, the cliffs, the cache split; notes say what is special."""
    return Document(
        tables=(
            _table(None, (*_IDENTITY, *_INPUTS, *_ANSWER), found),
            _table("Blocks per SM that each resource allows", (*_IDENTITY, *_LIMITS), found),
            _cliffs(found),
            _table("Shared memory and L1", (*_IDENTITY, *_HARDWARE), found),
            _grids(found),
        ),
        notes=tuple(dict.fromkeys(note for e in found for note in _notes(e))),
        flat=_flat((*_IDENTITY, *_INPUTS, *_ANSWER, *_LIMITS, *_HARDWARE), found),
    )


def _flat(fields: tuple[Field, ...], found: Sequence[Estimate], title: str | None = None) -> Table:
    return Table(
        title=title,
        columns=tuple(column for column, _ in fields),
        rows=tuple(tuple(get(e) for _, get in fields) for e in found),
    )


def _table(title: str | None, fields: tuple[Field, ...], found: Sequence[Estimate]) -> Table:
    return _flat(fields, found, title).without_empty_columns()


_STEP_COLUMNS: Final = (
    ("registers", "cost", "more registers"),
    ("registers", "gain", "fewer registers"),
    ("shared_memory", "cost", "more shared memory"),
    ("shared_memory", "gain", "less shared memory"),
    ("block_size", "cost", "larger block"),
    ("block_size", "gain", "better block"),
)


def _cliffs(found: Sequence[Estimate]) -> Table:
    titles = [Column(f"{quantity}_{kind}", title) for quantity, kind, title in _STEP_COLUMNS]
    rows = []
    for e in found:
        by_kind: dict[tuple[str, str], Step] = {(s.quantity, s.kind): s for s in e.steps}
        steps = [by_kind.get((quantity, kind)) for quantity, kind, _ in _STEP_COLUMNS]
        identity = [get(e) for _, get in _IDENTITY]
        rows.append((*identity, *(_step_text(s) if s else ABSENT for s in steps)))
    columns = (*(column for column, _ in _IDENTITY), *titles)
    title = "Cliffs: cost of the next step up, gain of the nearest step down"
    return Table(title=title, columns=columns, rows=tuple(rows)).without_empty_columns()


def _step_text(step: Step) -> str:
    value = str(step.value)
    change = f"{step.change:+d}"
    if step.quantity == "shared_memory":
        value, change = format_bytes(step.value), f"{step.change:+d} B"
    outcome = format_ratio(step.ratio) if step.blocks_per_sm else "no launch"
    return f"{value} ({change}): {outcome}"


def _grids(found: Sequence[Estimate]) -> Table:
    columns = (
        *(column for column, _ in _IDENTITY),
        Column("grid", "grid", "count"),
        Column("waves", "waves"),
        Column("tail_blocks", "blocks in the tail", "count"),
        Column("tail_share_max", "tail, at most", "ratio"),
        Column("clusters", "active clusters"),
    )
    rows = tuple(
        (
            *(get(e) for _, get in _IDENTITY),
            e.grid,
            f"{e.waves.waves:.2f}" if e.waves else None,
            e.waves.partial_wave_blocks if e.waves else None,
            e.waves.tail_share_max if e.waves else None,
            _cluster_text(e),
        )
        for e in found
        if e.grid is not None or e.cluster is not None
    )
    return Table(title="Whole GPU", columns=columns, rows=rows).without_empty_columns()


def _cluster_text(e: Estimate) -> str | None:
    if e.cluster is None:
        return None
    return f"{'' if e.cluster.exact else 'at most '}{e.cluster.active_clusters}"


def refusal_text(refusal: Refusal, label: str) -> str:
    """Why nothing launches, in a sentence."""
    needed, allowed = refusal.needed, refusal.allowed
    texts = {
        "shared_bytes_per_block": f"a block needs {format_bytes(needed)} of shared memory, {label} "
        f"gives a block at most {format_bytes(allowed)}",
        "registers_per_block": f"the launch check counts {needed} registers per block, {label} "
        f"allows {allowed}",
        "warps_by_registers": f"registers allow {allowed} warps on {label}, a block has {needed}",
        "threads_per_block": f"a block has {needed} threads, the kernel's launch bounds allow "
        f"{allowed}",
    }
    return texts[refusal.resource]


def _notes(e: Estimate) -> list[str]:
    label = e.target.capability.label
    notes = []
    if e.driver.refusal is not None:
        notes.append(
            f"does not launch on {e.target.label}: {refusal_text(e.driver.refusal, label)}"
        )
    if e.hardware is not None:
        notes += _hardware_notes(e, e.hardware)
    if set(e.driver.limited_by) != set(e.driver.binding):
        notes.append(
            f"{e.target.label}: cuda_occupancy.h also names "
            f"{', '.join(sorted(set(e.driver.limited_by) - set(e.driver.binding)))}, since it "
            "names its limits before it looks at barriers"
        )
    if e.driver.carveout is not None and not e.target.capability.shared_memory.configurable:
        notes.append(f"{label} has dedicated shared memory: --carveout has no effect")
    if e.grid is not None and e.target.gpu is None:
        notes.append(f"waves need a product, {e.target.label} is a capability: no SM count")
    if e.cluster is not None and not e.cluster.exact:
        notes.append(
            f"clusters on {e.target.label} are an upper bound: they stay inside a GPC, and how "
            "many SMs each GPC has differs from card to card"
        )
    if e.cluster is not None and not e.cluster.portable:
        notes.append(f"a cluster of {e.cluster.size} is not portable: the kernel must opt in")
    if e.kernel is not None:
        notes += [
            f"{e.kernel.demangled}: {name.replace('_', ' ')} unknown: {reason}"
            for name, reason in e.kernel.unknown.items()
            if name == "stack_bytes"
        ]
    return notes


def _hardware_notes(e: Estimate, hardware: Hardware) -> list[str]:
    found, label = hardware.occupancy, e.target.capability.label
    notes = []
    if found.blocks_per_sm != e.driver.blocks_per_sm:
        how = (
            "measured on hardware of this capability"
            if hardware.evidence == "measured"
            else "assumed from measurements on 9.0"
        )
        notes.append(
            f"{e.target.label}: the occupancy API says {e.driver.blocks_per_sm} blocks per SM, the "
            f"SM holds {found.blocks_per_sm} ({how}): a carveout preference is for the kernel's "
            "own shared memory, the reserved 1 KiB per block comes on top"
        )
    if hardware.is_upper_bound:
        notes.append(
            f"{label}: register-limited blocks of one or two warps may stay below the theory"
        )
    return notes


def content(found: Sequence[Estimate]) -> dict[str, Any]:
    return {"results": [_result(e) for e in found]}


def _result(e: Estimate) -> dict[str, Any]:
    gpu = e.target.gpu
    return {
        "target": e.target.label,
        "gpu": gpu.name if gpu else None,
        "compute_capability": str(e.target.capability.compute_capability),
        "kernel": e.kernel.demangled if e.kernel else None,
        **_occupancy(e.driver),
        "hardware": _hardware(e.hardware) if e.hardware else None,
        "steps": [asdict(step) for step in e.steps],
        "grid": e.grid,
        "waves": asdict(e.waves) if e.waves else None,
        "cluster": asdict(e.cluster) if e.cluster else None,
        "notes": _notes(e),
    }


def _occupancy(o: Occupancy) -> dict[str, Any]:
    return {
        "block_threads": o.threads,
        "registers_per_thread": o.regs,
        "shared_bytes_per_block": o.smem_bytes,
        "carveout_percent": o.carveout,
        "barriers": o.barriers,
        "blocks_per_sm": o.blocks_per_sm,
        "warps_per_sm": o.warps_per_sm,
        "max_warps_per_sm": o.max_warps_per_sm,
        "occupancy": o.ratio,
        "limits": {
            name: getattr(o.limits, name)
            for name in ("warps", "blocks", "registers", "shared_memory", "barriers")
        },
        "limited_by": list(o.limited_by),
        "binding": list(o.binding),
        "allocated_registers_per_block": o.allocated_registers_per_block,
        "allocated_shared_bytes_per_block": o.allocated_shared_bytes_per_block,
        "refusal": o.refusal._asdict() if o.refusal else None,
        "rule": o.rule,
    }


def _hardware(h: Hardware) -> dict[str, Any]:
    return {
        "rule": h.occupancy.rule,
        "blocks_per_sm": h.occupancy.blocks_per_sm,
        "warps_per_sm": h.occupancy.warps_per_sm,
        "occupancy": h.occupancy.ratio,
        "limited_by": list(h.occupancy.limited_by),
        "configured_shared_bytes": h.configured_shared_bytes,
        "l1_bytes": h.l1_bytes,
        "evidence": h.evidence,
        "is_upper_bound": h.is_upper_bound,
    }
