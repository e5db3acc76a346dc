"""Files of the database -> the dataclasses of ``types``, which are the schema.

Beyond what ``builder`` checks of every field: ``null`` needs a reason under ``unknown`` (but see
``ABSENT``), every other fact needs a source, and the values of a file must fit together
(``rules``). A breach raises ``ArchDataError`` with ``file:line``, and carries the others.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, Generic, NoReturn, TypeVar

from perfkit.arch.builder import Place, Record, build, dtype
from perfkit.arch.nodes import Source
from perfkit.arch.rules import Breach, capability_breaches, gpu_breaches
from perfkit.arch.types import (
    NO_TENSOR_CORES,
    Bibliography,
    Capability,
    Conflict,
    Evidence,
    Gpu,
    PublishedPeak,
    TensorRate,
)
from perfkit.errors import ArchDataError
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import yaml

    from perfkit.arch.builder import Special

#: fields whose ``None`` says something known, so that a file need not give the reason
ABSENT: Final[dict[str, str]] = {
    "limits.block_barriers_per_sm": "named barriers do not limit occupancy",
    "limits.virtual_resources_per_sm": "this resource does not exist",
    "registers.compatibility_sub_partitions": "no second rule applies",
    "shared_memory.carveout_evidence": "shared memory is dedicated",
    "l1.unified_with_shared_bytes": "L1 and shared memory are separate",
    "l1.dedicated_bytes": "L1 is what shared memory leaves",
    "tensor_core": "no tensor cores",
    "cluster": "no thread block clusters",
    "cluster.max_blocks_per_sm": "not known to differ from other launches",
    "memory.l2_read_bytes_per_clock": "data sheets do not give it",
    "cluster_sm_groups": "not measured; cards of one product differ",
    "compilation.last_cuda": "current toolkits compile it",
    "tensor_clock_hz": "tensor work runs at the boost clock",
    "latency": "nobody measured it",
    **{f"latency.{n}_cycles": "nobody measured it" for n in ("shared", "l1", "l2", "dram")},
}

SCHEMA_VERSION: Final = 1

#: what a thing is called, and a summary in words: no facts that need a source
_UNSOURCED: Final = frozenset({"name", "compute_capability", "architecture", "segment", "features"})

T = TypeVar("T", Capability, Gpu)
Row = TypeVar("Row")


@record
class Parsed(Generic[T]):
    """A file that could be read, and what in it does not fit together."""

    record: Record
    built: T
    breaches: tuple[Breach, ...]

    def where(self, fact: str) -> str:
        """The ``file:line`` of a fact."""
        return self.record.source.at(self.record.nodes.get(fact))

    def text(self, breach: Breach) -> str:
        """A breach as it is printed, the fact as the file spells it."""
        return f"{self.record.spelling(breach.fact)}: {breach.message}"

    def fail(self, breach: Breach) -> NoReturn:
        raise ArchDataError(
            self.text(breach), where=self.where(breach.fact), hint=breach.hint or None
        )


def read_capability(path: Path) -> Capability:
    """Read one file of ``archdb/compute_capability``, named like ``sm_90.yaml``.

    Raises:
        ArchDataError: any breach of the schema; ``where`` is ``file:line``.
    """
    return _refuse(parse_capability(path))


def read_gpu(path: Path) -> Gpu:
    """Read one file of ``archdb/gpu``; its name without ``.yaml`` is the product's key.

    Raises:
        ArchDataError: any breach of the schema; ``where`` is ``file:line``.
    """
    return _refuse(parse_gpu(path))


def parse_capability(path: Path) -> Parsed[Capability]:
    """As ``read_capability``, but what does not fit together is returned rather than raised."""
    record, built = _read(path, Capability)
    breaches = [*_unexplained(record, built), *_unsourced(record, built)]
    sm = built.compute_capability.sm
    if path.stem != sm:
        breaches.append(Breach("compute_capability", f"belongs in a file named {sm}.yaml"))
    breaches += capability_breaches(built)
    return Parsed(record=record, built=built, breaches=tuple(breaches))


def parse_gpu(path: Path) -> Parsed[Gpu]:
    """As ``read_gpu``, but what does not fit together is returned rather than raised."""
    record, built = _read(path, Gpu, key=path.stem)
    breaches = (*_unexplained(record, built), *_unsourced(record, built), *gpu_breaches(built))
    return Parsed(record=record, built=built, breaches=breaches)


def read_aliases(path: Path) -> dict[str, tuple[str, int]]:
    """Read ``aliases.yaml``: alias -> (product key, line).

    Raises:
        ArchDataError: not a mapping of text to text, or a duplicate; ``where`` is ``file:line``.
    """
    source = Source(path)
    return {
        name: (source.string(node, name), key.start_mark.line + 1)
        for name, (key, node) in source.mapping(source.root, "").items()
    }


def read_chips(path: Path) -> dict[str, tuple[tuple[str, ...], int]]:
    """Read ``chips.yaml``: chip -> (keys of the products that carry it, line).

    Raises:
        ArchDataError: not a mapping of text to lists of text; ``where`` is ``file:line``.
    """
    source = Source(path)
    found = {}
    for name, (key, node) in source.mapping(source.root, "").items():
        keys = tuple(source.string(part, name) for part in source.sequence(node, name))
        found[name] = (keys, key.start_mark.line + 1)
    return found


def read_sources(path: Path) -> dict[str, tuple[Bibliography, int]]:
    """Read ``sources.yaml``: id -> (entry, line).

    Raises:
        ArchDataError: any breach of the schema; ``where`` is ``file:line``.
    """
    record = Record(Source(path), {})
    found = {}
    for name, (key, node) in record.source.mapping(record.source.root, "").items():
        entry = build(record, Bibliography, node, Place(name, name))
        if entry is not None:
            found[name] = (entry, key.start_mark.line + 1)
    record.settle()
    return found


def _read(path: Path, cls: type[T], **given: str) -> tuple[Record, T]:
    source = Source(path)
    entries = source.mapping(source.root, "")
    if "schema" in entries:
        node = entries["schema"][1]
        version = source.whole(node, "schema")
        if version != SCHEMA_VERSION:
            hint = f"this perfkit reads version {SCHEMA_VERSION}"
            source.fail(node, f"schema: version {version!r} is not supported", hint)
    record = Record(source, _SPECIAL)
    built = build(record, cls, source.root, given=given, skip=frozenset({"schema"}))
    record.settle()
    if built is None:
        raise AssertionError("nothing was built, and nothing was wrong")
    return record, built


def _refuse(parsed: Parsed[T]) -> T:
    for breach in parsed.breaches:
        parsed.fail(breach)
    return parsed.built


def _unexplained(record: Record, built: Capability | Gpu) -> Iterable[Breach]:
    for fact in record.nulls:
        if fact not in built.unknown and fact not in ABSENT:
            yield Breach(fact, "null without a reason", "say why in an entry of unknown:")


def _unsourced(record: Record, built: Capability | Gpu) -> Iterable[Breach]:
    sourced = {fact for row in built.sources for fact in row.facts} | _UNSOURCED
    for fact in record.facts:
        prefix = fact
        while prefix and prefix not in sourced:
            prefix = prefix.rpartition(".")[0]
        if not prefix:
            yield Breach(fact, "no source", "list it under facts: in an entry of sources:")


# -- parts of a file that are no plain mapping of fields ------------------------------------------


def _rates(record: Record, node: yaml.Node, place: Place) -> tuple[TensorRate, ...]:
    """``{class: {operand/accumulator: FMA per clock per SM}}``; each rate is a fact."""
    source = record.source
    rates: list[TensorRate] = []
    for name, (name_node, row) in source.mapping(node, place.path).items():
        if name == NO_TENSOR_CORES or not name.isidentifier():
            source.fail(name_node, f"{place.path}: {name!r} cannot name a rate class")
        class_place = place.child(name, name)
        record.note(class_place, row)
        for pair, (pair_node, value) in source.mapping(row, class_place.path).items():
            at = class_place.child(pair, pair)
            record.note(at, value)
            record.facts.append(at.fact)
            operand, slash, accumulator = pair.partition("/")
            if not slash:
                source.fail(pair_node, f"{at.path}: {pair!r} is not operand/accumulator")
            types = [dtype(source, pair_node, at.path, part) for part in (operand, accumulator)]
            rate = source.whole(value, at.path)
            if not rate:
                source.fail(value, f"{at.path}: must be more than 0, got {value.value!r}")
            rates.append(TensorRate(name, types[0], types[1], rate))
    if not rates:
        source.fail(node, f"{place.path}: no rate is given")
    return tuple(rates)


def _published(record: Record, node: yaml.Node, place: Place) -> tuple[PublishedPeak, ...]:
    """A list of rows; each is a fact, called ``published.f16/f32/dense/tensor``."""

    def read(part: yaml.Node, row_place: Place) -> PublishedPeak | None:
        row = build(record, PublishedPeak, part, row_place)
        if row is None:
            return None
        name = "/".join((row.dtype, row.accumulate, row.sparsity, row.unit))
        at = place.child(name, name)
        if at.fact in record.nodes:
            record.source.fail(part, f"{row_place.path}: a second row for {name!r}")
        if (row.use is None) != (row.note is None):
            record.source.fail(part, f"{row_place.path}: use and note go together")
        record.note(at, part)
        record.facts.append(at.fact)
        return row

    return _rows(record, node, place, read)


def _unknown(record: Record, node: yaml.Node, place: Place) -> dict[str, str]:
    reasons = {}
    for name, (key_node, value) in record.source.mapping(node, place.path).items():
        fact = record.fact_named(key_node, place.path)
        if fact not in record.nulls and not record.problems:
            message = f"{place.path}: {name!r} is not null, so it needs no reason"
            record.source.fail(key_node, message)
        reasons[fact] = record.source.string(value, f"{place.path}.{name}")
    return reasons


def _evidence(record: Record, node: yaml.Node, place: Place) -> tuple[Evidence, ...]:
    def read(part: yaml.Node, row_place: Place) -> Evidence | None:
        row = build(record, Evidence, part, row_place)
        record.nodes[row_place.fact] = part
        if row is not None and row.kind != "official" and row.note is None:
            record.source.fail(part, f"{row_place.path}: kind {row.kind!r} needs a note")
        return row

    return _rows(record, node, place, read)


def _conflicts(record: Record, node: yaml.Node, place: Place) -> tuple[Conflict, ...]:
    return _rows(record, node, place, lambda part, at: build(record, Conflict, part, at))


def _rows(
    record: Record, node: yaml.Node, place: Place, read: Callable[[yaml.Node, Place], Row | None]
) -> tuple[Row, ...]:
    """Every entry of a list that can be read."""
    found = []
    for i, part in enumerate(record.source.sequence(node, place.path)):
        at = Place(f"{place.path}[{i}]", f"{place.fact}[{i}]")
        row = record.attempt(functools.partial(read, part, at))
        if row is not None:
            found.append(row)
    return tuple(found)


_SPECIAL: Final[dict[str, Special]] = {
    "tuple[TensorRate, ...]": _rates,
    "tuple[PublishedPeak, ...]": _published,
    "dict[str, str]": _unknown,
    "tuple[Evidence, ...]": _evidence,
    "tuple[Conflict, ...]": _conflicts,
}
