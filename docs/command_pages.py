"""Writes docs/commands from what ``perfkit --help`` is made of: ``make docs``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from docs.command_line import Command, Row, program

FOLDER: Final = Path(__file__).with_name("commands")
MARK: Final = "<!-- written by `make docs` from the help of the command line -->"

#: where a command is shown at work; those that stand in none have their own words in the help
READ_MORE: Final = {
    "access": ("access.md",),
    "arch": ("../archdb/README.md",),
    "carveout": ("occupancy.md#the-carveout",),
    "ceilings": ("ceilings.md",),
    "diagnose": ("launch.md#what-a-profile-says-perfkit-diagnose",),
    "diff": ("compiled.md",),
    "explore": ("explore.md",),
    "fits": ("compiled.md",),
    "gate": ("gates.md", "gate-calibration.md"),
    "gemm": ("bounds.md",),
    "gpu": ("../archdb/README.md",),
    "inspect": ("compiled.md", "logs.md"),
    "latency": ("launch.md#enough-warps-perfkit-latency",),
    "measure": ("measure.md",),
    "occupancy": ("occupancy.md",),
    "overlap": ("launch.md#copies-beside-kernels-perfkit-overlap",),
    "recommend": ("launch.md#which-launch-perfkit-recommend",),
    "report": ("report.md",),
    "roofline": ("bounds.md",),
    "sweep": ("occupancy.md",),
    "validate": ("validate.md", "validation/README.md"),
}


def pages() -> dict[str, str]:
    """File name in docs/commands -> text."""
    whole = program()
    found = {f"{one.word}.md": _page(one, whole) for one in whole.members}
    return {"index.md": _index(whole)} | found


def _index(whole: Command) -> str:
    parts = ["# The commands", MARK, whole.paragraphs[0], _code(whole.usage)]
    rows = [("command", "what it does")]
    for one in whole.members:
        rows.append((f"[{one.word}]({one.word}.md)", one.paragraphs[0]))
        for member in one.members:
            anchor = member.name.replace(" ", "-")
            link = f"[{one.word} {member.word}]({one.word}.md#{anchor})"
            rows.append((link, member.paragraphs[0]))
    parts += [_table(rows), "## Options", _table(_rows("option", whole.options))]
    parts += ["## Exit codes", _exit_codes(whole)]
    parts += ["## Examples", _code("\n".join(whole.epilog["Examples"]))]
    return "\n\n".join(parts) + "\n"


def _page(one: Command, whole: Command) -> str:
    parts = [f"# {one.name}", MARK, *_body(one)]
    for member in one.members:
        parts += [f"## {member.name}", *_body(member, level="###")]
    parts += ["## Exit codes", _exit_codes(whole)]
    if more := READ_MORE.get(one.word):
        links = [f"[docs/{one}](../{one})" for one in more if not one.startswith("..")]
        links += [f"[{one.removeprefix('../')}](../{one})" for one in more if one.startswith("..")]
        parts.append(f"Read on: {', '.join(links)}.")
    return "\n\n".join(parts) + "\n"


def _body(one: Command, level: str = "##") -> Iterator[str]:
    yield from map(_escaped, one.paragraphs)
    yield _code(one.usage)
    if one.arguments:
        yield f"{level} Arguments"
        yield _table(_rows("argument", one.arguments))
    if one.options:
        yield f"{level} Options"
        yield _table(_rows("option", one.options))
    for title, lines in one.epilog.items():
        yield f"{level} {title}"
        yield _code("\n".join(lines))
    if one.topics:
        shown = ", ".join(f"`perfkit schema {topic}`" for topic in one.topics)
        yield f"{level} JSON"
        yield f"With `-f json` as {shown} says."


def _exit_codes(whole: Command) -> str:
    codes = [tuple(line.split(maxsplit=1)) for line in whole.epilog["Exit codes"]]
    return _table([("code", "meaning"), *codes])


def _rows(kind: str, rows: Iterable[Row]) -> list[tuple[str, str]]:
    return [(kind, "meaning"), *((f"`{row.names}`", _escaped(row.help)) for row in rows)]


def _table(rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def _code(text: str) -> str:
    return f"```text\n{text}\n```"


def _escaped(text: str) -> str:
    """Words of the help as Markdown: what looks like a mark there is none."""
    return re.sub(r"([*_<>\[\]`])", r"\\\1", text)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
