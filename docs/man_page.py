"""Writes docs/perfkit.1, the man page, from what ``perfkit --help`` is made of: ``make docs``.

The wheel installs it as ``share/man/man1/perfkit.1``, where ``man perfkit`` finds it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from docs.command_line import Command, Row, program
from perfkit import __version__

ENVIRONMENT: Final = (
    Row("PERFKIT_GPU", "What --gpu is where it is not given."),
    Row("PERFKIT_FORMAT", "What --format is where it is not given."),
    Row("PERFKIT_ARCHDB", "A folder laid out like archdb/, whose GPUs come before those built in."),
    Row("PERFKIT_CACHE", "Folder where what was compiled is kept, or off."),
    Row("PERFKIT_DEBUG", "Where set, a bug in perfkit ends in a traceback."),
    Row("PERFKIT_TREE", "Set for programs that perfkit starts: tells what they have started."),
    Row("NO_COLOR", "Where set, no colours."),
)


def page() -> str:
    whole = program()
    parts = [
        f'.TH PERFKIT 1 "" "perfkit {__version__}" "User Commands"',
        ".SH NAME",
        rf"perfkit \- {text(whole.paragraphs[0].rstrip('.'))}",
        ".SH SYNOPSIS",
        rf".B {text(whole.name)}",
        text(whole.usage.removeprefix(whole.name).strip()),
        ".SH DESCRIPTION",
        *paragraphs(whole.paragraphs),
        ".SH OPTIONS",
        *rows(whole.options),
        ".SH COMMANDS",
    ]
    for one in whole.members:
        for member in one.members or (one,):
            parts.extend(command(member))
    parts += [".SH EXIT STATUS"]
    codes = (line.split(maxsplit=1) for line in whole.epilog["Exit codes"])
    parts += rows(Row(number, meaning) for number, meaning in codes)
    parts += [".SH ENVIRONMENT", *rows(ENVIRONMENT)]
    parts += [".SH EXAMPLES", *lines(whole.epilog["Examples"])]
    return "\n".join(parts) + "\n"


def command(one: Command) -> Iterator[str]:
    yield f".SS {text(one.name)}"
    yield text(one.usage)
    for paragraph in one.paragraphs:
        yield ".PP"
        yield text(paragraph)
    yield from rows((*one.arguments, *one.options))
    for title, examples in one.epilog.items():
        yield ".PP"
        yield text(f"{title}:")
        yield from lines(examples)


def paragraphs(found: Iterable[str]) -> Iterator[str]:
    for paragraph in found:
        yield ".PP"
        yield text(paragraph)


def rows(found: Iterable[Row]) -> Iterator[str]:
    for row in found:
        yield ".TP"
        yield rf"\fB{text(row.names)}\fR"
        yield text(row.help)


def lines(found: Iterable[str]) -> Iterator[str]:
    """Lines that keep their breaks, indented."""
    yield from (".PP", ".RS 4", ".nf", *map(text, found), ".fi", ".RE")


def text(words: str) -> str:
    r"""Words as roff takes them: nothing in them is a request, and every sign is ASCII.

    >>> print(text(r".so \e - … 'x'"))
    \&.so \ee \- \[u2026] \(aqx\(aq
    """
    escaped = words.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    escaped = escaped.replace("`", r"\(ga").replace("^", r"\(ha").replace("~", r"\(ti")
    escaped = re.sub(r"[^\x00-\x7f]", lambda sign: rf"\[u{ord(sign[0]):04X}]", escaped)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    sys.stdout.write(page())
