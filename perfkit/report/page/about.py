"""What stands around the results: how to repeat them, where they come from, who says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit import __version__
from perfkit.analysis.environment import prefix
from perfkit.arch import catalog
from perfkit.arch.types import Capability, Gpu
from perfkit.errors import UnknownTarget
from perfkit.report.document import Cell, Column, Table
from perfkit.report.page import markup, room
from perfkit.report.page.results import Result
from perfkit.report.page.titles import title
from perfkit.report.views.arch import facts_document

#: records of the database that are shown in full; each is some 60 facts
_MOST_RECORDS: Final = 10
#: environments, each some 20 rows
_MOST_PLACES: Final = 20
#: what lists environments, and sides that have one each
_HOLDERS: Final = ("cards", "devices", "entries")
_SIDES: Final = ("baseline", "candidate")
#: topics whose numbers come from a machine
_MEASURED: Final = frozenset(
    {"baseline", "ceilings", "gate", "gate-history", "gate-run", "measure", "tuning", "validate"}
)
_NAMING: Final = ("target", "compute_capability", "gpu", "product")


def repeat(found: Sequence[Result]) -> str:
    """The command lines, as far as the files say."""
    lines = [one.command for one in found if one.command is not None]
    silent = [one.name for one in found if one.command is None]
    parts = []
    if lines:
        whole = list(dict.fromkeys(lines))
        shown, more = room.listed(whole)
        commands = "\n".join(map(markup.text, shown))
        parts.append(f'<pre tabindex="0" aria-label="Commands"><code>{commands}</code></pre>')
        if more:
            parts.append(markup.paragraph(f"{more} They are in the files, as made_by.command."))
        if any(len(line) > room.LONG[0] for line in whole):
            parts.append(markup.paragraph("Long ones are shown without the middle."))
    if silent:
        parts.append(
            markup.paragraph("These files do not say which command wrote them:", faint=True)
        )
        names, more = room.listed(silent)
        parts.append(markup.listing(names))
        if more:
            parts.append(markup.paragraph(more))
    return "\n".join(parts)


def environment(found: Sequence[Result]) -> str:
    """Where it was measured, and which perfkit computed it."""
    versions = sorted({one.perfkit for one in found if one.perfkit is not None})
    wrote = f"Results by perfkit {', '.join(versions)}; " if versions else ""
    parts = [markup.paragraph(f"{wrote}this page by perfkit {__version__}.")]
    places: dict[str, Table] = {}
    for one in found:
        for about in _environments(one.content):
            places.setdefault(repr(about), _place(about))
    shown = list(places.values())[:_MOST_PLACES]
    parts += [markup.table(table) for table in shown]
    if left := len(places) - len(shown):
        parts.append(markup.paragraph(f"{left:,} more environments are in the files."))
    measured = [one.name for one in found if one.topic in _MEASURED]
    if not places and measured:
        parts.append(markup.paragraph("On which GPU it was measured the files do not say."))
    elif not places:
        parts.append(markup.paragraph("Nothing was measured: all of it is computed, on no GPU."))
    return "\n".join(parts)


def _environments(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Those that say something: of cards, of the entries of a baseline, or of both sides."""
    for holder in (content, *(one for key in _HOLDERS for one in content.get(key, ()))):
        about = holder.get("environment") or {}
        sides = [about[side] for side in _SIDES if side in about]
        yield from (one for one in sides or [about] if one)


def _place(about: Mapping[str, Any]) -> Table:
    return Table(
        title=f"Measured on {prefix(about.get('index'))}"
        f"{about.get('device') or about.get('gpu') or 'a GPU'}",
        columns=(Column("what", "what"), Column("value", "value")),
        rows=tuple(
            (title(name), Cell(None, markup.abridged(_shown(name, value), room.LONG[0])))
            for name, value in about.items()
            if value not in (None, [], {}) and name != "index"  # which the title names
        ),
        collapsed=True,
    )


def _shown(name: str, value: Any) -> str:
    if name.endswith("_hz") and isinstance(value, int | float):
        return Column(name, name, "hertz").text(value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else _flat(value)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def evidence(found: Sequence[Result]) -> str:
    """The facts of the database on every GPU that a result names, each with who says so."""
    records, unknown = _records(found)
    shown = list(records.items())[:_MOST_RECORDS]
    parts = []
    for name, record in shown:
        for table in facts_document(record, with_sources=True).tables:
            kind = f" ({table.title})" if table.title else ""
            facts = Table(title=f"{name}{kind}", columns=table.columns, rows=table.rows)
            parts.append(markup.folded(f"{name}{kind}", markup.table(facts)))
    if left := list(records)[_MOST_RECORDS:]:
        parts.append(markup.paragraph(f"Of others 'perfkit gpu show NAME --sources': {_few(left)}"))
    if unknown:
        parts.append(markup.paragraph(f"Not in the database: {_few(sorted(unknown))}"))
    return "\n".join(parts)


def _few(names: Sequence[str]) -> str:
    names = [markup.abridged(name, room.LONG[1]) for name in names]
    return ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")


def _records(found: Sequence[Result]) -> tuple[dict[str, Capability | Gpu], set[str]]:
    """By name, in the order in which results name them."""
    records: dict[str, Capability | Gpu] = {}
    unknown = set()
    for name in dict.fromkeys(name for one in found for name in _names(one.content)):
        try:
            capability, gpu = catalog.capability_of(name)
        except UnknownTarget:
            unknown.add(name)
            continue
        records.setdefault(f"Compute capability {capability.compute_capability}", capability)
        if gpu is not None:
            records.setdefault(gpu.name, gpu)
    return records, unknown


def _names(node: Any) -> Iterator[str]:
    """Every value that names a GPU, wherever it stands."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in _NAMING and isinstance(value, str):
                yield value
            elif isinstance(value, dict | list):
                yield from _names(value)
    elif isinstance(node, list):
        for value in node:
            yield from _names(value)
