"""From YAML nodes to dataclasses, driven by the annotations of the dataclasses themselves.

A key is the field's name, with a unit of ``units.KEY_UNITS`` in place of the SI one. Every field
without a default must be there, and nothing else. Reading goes on after a breach, so that one run
reports what is wrong everywhere; ``Record.settle`` then raises ``ArchDataError``.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from perfkit.arch import latencies, types
from perfkit.arch.facts import APPARATUS
from perfkit.arch.nodes import Source, join, nearest, prefixed
from perfkit.arch.types import ComputeCapability
from perfkit.errors import ArchDataError, UsageError
from perfkit.kernel import DType
from perfkit.units import KEY_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable

    import yaml

    from perfkit.arch.nodes import Entry

    Special = Callable[["Record", yaml.Node, "Place"], Any]

#: parts of a fact, or facts about facts
_ROWS: Final = frozenset({"Evidence", "Conflict", "PublishedPeak", "Bibliography"})
_PATHS: Final = frozenset({("Evidence", "facts"), ("Conflict", "fact")})
_MAY_BE_ZERO: Final = frozenset({"reserved_per_block_bytes", "capacities_bytes"})
_CHOICES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("Evidence", "kind"): types.KINDS,
    ("PublishedPeak", "sparsity"): ("dense", "sparse"),
    ("PublishedPeak", "unit"): ("simt", "tensor"),
    ("PublishedPeak", "use"): ("derived", "published"),
    ("SharedMemory", "carveout_evidence"): ("measured", "assumed"),
    ("Gpu", "segment"): ("data-center", "workstation", "geforce", "embedded"),
}
_NESTED: Final[dict[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (
        types.SmLimits,
        types.RegisterFile,
        types.SharedMemory,
        types.L1Cache,
        types.Throughput,
        types.TensorCore,
        types.ClusterLimits,
        types.Compilation,
        types.Memory,
        latencies.SmLatency,
        latencies.MemoryLatency,
    )
}

T = TypeVar("T")


class Place(NamedTuple):
    """Where a value is: in the file (``memory.l2_mib``) and in Python (``memory.l2_bytes``)."""

    path: str = ""
    fact: str = ""

    def child(self, key: str, name: str) -> Place:
        return Place(join(self.path, key), join(self.fact, name))


TOP: Final = Place()


class _Field(NamedTuple):
    owner: str  #: the dataclass
    name: str
    type: str  #: as annotated, without `` | None``
    optional: bool
    required: bool
    keys: dict[str, int]  #: spelling in the file -> factor to the SI unit

    @property
    def is_fact(self) -> bool:
        return self.owner not in _ROWS and self.name not in APPARATUS


@dataclasses.dataclass(slots=True)
class Record:
    """A file while it is read: which facts it states, and in which line."""

    source: Source
    special: dict[str, Special]  #: annotation -> reader, for what is no plain mapping of fields
    nodes: dict[str, yaml.Node] = dataclasses.field(default_factory=dict)  #: by fact
    spelled: dict[str, str] = dataclasses.field(default_factory=dict)  #: path in the file -> fact
    facts: list[str] = dataclasses.field(default_factory=list)  #: those that have a value
    nulls: list[str] = dataclasses.field(default_factory=list)
    problems: list[ArchDataError] = dataclasses.field(default_factory=list)

    def attempt(self, read: Callable[[], T]) -> T | None:
        """What ``read`` returns; None where it is a breach, which is then kept for ``settle``."""
        try:
            return read()
        except ArchDataError as error:
            self.problems.append(error)
            return None

    def settle(self) -> None:
        """Raise the first breach, with the others in it, if there is any."""
        if self.problems:
            first, *others = self.problems
            first.others = tuple(others)
            raise first

    def note(self, place: Place, node: yaml.Node) -> None:
        self.nodes[place.fact] = node
        self.spelled[place.path] = place.fact

    def spelling(self, fact: str) -> str:
        """A fact's path as the file spells it."""
        return next((path for path, name in self.spelled.items() if name == fact), fact)

    def fact_named(self, node: yaml.Node, where: str) -> str:
        """The fact whose path in the file is written in ``node``."""
        path = self.source.string(node, where)
        if path not in self.spelled and self.problems:
            return path  # it may be what could not be read
        if path not in self.spelled:
            near = nearest(path, self.spelled)
            hint = f"nearest: {near[0]}" if near else None
            self.source.fail(node, f"{where}: {path!r} names no fact of this file", hint)
        return self.spelled[path]


def build(
    record: Record,
    cls: type[T],
    node: yaml.Node,
    place: Place = TOP,
    *,
    given: dict[str, str] | None = None,
    skip: frozenset[str] = frozenset(),
) -> T | None:
    """Build one dataclass from a mapping; None where that fails: ``record.problems`` says why.

    ``given`` are fields; ``skip`` are keys that must be there and are read elsewhere. Fields are
    read in the order of the dataclass, so that evidence comes after the facts it names.
    """
    values: dict[str, Any] = dict(given or {})
    kind: Any = cls
    fields = [field for field in _fields(kind) if field.name not in values]
    before = len(record.problems)
    entries = record.attempt(lambda: record.source.mapping(node, place.path))
    if entries is None:
        return None
    present = _match(record, entries, fields, place.path)
    record.attempt(lambda: _complete(record.source, node, entries, fields, place.path, skip))
    for field in fields:
        if field.name in present:
            key = present[field.name]
            at = place.child(key, field.name)
            values[field.name] = record.attempt(
                functools.partial(_value, record, field, entries[key][1], at, field.keys[key])
            )
    return cls(**values) if len(record.problems) == before else None


