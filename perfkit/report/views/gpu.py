"""Products -> documents and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from perfkit.arch.catalog import aliases_of
from perfkit.arch.peaks import Peak, peaks
from perfkit.arch.types import Capability, Gpu
from perfkit.kernel import DType
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views.arch import apparatus, facts_document, per_s

_COLUMNS: Final[tuple[tuple[Column, Callable[[Gpu], Any]], ...]] = (
    (Column("key", "key"), lambda g: g.key),
    (Column("name", "name"), lambda g: g.name),
    (Column("compute_capability", "CC"), lambda g: str(g.compute_capability)),
    (Column("segment", "segment"), lambda g: g.segment),
    (Column("sm_count", "SMs", "count"), lambda g: g.sm_count),
    (
        Column("boost_clock_mhz", "boost clock", "mhz"),
        lambda g: _scaled(g.boost_clock_hz, 10**6),
    ),
    (Column("memory_type", "memory"), lambda g: g.memory.type),
    (Column("memory_size_gib", "GiB", "count"), lambda g: g.memory.size_gib),
    (
        Column("dram_bandwidth_gb_per_s", "bandwidth", "gb_per_s"),
        lambda g: _scaled(g.memory.bandwidth_bytes_per_s, 10**9),
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
    first, *rest = facts.tables
    found = peaks(gpu, capability)
    notes = [f"{_label(peak)}: {peak.note}" for peak in found if peak.note]
    # one table of facts for CSV, with the peaks as facts; their source is that of the figures
    flat = facts.flat or first
    more = tuple(
        (f"peaks.{_label(peak)}.tflops".replace(" ", "."), peak.flop_per_s / 1e12)
        + ("",) * (len(flat.columns) - 2)
        for peak in found
    )
    return Document(
        tables=(replace(first, title=gpu.name), _peaks(found), *rest),
        notes=(*notes, *facts.notes),
        flat=replace(flat, rows=(*flat.rows, *more)),
    )


def _label(peak: Peak) -> str:
    return f"{peak.dtype}/{peak.accumulate} {peak.sparsity} {peak.unit}"


def _peaks(found: Sequence[Peak]) -> Table:
    """Dense and sparse work of the same types in one row."""
    rows: dict[tuple[DType, DType, str], dict[str, Peak]] = {}
    for peak in found:
        rows.setdefault((peak.dtype, peak.accumulate, peak.unit), {})[peak.sparsity] = peak
    return Table(
        title="Peak rates (a fused multiply-add is two operations)",
        columns=(
            Column("types", "types"),
            Column("unit", "unit"),
            *(Column(key, title, "count") for key, title in _RATES.items()),
            Column("in", "in"),
            Column("basis", "basis"),
        ),
        rows=tuple(
            (
                f"{dtype}/{accumulate}",
                unit,
                *(_tera(pair[s].flop_per_s / 1e12) if s in pair else None for s in _SPARSITY),
                *(_tera(pair[s].published_tflops) if s in pair else None for s in _SPARSITY),
                per_s(dtype),
                ", ".join(dict.fromkeys(peak.basis for peak in pair.values())),
            )
            for (dtype, accumulate, unit), pair in rows.items()
        ),
    ).without_empty_columns()


_SPARSITY: Final = ("dense", "sparse")
_RATES: Final = {
    "dense": "dense",
    "sparse": "sparse",
    "published_dense": "published dense",
    "published_sparse": "published sparse",
}


def _tera(value: float | None) -> Cell | None:
    """A rate without its unit."""
    if value is None:
        return None
    return Cell(value, f"{value:.4g}" if value < 1e4 else f"{value:.0f}")


def comparison(pairs: Sequence[tuple[Gpu, Capability]]) -> Document:
    rows: dict[Cell, list[Cell]] = {}
    for column, get in _COLUMNS[1:]:
        values = [get(gpu) for gpu, _ in pairs]
        rows[Cell(column.key, column.title)] = [Cell(v, column.text(v)) for v in values]
    by_key = [{peak.key: peak for peak in peaks(gpu, cc)} for gpu, cc in pairs]
    for key in dict.fromkeys(key for one in by_key for key in one if key.sparsity == "dense"):
        label = f"{key.dtype}/{key.accumulate} {key.unit}"
        tflops = [one[key].flop_per_s / 1e12 if key in one else None for one in by_key]
        rows[Cell(f"{label} tflops", label)] = [
            Cell(value, f"{cell.text} {per_s(key.dtype)}" if (cell := _tera(value)) else "-")
            for value in tflops
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
    """The keys of the list, and what only one product has room for."""
    return {
        **{column.key: get(gpu) for column, get in _COLUMNS},
        "aliases": list(aliases_of(gpu.key)),
        "architecture": capability.architecture,
        "rate_class": gpu.rate_class,
        "tensor_clock_mhz": _scaled(gpu.tensor_clock_hz, 10**6),
        "cluster_sm_groups": gpu.cluster_sm_groups,
        "l2_read_bytes_per_clock": gpu.memory.l2_read_bytes_per_clock,
        "latency": asdict(gpu.latency) if gpu.latency else None,
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
        **apparatus(gpu),
    }


def _scaled(value: int | None, unit: int) -> float | int | None:
    if value is None:
        return None
    return value // unit if value % unit == 0 else value / unit
