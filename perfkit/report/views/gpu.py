"""Products -> documents and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from perfkit.arch.catalog import aliases_of
from perfkit.arch.peaks import Peak, peaks
from perfkit.arch.types import Capability, Gpu
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.arch import facts_document

_COLUMNS: Final[tuple[tuple[Column, Callable[[Gpu], Any]], ...]] = (
    (Column("key", "key"), lambda g: g.key),
    (Column("name", "name"), lambda g: g.name),
    (Column("compute_capability", "CC"), lambda g: str(g.compute_capability)),
    (Column("segment", "segment"), lambda g: g.segment),
    (Column("sm_count", "SMs", "count"), lambda g: g.sm_count),
    (Column("boost_clock_hz", "boost clock", "hertz"), lambda g: g.boost_clock_hz),
    (Column("memory_type", "memory"), lambda g: g.memory.type),
    (Column("memory_size_gib", "GiB", "count"), lambda g: g.memory.size_gib),
    (
        Column("dram_bandwidth_bytes_per_s", "bandwidth", "bandwidth"),
        lambda g: g.memory.bandwidth_bytes_per_s,
    ),
    (Column("l2_bytes", "L2", "bytes"), lambda g: g.memory.l2_bytes),
    (Column("tdp_w", "TDP W", "count"), lambda g: g.tdp_w),
)


def listing(found: Sequence[Gpu]) -> Document:
    return Document(
        tables=(
            Table(
                columns=tuple(column for column, _ in _COLUMNS),
                rows=tuple(tuple(get(gpu) for _, get in _COLUMNS) for gpu in found),
            ),
        )
    )


def listing_content(found: Sequence[Gpu]) -> dict[str, Any]:
    return {"gpus": [{column.key: get(gpu) for column, get in _COLUMNS} for gpu in found]}


def document(gpu: Gpu, capability: Capability, *, with_sources: bool) -> Document:
    facts = facts_document(gpu, with_sources=with_sources)
    table = Table(title=gpu.name, columns=facts.tables[0].columns, rows=facts.tables[0].rows)
    notes = [f"{_label(peak)}: {peak.note}" for peak in peaks(gpu, capability) if peak.note]
    return Document(
        tables=(table, _peaks(gpu, capability), *facts.tables[1:]), notes=(*facts.notes, *notes)
    )


def _label(peak: Peak) -> str:
    return f"{peak.dtype}/{peak.accumulate} {peak.sparsity} {peak.unit}"


def _peaks(gpu: Gpu, capability: Capability) -> Table:
    return Table(
        title="Peak rates (a fused multiply-add is two operations)",
        columns=(
            Column("dtype", "operands"),
            Column("accumulate", "accumulate"),
            Column("sparsity", "sparsity"),
            Column("unit", "unit"),
            Column("flop_per_s", "peak", "rate"),
            Column("published_tflops", "published TFLOP/s", "count"),
            Column("basis", "basis"),
        ),
        rows=tuple(
            (
                str(peak.dtype),
                str(peak.accumulate),
                peak.sparsity,
                peak.unit,
                peak.flop_per_s,
                peak.published_tflops,
                peak.basis,
            )
            for peak in peaks(gpu, capability)
        ),
    )


def comparison(pairs: Sequence[tuple[Gpu, Capability]]) -> Document:
    rows: dict[str, list[str]] = {}
    for column, get in _COLUMNS[1:]:
        rows[column.title] = [column.text(get(gpu)) for gpu, _ in pairs]
    rate = Column("", "", "rate")
    by_key = [{peak.key: peak for peak in peaks(gpu, cc)} for gpu, cc in pairs]
    for key in dict.fromkeys(key for one in by_key for key in one if key.sparsity == "dense"):
        rows[f"{key.dtype}/{key.accumulate} {key.unit}"] = [
            rate.text(one[key].flop_per_s) if key in one else "-" for one in by_key
        ]
    return Document(
        tables=(
            Table(
                columns=(Column("fact", "fact"), *(Column(g.key, g.key) for g, _ in pairs)),
                rows=tuple((title, *values) for title, values in rows.items()),
            ),
        )
    )


def content(gpu: Gpu, capability: Capability) -> dict[str, Any]:
    memory = gpu.memory
    return {
        "key": gpu.key,
        "name": gpu.name,
        "aliases": list(aliases_of(gpu.key)),
        "compute_capability": str(gpu.compute_capability),
        "architecture": capability.architecture,
        "segment": gpu.segment,
        "rate_class": gpu.rate_class,
        "sm_count": gpu.sm_count,
        "boost_clock_mhz": _scaled(gpu.boost_clock_hz, 10**6),
        "tensor_clock_mhz": _scaled(gpu.tensor_clock_hz, 10**6),
        "memory_type": memory.type,
        "memory_size_gib": memory.size_gib,
        "dram_bandwidth_gb_per_s": _scaled(memory.bandwidth_bytes_per_s, 10**9),
        "l2_bytes": memory.l2_bytes,
        "tdp_w": gpu.tdp_w,
        "peaks": [
            {
                "dtype": str(peak.dtype),
                "accumulate": str(peak.accumulate),
                "sparsity": peak.sparsity,
                "unit": peak.unit,
                "tflops": peak.flop_per_s / 1e12,
                "published_tflops": peak.published_tflops,
                "basis": peak.basis,
                "note": peak.note,
            }
            for peak in peaks(gpu, capability)
        ],
        "unknown": dict(gpu.unknown),
    }


def _scaled(value: int | None, unit: int) -> float | int | None:
    if value is None:
        return None
    return value // unit if value % unit == 0 else value / unit
