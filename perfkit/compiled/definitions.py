"""Where people look for a kernel: the line of its definition in a source, or of its log record."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit import files
from perfkit.compiled.demangle import demangle
from perfkit.compiled.inspect import SOURCE_SUFFIXES
from perfkit.errors import InputError

if TYPE_CHECKING:
    from perfkit.kernel import KernelResources

_MOST_BYTES: Final = 1 << 26
#: comments and literals, in which a kernel's name is no definition
_HIDDEN: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_NAMESPACE: Final = re.compile(r"\bnamespace\s+([\w:]+)\s*\{")
_ENTRY: Final = re.compile(r"\.entry\s+([\w$]+)")
_ARGUMENTS: Final = re.compile(r"[<(].*", re.DOTALL)


def source_line(path: Path, kernel: KernelResources) -> int | None:
    """The line of ``path`` where the kernel is defined, or of the log where it is reported.

    ``None``: the file has no lines, or its kernels come out of macros and headers.
    """
    suffix = path.suffix.lower()
    if suffix in SOURCE_SUFFIXES:
        return _in_source(_code(path), kernel)
    if suffix == ".ptx":
        return _entries(path).get(kernel.name)
    number = kernel.origin.removeprefix(f"{files.shown(path)}:")
    return int(number) if number != kernel.origin and number.isdecimal() else None


def _in_source(text: str, kernel: KernelResources) -> int | None:
    """The best of the places where a function of that name has a body."""
    shown = demangle(kernel.name).name if kernel.name.startswith("_Z") else kernel.demangled
    *scopes, name = _ARGUMENTS.sub("", shown.replace("(anonymous namespace)::", "")).split("::")
    if not re.fullmatch(r"[\w$]+", name):
        return None
    found = []
    for match in re.finditer(rf"((?:\w+\s*::\s*)*)\b{re.escape(name)}\s*\(", text):
        if _has_body(text, match.end()):
            start = max(text.rfind(mark, 0, match.start()) for mark in ";}{")
            spaces = [*(space[1] for space in _NAMESPACE.finditer(text, 0, match.start()))]
            scope = re.sub(r"\s", "", match[1]).rstrip(":") or (spaces[-1] if spaces else "")
            inside = bool(scopes) and scope.split("::")[-1] == scopes[-1]
            found.append((inside, "__global__" in text[start + 1 : match.start()], -match.start()))
    if not found:
        return None
    place = text.index(name, -max(found)[2])
    return text.count("\n", 0, place) + 1


def _has_body(text: str, at: int) -> bool:
    """Whether a brace follows the parentheses that opened before ``at``."""
    depth = 1
    for match in re.compile(r"[(){};]").finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0 and match[0] != ")":
            return match[0] == "{"
        if match[0] in "{};" and depth:
            return False
    return False


@lru_cache(maxsize=64)
def _code(path: Path) -> str:
    """The source with blanks in place of comments and literals; lines stay where they are."""
    return _HIDDEN.sub(lambda hidden: re.sub(r"[^\n]", " ", hidden[0]), _text(path))


@lru_cache(maxsize=64)
def _entries(path: Path) -> dict[str, int]:
    text = _text(path)
    return {match[1]: text.count("\n", 0, match.start(1)) + 1 for match in _ENTRY.finditer(text)}


def _text(path: Path) -> str:
    try:
        return files.read(path, _MOST_BYTES, "a source").decode("utf-8", "replace")
    except InputError:  # the kernels were read, and the line is beside the point
        return ""
