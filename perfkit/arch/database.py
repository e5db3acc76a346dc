"""A directory of the database as the audit sees it: what could be read, and what could not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfkit.arch import load, schema
from perfkit.errors import ArchDataError
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from perfkit.arch.schema import Parsed
    from perfkit.arch.types import Bibliography, Capability, ComputeCapability, Gpu


@record
class Finding:
    where: str  #: ``file:line``, or a file or directory
    rule: str
    message: str


@dataclass(slots=True, kw_only=True)
class Database:
    """What of a directory could be read."""

    directory: Path
    capabilities: list[Parsed[Capability]] = field(default_factory=list)
    gpus: list[Parsed[Gpu]] = field(default_factory=list)
    aliases: dict[str, tuple[str, int]] = field(default_factory=dict)
    chips: dict[str, tuple[tuple[str, ...], int]] = field(default_factory=dict)
    sources: dict[str, tuple[Bibliography, int]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)  #: of all products, also those that cannot be read
    complete: bool = True  #: every file could be read

    def line(self, name: str, line: int) -> str:
        return f"{self.directory / name}:{line}"

    def records(self) -> Iterator[Parsed[Capability] | Parsed[Gpu]]:
        yield from self.capabilities
        yield from self.gpus


def capabilities_of(own: Database, base: Database) -> dict[ComputeCapability, Capability]:
    """All capabilities of both, those of ``own`` before others of the same number."""
    both = (*base.capabilities, *own.capabilities)
    return {parsed.built.compute_capability: parsed.built for parsed in both}


def audited_files(directory: Path) -> tuple[Path, ...]:
    """The files that ``read`` reads."""
    singles = [directory / name for name in (load.ALIASES, load.SOURCES, load.CHIPS)]
    folders = [directory / load.CAPABILITIES, directory / load.GPUS]
    found = [path for path in singles if path.exists()]
    for folder in folders:
        if folder.is_dir():
            found += sorted(path for path in folder.iterdir() if path.suffix == ".yaml")
    return tuple(found)


def read(directory: Path) -> tuple[Database, list[Finding]]:
    """Read all of a directory, and say of each file that cannot be read what is wrong with it."""
    database = Database(directory=directory)
    findings: list[Finding] = []
    for path in audited_files(directory):
        if path.parent.name == load.GPUS:
            database.keys.add(path.stem)
        try:
            _read_one(database, path)
        except ArchDataError as error:
            database.complete = False
            findings += [_unreadable(path, one) for one in (error, *error.others)]
    return database, findings


def _read_one(database: Database, path: Path) -> None:
    if path.parent.name == load.CAPABILITIES:
        database.capabilities.append(schema.parse_capability(path))
    elif path.parent.name == load.GPUS:
        database.gpus.append(schema.parse_gpu(path))
    elif path.name == load.ALIASES:
        database.aliases = schema.read_aliases(path)
    elif path.name == load.SOURCES:
        database.sources = schema.read_sources(path)
    else:
        database.chips = schema.read_chips(path)


def _unreadable(path: Path, error: ArchDataError) -> Finding:
    hint = f" ({error.hint})" if error.hint else ""
    return Finding(where=error.where or str(path), rule="schema", message=error.message + hint)
