"""``analysis.occupancy`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.occupancy import Estimate, Hardware
from perfkit.models.occupancy import Occupancy
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.occupancy_cells import (
    carveout_text,
    cluster_text,
    registers_limit,
    shared_limit,
    waves_text,
)
from perfkit.report.views.occupancy_notes import notes
from perfkit.report.views.occupancy_steps import (
    Field,
    next_block_content,
    step_content,
    step_tables,
)

_IDENTITY: Final[tuple[Field, ...]] = (
    (Column("kernel", "kernel"), lambda e: e.kernel.demangled if e.kernel else None),
    (Column("target", "GPU"), lambda e: e.target.label),
    (Column("compute_capability", "CC"), lambda e: str(e.target.capability.compute_capability)),
)
_INPUTS: Final[tuple[Field, ...]] = (
    (Column("block_threads", "block", "count"), lambda e: e.driver.threads),
    (Column("registers_per_thread", "regs", "count"), lambda e: e.driver.regs),
    (Column("shared_bytes_per_block", "shared", "bytes"), lambda e: e.driver.smem_bytes),
    (Column("carveout_percent", "carveout", "percent"), carveout_text),
)
_BARRIERS: Final[Field] = (Column("barriers", "barriers", "count"), lambda e: e.driver.barriers)
_ANSWER: Final[tuple[Field, ...]] = (
    (Column("blocks_per_sm", "blocks/SM", "count"), lambda e: e.driver.blocks_per_sm),
    (
        Column("warps", "warps/SM", "share"),
        lambda e: (e.driver.warps_per_sm, e.driver.max_warps_per_sm),
    ),
    (Column("occupancy", "occupancy", "ratio"), lambda e: e.driver.ratio),
    (Column("binding", "limited by", "names"), lambda e: e.driver.binding),
)
#: the same, one value a column
_FLAT_ANSWER: Final[tuple[Field, ...]] = (
    _ANSWER[0],
    (Column("warps_per_sm", "warps/SM", "count"), lambda e: e.driver.warps_per_sm),
    (Column("max_warps_per_sm", "max warps/SM", "count"), lambda e: e.driver.max_warps_per_sm),
    _ANSWER[2],
    (Column("limited_by", "limited by", "names"), lambda e: e.driver.limited_by),
    (Column("binding", "binding", "names"), lambda e: e.driver.binding),
)
_LIMITS: Final[tuple[Field, ...]] = tuple(
    (Column(f"limit_{name}", title, "count"), getter)
    for name, title, getter in (
        ("warps", "warps", lambda e: e.driver.limits.warps),
        ("blocks", "blocks", lambda e: e.driver.limits.blocks),
        ("registers", "registers", lambda e: e.driver.limits.registers),
        ("shared_memory", "shared memory", lambda e: e.driver.limits.shared_memory),
        ("barriers", "barriers", lambda e: e.driver.limits.barriers),
    )
)
#: the same for people: what a block takes and what an SM has, where that tells why
_LIMIT_TEXTS: Final[tuple[Field, ...]] = (
    *_LIMITS[:2],
    (Column("limit_registers", "registers"), registers_limit),
    (Column("limit_shared_memory", "shared memory"), shared_limit),
    _LIMITS[4],
)
_HARDWARE: Final[tuple[Field, ...]] = (
    (
        Column("configured_shared_bytes", "configured as shared", "bytes"),
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
    kernel, gpu, capability = _IDENTITY
    who = _varying((kernel, gpu), found)
    # the label of a bare capability is its number
    target = (gpu, capability) if any(e.target.gpu for e in found) else (gpu,)
    first = (*_varying((kernel,), found), *target, *_varying(_INPUTS, found))
    return Document(
        tables=(
            _table(_heading(found), first, _ANSWER, found),
            _table(
                "Blocks per SM that each resource allows (what a block takes of what an SM has)",
                who,
                _LIMIT_TEXTS,
                found,
            ),
            *step_tables(who, found),
            _table("Shared memory and L1 of an SM", who, _HARDWARE, found),
            _table("Whole GPU", who, _WHOLE_GPU, found),
        ),
        notes=tuple(dict.fromkeys(note for e in found for note in notes(e))),
        flat=_flat((*_IDENTITY, *_INPUTS, _BARRIERS, *_FLAT_ANSWER, *_LIMITS, *_HARDWARE), found),
    )


def _varying(fields: tuple[Field, ...], found: Sequence[Estimate]) -> tuple[Field, ...]:
    """The columns that tell rows apart; what is the same in all of them is in the heading."""
    return tuple(field for field in fields if len({field[1](e) for e in found}) > 1)


#: how an input reads in the heading, in the order of ``_INPUTS``
_PHRASES: Final = (
    "{} threads per block",
    "{} registers per thread",
    "{} shared memory per block",
    "carveout {}",
)


def _heading(found: Sequence[Estimate]) -> str | None:
    """Kernel and launch, as far as they are the same in every row."""
    column, get = _IDENTITY[0]
    names = {column.text(get(e)) for e in found if e.kernel}
    varying = _varying(_INPUTS, found)
    same = ", ".join(
        phrase.format(field[0].text(value))
        for field, phrase in zip(_INPUTS, _PHRASES, strict=True)
        if field not in varying and (value := field[1](found[0])) is not None
    )
    name = names.pop() if len(names) == 1 else None
    return ": ".join(part for part in (name, same) if part) or None


def _flat(fields: tuple[Field, ...], found: Sequence[Estimate], title: str | None = None) -> Table:
    return Table(
        title=title,
        columns=tuple(column for column, _ in fields),
        rows=tuple(tuple(get(e) for _, get in fields) for e in found),
    )


def _table(
    title: str | None,
    who: tuple[Field, ...],
    fields: tuple[Field, ...],
    found: Sequence[Estimate],
) -> Table:
    """The fields that say something, after the columns that tell rows apart; perhaps empty."""
    if not _flat(fields, found).without_empty_columns().columns:
        return Table(columns=(), rows=())
    return _flat((*who, *fields), found, title).without_empty_columns()


_WHOLE_GPU: Final[tuple[Field, ...]] = (
    (Column("grid", "grid", "count"), lambda e: e.grid),
    (Column("waves", "waves"), waves_text),
    (
        Column("tail_blocks", "blocks in the last wave", "count"),
        lambda e: e.waves.partial_wave_blocks if e.waves else None,
    ),
    (
        Column("tail_share_max", "its share of the time, at most", "ratio"),
        lambda e: e.waves.tail_share_max if e.waves else None,
    ),
    (Column("clusters", "active clusters"), cluster_text),
)


def content(found: Sequence[Estimate]) -> dict[str, Any]:
    return {"results": [_result(e) for e in found]}


def _result(e: Estimate) -> dict[str, Any]:
    gpu = e.target.gpu
    return {
        "target": e.target.label,
        "gpu": gpu.name if gpu else None,
        "compute_capability": str(e.target.capability.compute_capability),
        "kernel": e.kernel.demangled if e.kernel else None,
        "max_block_threads": e.kernel.max_threads if e.kernel else None,
        **_occupancy(e.driver),
        "carveout_asked_bytes": e.carveout_asked_bytes,
        "hardware": _hardware(e.hardware) if e.hardware else None,
        "steps": [step_content(step) for step in e.steps],
        "next_block": next_block_content(e.next_block),
        "grid": e.grid,
        "waves": asdict(e.waves) if e.waves else None,
        "cluster_size": e.cluster_size,
        "cluster": asdict(e.cluster) if e.cluster else None,
        "notes": notes(e),
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
        "steps": [step_content(step) for step in h.steps],
        "next_block": next_block_content(h.next_block),
    }
