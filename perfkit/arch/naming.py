"""Names of the database: each leads somewhere, to one place, and hides no other.

A name is looked up as a word of its own (``all``, ``device``), a capability, a product's key, an
alias, an architecture, and last as a product's full name. What an overlay adds may be hidden by
what comes before it, and may hide what the shipped database has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.arch import load
from perfkit.arch.catalog import ALL, normalise
from perfkit.arch.database import Finding, capabilities_of
from perfkit.arch.types import ComputeCapability
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from perfkit.arch.database import Database
    from perfkit.arch.types import Capability

#: how a key is written; commas separate names, and dots make numbers
KEY: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_SPELLING: Final = "use lower case and hyphens, and nothing but letters and digits between them"
#: the word for the card at hand, which the command line reads before it asks the database
_DEVICE: Final = "device"
_KINDS: Final = ("key", "alias", "name")  #: of a product, as they are looked up


class _Name(NamedTuple):
    kind: str
    text: str
    key: str  #: the product that it leads to
    where: str
    own: bool  #: of the directory that is audited, not of the shipped database below it


def findings(own: Database, base: Database) -> Iterator[Finding]:
    """What is wrong with the keys, aliases and names of ``own``."""
    names = [*_names(own, own=True)]
    below = [] if base is own else [*_names(base, own=False)]
    meanings: dict[str, list[_Name]] = {}
    for name in (*names, *(name for name in below if _visible(name, own))):
        meanings.setdefault(normalise(name.text), []).append(name)
    capabilities = capabilities_of(own, base)
    reserved = _reserved(capabilities.values())
    for name in names:
        spelled = normalise(name.text)
        others = (_of(one) for one in meanings[spelled] if _clash(name, one))
        other = reserved.get(spelled) or next(others, None)
        message = None
        if name.key not in own.keys | base.keys:
            message = f"leads to {name.key!r}, which is no product"
        elif _number(name.text) in capabilities:
            message = "is a compute capability already"
        elif other:
            message = f"leads to {name.key!r}, but also means {other}"
        if message:
            text = f"{name.text!r} {message}"
            yield Finding(where=name.where, rule=name.kind, message=text)
    yield from _misspelt(own)


def _reserved(capabilities: Iterable[Capability]) -> dict[str, str]:
    """Words that are looked up before any product's alias or name."""
    architectures = [cc.architecture for cc in capabilities]
    words = (*architectures, *(name.split()[0] for name in architectures))
    return {
        **{normalise(word): "an architecture" for word in words},
        ALL: "every capability",
        _DEVICE: "the card at hand",
    }


def _misspelt(own: Database) -> Iterator[Finding]:
    for key in sorted(own.keys):
        if not KEY.fullmatch(key):
            where = str(own.directory / load.GPUS / f"{key}.yaml")
            yield Finding(where=where, rule="file-name", message=_SPELLING)


def _names(database: Database, *, own: bool) -> Iterator[_Name]:
    for key in sorted(database.keys):
        where = str(database.directory / load.GPUS / f"{key}.yaml")
        yield _Name("key", key, key, where, own)
    for alias, (key, line) in database.aliases.items():
        yield _Name("alias", alias, key, database.line(load.ALIASES, line), own)
    for parsed in database.gpus:
        yield _Name("name", parsed.built.name, parsed.built.key, parsed.where("name"), own)


def _visible(name: _Name, own: Database) -> bool:
    """Whether a shipped name is still there: a file of the same name takes its place."""
    return name.kind != "name" or name.key not in own.keys


def _clash(name: _Name, other: _Name) -> bool:
    """Whether ``other`` leads elsewhere, and hides ``name`` or is shipped and hidden by it."""
    earlier = _KINDS.index(other.kind) <= _KINDS.index(name.kind)
    return other.key != name.key and (earlier or not other.own)


def _of(other: _Name) -> str:
    return repr(other.key) if other.kind == "key" else f"{other.key!r}, by its {other.kind}"


def _number(text: str) -> ComputeCapability | None:
    try:
        return ComputeCapability.parse(text)
    except UsageError:
        return None
