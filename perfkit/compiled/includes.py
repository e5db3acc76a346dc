"""Every file of the user that a source may include: what the compile cache must know.

NVRTC tells no dependencies, so they are found by reading. The scan errs on the safe side: it takes
every ``#include`` whether or not a condition hides it, and every directory that has such a file,
not only the first. CUDA's own headers are not followed: their version stands for them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.compiled import cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from perfkit.compiled.compile_options import CompileOptions

_INCLUDE: Final = re.compile(
    rb"(?:(?:#|%:)\s*(?:include_next|include|import)\s*|__has_include\s*\(\s*)(?:([\"<])([^\">\r\n]+)|(\w))"
)
_COMMENT: Final = re.compile(rb"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SPLICE: Final = re.compile(rb"\\\r?\n")


def source_key(
    path: Path, source: bytes, target: str, options: CompileOptions, toolchain: Iterable[str]
) -> str | None:
    """What the result of compiling depends on, hashed; None where that cannot be told."""
    if any("inc" in flag or "path" in flag or flag.startswith("-I") for flag in options.extra):
        return None  # headers that are not looked through
    files = user_files(source, path.parent, options.include_dirs)
    if files is None or cache.directory() is None:
        return None
    flags = options.flags(target)
    parts = [*toolchain, str(path), target, *flags, "", *options.name_expressions]
    named = [(str(file), content) for file, content in sorted(files.items())]
    return cache.key_of(
        *map(encoded, parts),
        source,
        *(part for name, content in named for part in (encoded(name), content)),
    )


def encoded(text: str) -> bytes:
    """A path or an option as bytes, undecodable ones of a file's name included."""
    return text.encode("utf-8", "surrogateescape")


def user_files(
    source: bytes, directory: Path, include_dirs: Iterable[Path]
) -> dict[Path, bytes] | None:
    """Path -> content of all files that ``source``, lying in ``directory``, may include.

    ``None``: it cannot be told, because an include names a macro.
    """
    found: dict[Path, bytes] = {}
    # links that lead to themselves end somewhere: Path.resolve() raises before Python 3.13
    searched = [Path(os.path.realpath(path)) for path in include_dirs]
    pending = [(source, Path(os.path.realpath(directory)))]
    while pending:
        text, own = pending.pop()
        for name in _names(text):
            if name is None:
                return None
            for candidate in (parent / name for parent in (own, *searched)):
                path = Path(os.path.realpath(candidate))
                if path in found or not path.is_file():
                    continue
                try:
                    found[path] = path.read_bytes()
                except OSError:  # the compiler will say so
                    continue
                pending.append((found[path], path.parent))
    return found


def _names(text: bytes) -> Iterator[str | None]:
    """Names of includes; None for one that a macro gives.

    Comments may hide an include or stand in the middle of one: both readings count.
    """
    spliced = _SPLICE.sub(b"", text)
    for reading in (spliced, _COMMENT.sub(b" ", spliced)):
        for match in _INCLUDE.finditer(reading):
            yield None if match[3] else match[2].decode("utf-8", "surrogateescape")
