"""The database -> documents and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from perfkit.arch.catalog import aliases_of
from perfkit.arch.facts import evidence, facts, kinds
from perfkit.arch.peaks import published_key
from perfkit.arch.types import Capability, Gpu, PublishedPeak
from perfkit.kernel import DType
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.units import format_bytes

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


def document(record: Capability, product: Gpu | None, *, with_sources: bool) -> Document:
    """One capability; ``product`` is what was asked for, if it was one."""
    found = facts_document(record, with_sources=with_sources)
    if product is None:
        return found
    asked = (
        f"{product.key} is a product; this is its compute capability, {record.compute_capability}"
    )
    return replace(found, notes=(f"{asked}: see also perfkit gpu show {product.key}", *found.notes))


def facts_document(record: Capability | Gpu, *, with_sources: bool) -> Document:
    """One row per fact; with sources also who says so, and what was decided against whom."""
    columns = [Column("fact", "fact"), Column("value", "value")]
    if with_sources:
        columns.append(Column("source", "source"))
    rows: list[tuple[Any, ...]] = []
    shown: list[tuple[Any, ...]] = []
    for path, value in _shown(record, with_sources=with_sources).items():
        # a section of the sources may hold facts that nobody knows
        source = (_sources(record, path) if value is not None else "",) if with_sources else ()
        rows.append((path, _plain(value), *source))
        first, *more = _lines(path, value)
        shown.append((label(path), first, *source))
        shown += [("", line, *("" for _ in source)) for line in more]
    notes = [f"{label(path)}: {reason}" for path, reason in record.unknown.items()]
    table = Table(columns=tuple(columns), rows=tuple(shown))
    return Document(
        tables=(table, _conflicts(record)) if with_sources and record.conflicts else (table,),
        notes=(*notes, *_doubts(record, with_sources=with_sources)),
        flat=replace(table, rows=tuple(rows)),
    )


def _shown(record: Capability | Gpu, *, with_sources: bool) -> dict[str, Any]:
    found = facts(record)
    if isinstance(record, Capability):
        return {**found, "compilation.gencode": record.compilation.gencode}
    del found["published"]  # shown with the peaks, which have no room for who says so
    if with_sources:
        for row in record.published:
            found[f"published.{'/'.join(published_key(row))}"] = row
    names = {name: found.pop(name) for name in ("key", "name")}
    aliases = aliases_of(record.key)
    return {**names, **({"aliases": aliases} if aliases else {}), **found}


def _sources(record: Capability | Gpu, path: str) -> str:
    """Who says so: ``id, place [kind: how]``."""
    parts = []
    for source in evidence(record, path):
        how = [] if source.kind == "official" else [source.kind]
        how += [source.note] if source.note else []
        parts.append(f"{source.id}, {source.where}" + (f" [{': '.join(how)}]" if how else ""))
    return "; ".join(parts)


def _doubts(record: Capability | Gpu, *, with_sources: bool) -> list[str]:
    """How much of it nobody vouches for."""
    found = kinds(record)
    weak = sum(kind in {"estimated", "assumed"} for kind in found.values())
    if not weak:
        return []
    where = "" if with_sources else ": --sources shows which"
    are = "is" if weak == 1 else "are"
    return [f"{weak} of {len(found)} facts {are} estimated or assumed{where}"]


def _conflicts(record: Capability | Gpu) -> Table:
    return Table(
        title="Sources that disagree",
        columns=(
            Column("fact", "fact"),
            Column("chosen", "chosen"),
            Column("others", "others say"),
            Column("why", "why"),
        ),
        rows=tuple(
            (Cell(c.fact, label(c.fact)), c.chosen, "; ".join(c.others), c.why)
            for c in record.conflicts
        ),
    )


def comparison(found: Sequence[Capability], *, everything: bool) -> Document:
    columns = (
        Column("fact", "fact"),
        *(Column(str(cc.compute_capability), str(cc.compute_capability)) for cc in found),
    )
    rows = tuple(
        (Cell(path, label(path)), *(Cell(_plain(value), _text(path, value)) for value in values))
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
    if isinstance(value, PublishedPeak):
        return value.tflops
    if isinstance(value, tuple):
        if hasattr(value, "major"):
            return str(value)
        if hasattr(value, "_asdict"):
            return value._asdict()
        return [_plain(item) for item in value]
    return value


#: ending of a field's name -> how its value reads
_ENDINGS: Final[dict[str, Callable[[Any], str]]] = {
    "_bytes_per_s": lambda value: Column("", "", "bandwidth").text(value),
    "_bytes_per_clock": lambda value: f"{value} B/clock",
    "_cycles": lambda value: f"{value} cycles",
    "_bytes": format_bytes,
    "_hz": lambda value: Column("", "", "hertz").text(value),
    "_gib": lambda value: f"{value:g} GiB",
    "_w": lambda value: f"{value} W",
}
_INTEGERS: Final = frozenset({DType.S4, DType.S8, DType.S32})
#: a list of words that is longer has one line per word
_LINE: Final = 60


def label(path: str) -> str:
    """A fact as people read it: the unit stands with the value, ``boost_clock  1755 MHz``.

    >>> label("memory.bandwidth_bytes_per_s"), label("limits.warp_size")
    ('memory.bandwidth', 'limits.warp_size')
    """
    return path.removesuffix(_ending(path))


def per_s(dtype: DType) -> str:
    """What a peak is counted in: integers are no floating point."""
    return "TOP/s" if dtype in _INTEGERS else "TFLOP/s"


def _ending(path: str) -> str:
    return next((ending for ending in _ENDINGS if path.endswith(ending)), "")


def _lines(path: str, value: Any) -> list[str]:
    text = _text(path, value)
    is_words = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return list(value) if is_words and len(text) > _LINE else [text]


def _text(path: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple) and not hasattr(value, "major"):
        return ", ".join(_item(path, item) for item in value) or "-"
    return _item(path, value)


def _item(path: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, PublishedPeak):
        return f"{value.tflops:g} {per_s(value.dtype)}"
    return _ENDINGS.get(_ending(path), str)(value)


def audit_document(files: int, findings: Sequence[Finding]) -> Document:
    columns = (Column("where", "where"), Column("rule", "rule"), Column("message", "message"))
    rows = tuple((finding.where, finding.rule, finding.message) for finding in findings)
    return Document(
        tables=(Table(columns=columns, rows=rows),),
        notes=(f"{files} files read, {len(rows)} findings",),
    )


def audit_content(files: int, findings: Sequence[Finding]) -> dict[str, Any]:
    return {"files": files, "findings": [asdict(finding) for finding in findings]}
