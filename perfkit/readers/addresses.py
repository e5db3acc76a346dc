"""Byte addresses of one warp: one per line, ``-`` for an inactive lane, ``#`` for remarks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from perfkit import files
from perfkit.errors import InputError
from perfkit.models.lanes import WARP_LANES, Addresses

_MOST_BYTES: Final = 64 * 1024
_LINE: Final = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}|-", re.ASCII)


def read(path: str | Path) -> Addresses:
    """The addresses of a file; raises as ``parse``, and ``InputError`` where it cannot be read."""
    data = files.read(path, _MOST_BYTES, "the addresses of one warp")
    return parse(data.decode(errors="replace"), files.shown(path))


def parse(text: str, origin: str) -> Addresses:
    """Byte address of each lane, None for an inactive one; ``origin``: the file, for messages.

    Raises:
        InputError: with ``file:line``.
    """
    found: list[int | None] = []
    for number, line in enumerate(text.splitlines(), 1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        where = f"{origin}:{number}"
        if not _LINE.fullmatch(word):
            raise InputError(
                f"{word[:40]!r} is not a byte address",
                where=where,
                hint="one per line, 128 or 0x80; - for an inactive lane",
            )
        if len(found) == WARP_LANES:
            raise InputError(f"more than {WARP_LANES} lanes: one warp per file", where=where)
        found.append(None if word == "-" else int(word, 0 if word[:2].lower() == "0x" else 10))
    if not found:
        raise InputError("no addresses", where=origin)
    return tuple(found)
