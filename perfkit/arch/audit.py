"""Every rule of the database over every file, all findings at once.

``schema`` says what one file must be; here are the rules that need several. A directory is audited
on its own, so a user's overlay is held to the same rules; what it does not have itself it may take
from the shipped database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.arch import load, naming
from perfkit.arch.database import Database, Finding, audited_files, capabilities_of, read
from perfkit.arch.peaks import derived, published_key
from perfkit.arch.references import broken, unknown_sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from perfkit.arch.types import PublishedPeak

__all__ = ["PEAK_TOLERANCE", "Finding", "audit", "audited_files"]

#: how far a published peak may be from SMs x rate x clock without a word about it
PEAK_TOLERANCE: Final = 0.01

_NOT_DATA: Final = frozenset({"README.md"})


def audit(directory: Path) -> tuple[Finding, ...]:
    """Check a whole database or overlay; an empty tuple means that nothing is wrong.

    A file that breaks the schema yields what is wrong with it and is left out of the rules that
    need all of it.
    """
    files = audited_files(directory)
    if not files and not load.misplaced(directory):
        message = f"no database: neither {load.CAPABILITIES}/*.yaml nor {load.GPUS}/*.yaml"
        return (Finding(where=str(directory), rule="empty", message=message),)
    own, findings = read(directory)
    shipped = load.shipped()
    base = own if directory.resolve() == shipped.resolve() else read(shipped)[0]
    for rule in (_stray_files, _breaches, _sourced_unknowns):
        findings += rule(own)
    for cross_rule in (_references, _unused_sources, _peaks, naming.findings, _chips):
        findings += cross_rule(own, base)
    return tuple(findings)


# -- one rule each ------------------------------------------------------------------------------


def _stray_files(own: Database) -> Iterator[Finding]:
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


def _breaches(own: Database) -> Iterator[Finding]:
    for parsed in own.records():
        for breach in parsed.breaches:
            where = parsed.where(breach.fact)
            yield Finding(where=where, rule="file", message=parsed.text(breach))


def _sourced_unknowns(own: Database) -> Iterator[Finding]:
    """Of a fact that nobody knows no source can say anything; a copied file is apt to."""
    for parsed in own.records():
        for i, row in enumerate(parsed.built.sources):
            for fact in row.facts:
                if fact in parsed.built.unknown:
                    where = parsed.where(f"sources[{i}]")
                    message = f"{fact} is unknown, and a source is listed for it: leave out one"
                    yield Finding(where=where, rule="evidence", message=message)


def _references(own: Database, base: Database) -> Iterator[Finding]:
    """What is named in another file must be there."""
    known = {*own.sources, *base.sources}
    capabilities = capabilities_of(own, base)
    for parsed in own.gpus:
        for fact, rule, message in broken(
            parsed.built, capabilities.get(parsed.built.compute_capability)
        ):
            yield Finding(where=parsed.where(fact), rule=rule, message=message)
    for record in own.records():
        for fact, rule, message in unknown_sources(record.built, known):
            yield Finding(where=record.where(fact), rule=rule, message=message)


def _unused_sources(own: Database, _: Database) -> Iterator[Finding]:
    """Only if every file could be read: a broken one may be what uses the source."""
    if not own.complete:
        return
    used = {row.id for parsed in own.records() for row in parsed.built.sources}
    for parsed in own.records():
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


def _peaks(own: Database, base: Database) -> Iterator[Finding]:
    """A published peak is what SMs x rate x clock give, or says which of the two counts."""
    known = capabilities_of(own, base)
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


def _chips(own: Database, base: Database) -> Iterator[Finding]:
    """What an error about a chip offers must be there to type."""
    for chip, (keys, line) in own.chips.items():
        for key in keys:
            if key not in own.keys | base.keys:
                yield Finding(
                    where=own.line(load.CHIPS, line),
                    rule="chip",
                    message=f"{chip!r} lists {key!r}, which is no product",
                )
