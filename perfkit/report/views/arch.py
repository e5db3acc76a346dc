"""The database -> documents and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from perfkit.arch.facts import evidence, facts
from perfkit.arch.types import Capability, Gpu
from perfkit.report.document import Cell, Column, Document, Table, Unit

if TYPE_CHECKING:
    from perfkit.arch.audit import Finding

_LIST: Final[tuple[tuple[Column, str], ...]] = (
    (Column("compute_capability", "CC"), "compute_capability"),
    (Column("architecture", "architecture"), "architecture"),
    (Column("max_warps_per_sm", "warps/SM", "count"), "limits.max_warps_per_sm"),
    (Column("max_blocks_per_sm", "blocks/SM", "count"), "limits.max_blocks_per_sm"),
    (Column("registers_per_sm", "registers/SM", "count"), "registers.per_sm"),
    (Column("shared_bytes_per_sm", "shared/SM", "bytes"), "shared_memory.per_sm_bytes"),
    (
        Column("max_shared_bytes_per_block", "shared/block", "bytes"),
        "shared_memory.max_per_block_optin_bytes",
    ),
    (Column("fp32_per_clock_per_sm", "FP32/clock/SM", "count"), "throughput.f32"),
    (Column("fp64_per_clock_per_sm", "FP64/clock/SM", "count"), "throughput.f64"),
    (Column("tensor_generation", "tensor cores", "count"), "tensor_core.generation"),
    (Column("first_cuda", "first CUDA"), "compilation.first_cuda"),
    (Column("last_cuda", "last CUDA"), "compilation.last_cuda"),
)


def listing(found: Sequence[Capability]) -> Document:
    rows = tuple(tuple(_plain(facts(cc).get(path)) for _, path in _LIST) for cc in found)
    return Document(tables=(Table(columns=tuple(column for column, _ in _LIST), rows=rows),))


def listing_content(found: Sequence[Capability]) -> dict[str, Any]:
    return {
        "capabilities": [
            {column.key: _plain(facts(cc).get(path)) for column, path in _LIST} for cc in found
        ]
    }


def facts_document(record: Capability | Gpu, *, with_sources: bool) -> Document:
    """One row per fact; with sources also who says so, and what was decided against whom."""
    columns = [Column("fact", "fact"), Column("value", "value")]
    if with_sources:
        columns.append(Column("source", "source"))
    rows = []
    shown = facts(record)
    if isinstance(record, Capability):
        shown["compilation.gencode"] = record.compilation.gencode
    for path, value in shown.items():
        if path == "published":  # shown with the peaks
            continue
        row: list[Any] = [path, Cell(_plain(value), _text(path, value))]
        if with_sources:
            row.append(_sources(record, path))
        rows.append(tuple(row))
    notes = [f"{path}: {reason}" for path, reason in record.unknown.items()]
    tables = [Table(columns=tuple(columns), rows=tuple(rows))]
    if with_sources and record.conflicts:
        tables.append(_conflicts(record))
    return Document(tables=tuple(tables), notes=tuple(notes))


def _sources(record: Capability | Gpu, path: str) -> str:
    parts = []
    for source in evidence(record, path):
        kind = "" if source.kind == "official" else f" [{source.kind}]"
        parts.append(f"{source.id}, {source.where}{kind}")
    return "; ".join(parts)


def _conflicts(record: Capability | Gpu) -> Table:
    return Table(
        title="Sources that disagree",
        columns=(
            Column("fact", "fact"),
            Column("chosen", "chosen"),
            Column("others", "others say"),
            Column("why", "why"),
        ),
        rows=tuple((c.fact, c.chosen, "; ".join(c.others), c.why) for c in record.conflicts),
    )


def comparison(found: Sequence[Capability], *, everything: bool) -> Document:
    columns = (
        Column("fact", "fact"),
        *(Column(str(cc.compute_capability), str(cc.compute_capability)) for cc in found),
    )
    rows = tuple(
        (path, *(Cell(_plain(value), _text(path, value)) for value in values))
        for path, values in _differences(found, everything=everything)
        if path != "features"
    )
    notes = tuple(
        f"first with {cc.compute_capability}: {'; '.join(cc.features)}"
        for cc in found
        if cc.features
    )
    return Document(tables=(Table(columns=columns, rows=rows),), notes=notes)


def comparison_content(found: Sequence[Capability], *, everything: bool) -> dict[str, Any]:
    return {
        "compute_capabilities": [str(cc.compute_capability) for cc in found],
        "facts": {
            path: [_plain(value) for value in values]
            for path, values in _differences(found, everything=everything)
        },
    }


def _differences(found: Sequence[Capability], *, everything: bool) -> list[tuple[str, list[Any]]]:
    each = [facts(cc) for cc in found]
    # one capability may lack a part (tensor_core) that another has facts about
    paths = dict.fromkeys(path for one in each for path in one)
    rows = [(path, [one.get(path) for one in each]) for path in paths]
    return [row for row in rows if everything or any(value != row[1][0] for value in row[1])]


def capability_content(record: Capability) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in facts(record).items():
        *parents, name = path.split(".")
        level = nested
        for parent in parents:
            level = level.setdefault(parent, {})
        level[name] = _plain(value)
    nested["compilation"]["gencode"] = list(record.compilation.gencode)
    return {**nested, **apparatus(record)}


def apparatus(record: Capability | Gpu) -> dict[str, Any]:
    """What stands beside the facts: why some are missing, who says the others, who disagrees."""
    return {
        "unknown": dict(record.unknown),
        "sources": [asdict(source) for source in record.sources],
        "conflicts": [asdict(conflict) for conflict in record.conflicts],
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, tuple):
        if hasattr(value, "major"):
            return str(value)
        if hasattr(value, "_asdict"):
            return value._asdict()
        return [_plain(item) for item in value]
    return value


#: ending of a field's name -> how its value reads
_ENDINGS: Final[tuple[tuple[str, Unit], ...]] = (
    ("_bytes_per_s", "bandwidth"),
    ("_bytes", "bytes"),
    ("_hz", "hertz"),
)


def _text(path: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple) and not hasattr(value, "major"):
        return ", ".join(_item(path, item) for item in value) or "-"
    return _item(path, value)


def _item(path: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    unit = next((unit for ending, unit in _ENDINGS if path.endswith(ending)), None)
    return Column("", "", unit).text(value) if unit else str(value)


def audit_document(files: int, findings: Sequence[Finding]) -> Document:
    columns = (Column("where", "where"), Column("rule", "rule"), Column("message", "message"))
    rows = tuple((finding.where, finding.rule, finding.message) for finding in findings)
    return Document(
        tables=(Table(columns=columns, rows=rows),),
        notes=(f"{files} files read, {len(rows)} findings",),
    )


def audit_content(files: int, findings: Sequence[Finding]) -> dict[str, Any]:
    return {"files": files, "findings": [asdict(finding) for finding in findings]}