def _match(
    record: Record,
    entries: dict[str, Entry],
    fields: list[_Field],
    path: str,
) -> dict[str, str]:
    """Which key gives which field: field -> key."""
    by_key = {key: field.name for field in fields for key in field.keys}
    present: dict[str, str] = {}
    for key in entries:
        if key in by_key:
            other = present.setdefault(by_key[key], key)
            if other != key:
                message = f"{path}: {key!r} and {other!r} are the same fact"
                record.attempt(functools.partial(record.source.fail, entries[key][0], message))
    return present


def _complete(
    source: Source,
    node: yaml.Node,
    entries: dict[str, Entry],
    fields: list[_Field],
    path: str,
    skip: frozenset[str],
) -> None:
    """All keys that are too many or too few, in one message."""
    known = [key for field in fields for key in field.keys] + sorted(skip)
    unknown = [key for key in entries if key not in known]
    missing = [key for key in sorted(skip) if key not in entries]
    missing += [
        " or ".join(key for key in field.keys if key != field.name) or field.name
        for field in fields
        if field.required and not entries.keys() & field.keys.keys()
    ]
    parts = [_keys("unknown", [repr(key) for key in unknown]), _keys("missing", missing)]
    message = "; ".join(part for part in parts if part)
    if not message:
        return
    near = [found[0] for key in unknown if (found := nearest(key, known))]
    hint = None
    if unknown:
        hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(known)}"
    source.fail(entries[unknown[0]][0] if unknown else node, prefixed(path, message), hint)


def _keys(what: str, names: list[str]) -> str:
    return f"{what} key{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""


@functools.cache
def _fields(cls: Any) -> tuple[_Field, ...]:
    fields = []
    for field in dataclasses.fields(cls):
        annotation = str(field.type)
        base = annotation.removesuffix(" | None")
        keys = {field.name: 1}
        for suffix, (si_suffix, factor) in KEY_UNITS.items():
            if field.name.endswith(si_suffix):
                keys[field.name.removesuffix(si_suffix) + suffix] = factor
        required = field.default is dataclasses.MISSING
        fields.append(_Field(cls.__name__, field.name, base, base != annotation, required, keys))
    return tuple(fields)


def _value(record: Record, field: _Field, node: yaml.Node, place: Place, factor: int) -> Any:
    source = record.source
    if field.is_fact:
        record.note(place, node)
    if source.is_null(node, place.path):
        if not field.optional:
            source.fail(node, f"{place.path}: null, but this has to be known")
        if field.is_fact:
            record.nulls.append(place.fact)
        return None
    if field.type in _NESTED:
        return build(record, _NESTED[field.type], node, place)
    if field.type in record.special:
        return record.special[field.type](record, node, place)
    if field.is_fact:
        record.facts.append(place.fact)
    if not field.type.startswith("tuple["):
        return _scalar(record, field, node, place.path, factor)
    item = field._replace(type=field.type.removeprefix("tuple[").removesuffix(", ...]"))
    parts = source.sequence(node, place.path)
    if not parts and field.name != "features":
        source.fail(node, f"{place.path}: the list is empty")
    return tuple(
        _scalar(record, item, part, f"{place.path}[{i}]", factor) for i, part in enumerate(parts)
    )


def _scalar(
    record: Record, field: _Field, node: yaml.Node, path: str, factor: int
) -> int | float | bool | str | ComputeCapability:
    source = record.source
    if field.type == "bool":
        return source.boolean(node, path)
    if field.type in {"int", "float"}:
        whole = field.type == "int"
        value = source.whole(node, path, factor) if whole else source.number(node, path)
        if not value and field.name not in _MAY_BE_ZERO:
            source.fail(node, f"{path}: must be more than 0, got {node.value!r}")
        return value
    if (field.owner, field.name) in _PATHS:
        return record.fact_named(node, path)
    text = source.string(node, path)
    if field.type == "DType":
        return dtype(source, node, path, text)
    if field.type == "ComputeCapability":
        return _capability(source, node, path, text)
    choices = _CHOICES.get((field.owner, field.name))
    if choices and text not in choices:
        source.fail(node, f"{path}: {text!r} is not one of {', '.join(choices)}")
    return text


def dtype(source: Source, node: yaml.Node, path: str, text: str) -> DType:
    """A data type by its own name: the aliases that people type are not for files."""
    if text not in set(DType):
        source.fail(node, f"{path}: {text!r} is not one of {', '.join(DType)}")
    return DType(text)


def _capability(source: Source, node: yaml.Node, path: str, text: str) -> ComputeCapability:
    try:
        capability = ComputeCapability.parse(text)
    except UsageError as error:
        source.fail(node, f"{path}: {error.message}", 'write it as "9.0"')
    if str(capability) != text:
        source.fail(node, f"{path}: {text!r} should be written {str(capability)!r}")
    return capability
