"""Every rule of the database over every file, all findings at once.

``schema`` says what one file must be; here are the rules that need several. A directory is audited
on its own, so a user's overlay is held to the same rules; what it does not have itself it may take
from the shipped database.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from perfkit.arch import load, schema
from perfkit.arch.catalog import ALL, normalise
from perfkit.arch.peaks import derived, published_key
from perfkit.arch.types import NO_TENSOR_CORES, Capability, ComputeCapability, Gpu
from perfkit.errors import ArchDataError, UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from perfkit.arch.schema import Parsed
    from perfkit.arch.types import Bibliography, PublishedPeak

#: how far a published peak may be from SMs x rate x clock without a word about it
PEAK_TOLERANCE: Final = 0.01

_NOT_DATA: Final = frozenset({"README.md"})


@record
class Finding:
    where: str  #: ``file:line``, or a file or directory
    rule: str
    message: str


@dataclass(slots=True, kw_only=True)
class _Database:
    """What of a directory could be read."""

    directory: Path
    capabilities: list[Parsed[Capability]] = field(default_factory=list)
    gpus: list[Parsed[Gpu]] = field(default_factory=list)
    aliases: dict[str, tuple[str, int]] = field(default_factory=dict)
    sources: dict[str, tuple[Bibliography, int]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)  #: of all products, also those that cannot be read
    complete: bool = True  #: every file could be read

    def line(self, name: str, line: int) -> str:
        return f"{self.directory / name}:{line}"


def audited_files(directory: Path) -> tuple[Path, ...]:
    """The files that ``audit`` looks at."""
    singles = [directory / name for name in (load.ALIASES, load.SOURCES)]
    folders = [directory / load.CAPABILITIES, directory / load.GPUS]
    found = [path for path in singles if path.exists()]
    for folder in folders:
        if folder.is_dir():
            found += sorted(path for path in folder.iterdir() if path.suffix == ".yaml")
    return tuple(found)


def audit(directory: Path) -> tuple[Finding, ...]:
    """Check a whole database or overlay; an empty tuple means that nothing is wrong.

    A file that breaks the schema yields what is wrong with it and is left out of the rules that
    need all of it.
    """
    files = audited_files(directory)
    if not files and not load.misplaced(directory):
        message = f"no database: neither {load.CAPABILITIES}/*.yaml nor {load.GPUS}/*.yaml"
        return (Finding(where=str(directory), rule="empty", message=message),)
    findings: list[Finding] = []
    own = _read(directory, files, findings)
    shipped = load.shipped()
    if directory.resolve() == shipped.resolve():
        base = own
    else:
        base = _read(shipped, audited_files(shipped), [])
    for rule in (_stray_files, _breaches):
        findings += rule(own)
    for cross_rule in (_source_ids, _unused_sources, _targets, _peaks, _aliases, _names):
        findings += cross_rule(own, base)
    return tuple(findings)


def _read(directory: Path, files: tuple[Path, ...], findings: list[Finding]) -> _Database:
    database = _Database(directory=directory)
    for path in files:
        if path.parent.name == load.GPUS:
            database.keys.add(path.stem)
        try:
            if path.name == load.ALIASES and path.parent == directory:
                database.aliases = schema.read_aliases(path)
            elif path.name == load.SOURCES and path.parent == directory:
                database.sources = schema.read_sources(path)
            elif path.parent.name == load.CAPABILITIES:
                database.capabilities.append(schema.parse_capability(path))
            else:
                database.gpus.append(schema.parse_gpu(path))
        except ArchDataError as error:
            database.complete = False
            findings += [_broken(path, one) for one in (error, *error.others)]
    return database


def _broken(path: Path, error: ArchDataError) -> Finding:
    hint = f" ({error.hint})" if error.hint else ""
    return Finding(where=error.where or str(path), rule="schema", message=error.message + hint)


def _records(database: _Database) -> Iterator[Parsed[Capability] | Parsed[Gpu]]:
    yield from database.capabilities
    yield from database.gpus


# -- one rule each ------------------------------------------------------------------------------


def _stray_files(own: _Database) -> Iterator[Finding]:
    """A file that nothing reads is a fact that nobody sees."""
    for path, hint in load.misplaced(own.directory).items():
        yield Finding(where=str(path), rule="stray-file", message=f"is not read: {hint}")
    for folder in (own.directory / load.CAPABILITIES, own.directory / load.GPUS):
        if not folder.is_dir():
            continue
        for path in sorted(path for path in folder.iterdir() if not path.is_dir()):
            if path.suffix not in {".yaml", ".yml"} and path.name not in _NOT_DATA:
                yield Finding(
                    where=str(path), rule="stray-file", message="is not read: not named *.yaml"
                )
            elif path.name != path.name.lower() or " " in path.name:
                yield Finding(
                    where=str(path), rule="file-name", message="use lower case and hyphens"
                )


def _breaches(own: _Database) -> Iterator[Finding]:
    for parsed in _records(own):
        for breach in parsed.breaches:
            where = parsed.where(breach.fact)
            yield Finding(where=where, rule="file", message=parsed.text(breach))


def _source_ids(own: _Database, base: _Database) -> Iterator[Finding]:
    known = {*own.sources, *base.sources}
    for parsed in _records(own):
        for i, row in enumerate(parsed.built.sources):
            if row.id not in known:
                yield Finding(
                    where=parsed.source_line(i),
                    rule="source-id",
                    message=f"{row.id!r} is not in {load.SOURCES}",
                )


def _unused_sources(own: _Database, _: _Database) -> Iterator[Finding]:
    """Only if every file could be read: a broken one may be what uses the source."""
    if not own.complete:
        return
    used = {row.id for parsed in _records(own) for row in parsed.built.sources}
    for parsed in _records(own):
        for row in parsed.built.conflicts:
            text = " ".join((row.chosen, *row.others, row.why))
            used |= {name for name in own.sources if name in text}
    for name, (_entry, line) in own.sources.items():
        if name not in used:
            yield Finding(
                where=own.line(load.SOURCES, line),
                rule="unused-source",
                message=f"no evidence names {name!r}",
            )


def _capability_of(own: _Database, base: _Database) -> dict[ComputeCapability, Capability]:
    both = (*base.capabilities, *own.capabilities)
    return {parsed.built.compute_capability: parsed.built for parsed in both}


def _targets(own: _Database, base: _Database) -> Iterator[Finding]:
    """A product needs its capability, and tensor rates of its class there."""
    known = _capability_of(own, base)
    for parsed in own.gpus:
        gpu = parsed.built
        capability = known.get(gpu.compute_capability)
        if capability is None:
            yield Finding(
                where=parsed.where("compute_capability"),
                rule="capability",
                message=f"no file for compute capability {gpu.compute_capability}",
            )
            continue
        tensor = capability.tensor_core
        classes = {rate.rate_class for rate in tensor.rates} if tensor else set()
        if gpu.rate_class not in classes | {NO_TENSOR_CORES}:
            known_classes = ", ".join(sorted(classes | {NO_TENSOR_CORES}))
            yield Finding(
                where=parsed.where("rate_class"),
                rule="rate-class",
                message=f"{gpu.compute_capability} has no rate class {gpu.rate_class!r}, "
                f"only {known_classes}",
            )


def _peaks(own: _Database, base: _Database) -> Iterator[Finding]:
    """A published peak is what SMs x rate x clock give, or says which of the two counts."""
    known = _capability_of(own, base)
    for parsed in own.gpus:
        gpu = parsed.built
        capability = known.get(gpu.compute_capability)
        if capability is None:
            continue
        computed = derived(gpu, capability)
        for row in gpu.published:
            key = published_key(row)
            message = _peak_message(row, computed.get(key))
            if message:
                name = "/".join(key)
                where = parsed.where(f"published.{name}")
                yield Finding(where=where, rule="peak", message=f"{name}: {message}")


def _peak_message(row: PublishedPeak, computed: float | None) -> str | None:
    if computed is None:
        return "use: derived, but nothing can be derived" if row.use == "derived" else None
    deviation = row.tflops * 1e12 / computed - 1
    agrees = abs(deviation) <= PEAK_TOLERANCE
    if row.use is None and not agrees:
        return (
            f"{row.tflops} TFLOPS are {deviation:+.1%} off the derived {computed / 1e12:.5g}: "
            "say use: derived or published, and why"
        )
    if row.use is not None and agrees:
        return f"agrees with the derived {computed / 1e12:.5g}: leave out use and note"
    return None


def _aliases(own: _Database, base: _Database) -> Iterator[Finding]:
    """An alias must lead to a product, and no other name may lead somewhere else."""
    keys = own.keys | base.keys
    capabilities = _capability_of(own, base)
    meaning = {normalise(key): key for key in keys}
    meaning |= {normalise(cc.architecture): "an architecture" for cc in capabilities.values()}
    meaning[ALL] = "every capability"
    for alias, (key, line) in own.aliases.items():
        message = None
        other = meaning.setdefault(normalise(alias), key)
        if key not in keys:
            message = f"{alias!r} leads to {key!r}, which is no product"
        elif other != key:
            message = f"{alias!r} leads to {key!r}, but also means {other!r}"
        elif _reads_as(alias) in capabilities:
            message = f"{alias!r} is a compute capability already"
        if message:
            yield Finding(where=own.line(load.ALIASES, line), rule="alias", message=message)


def _reads_as(name: str) -> ComputeCapability | None:
    try:
        return ComputeCapability.parse(name)
    except UsageError:
        return None


def _names(own: _Database, _: _Database) -> Iterator[Finding]:
    """Two products of one name could not be told apart."""
    count = Counter(normalise(parsed.built.name) for parsed in own.gpus)
    for parsed in own.gpus:
        if count[normalise(parsed.built.name)] > 1:
            yield Finding(
                where=parsed.where("name"),
                rule="name",
                message=f"another product is called {parsed.built.name!r} too",
            )
