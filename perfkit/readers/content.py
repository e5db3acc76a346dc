"""A result file as bytes and text: bounded, unpacked, decoded, wherever it comes from.

Programs redirect their output through shells that write UTF-16, archives keep it compressed, and
``-`` is the standard input.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath
from typing import Final

from perfkit import files
from perfkit.errors import InputError
from perfkit.record import record

_MOST_BYTES: Final = 256 * 2**20
_KIND: Final = "a result file"
_GZIP: Final = b"\x1f\x8b"

#: first bytes -> encoding; the longer marks first, UTF-32 starts like UTF-16
_MARKS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)


@record
class Content:
    """What a file holds. ``error``: why ``text`` has replacement characters in it, or ``None``."""

    origin: str
    folder: Path  #: where files stand that this one names
    data: bytes
    text: str
    error: str | None = None


def listed(given: Iterable[str | Path]) -> list[tuple[str | Path, bool]]:
    """Files, and whether they were named one by one; those of a folder in the order of names."""
    named: list[tuple[str | Path, bool]] = []
    for path in given:
        with files.readable(path):
            is_folder = path != "-" and Path(path).is_dir()
            inside = [*Path(path).iterdir()] if is_folder else []
        if is_folder:
            named += [(p, False) for p in sorted(inside) if p.is_file() and may_hold_results(p)]
        else:
            named.append((path, True))
    seen: set[str] = set()
    for path, _ in named:
        with files.readable(path):
            real = os.path.realpath(path)
        if real in seen:  # it would count as evidence of its own
            raise InputError("is named twice", where=files.shown(path))
        seen.add(real)
    return named


def load(path: str | Path) -> Content:
    """Read ``path``, or the standard input for ``-``.

    Raises:
        InputError: cannot be read, larger than any result file, or a broken archive.
    """
    origin = files.shown(path)
    data = files.read(path, _MOST_BYTES, _KIND) if origin != "-" else _stdin()
    return of_data(data, origin, Path(path).parent)


def of_data(data: bytes, origin: str, folder: Path) -> Content:
    """The same of bytes that are read already.

    Raises:
        InputError: larger than any result file, or a broken archive.
    """
    _bounded(data, origin)
    if data.startswith(_GZIP):
        data = _unpacked(data, origin)
    text, error = _decoded(data)
    return Content(origin=origin, folder=folder, data=data, text=text, error=error)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise InputError("there is no standard input", where="-")
    files.refuse_endless(sys.stdin.buffer, "-")
    return _bounded(sys.stdin.buffer.read(_MOST_BYTES + 1), "-")


def _bounded(data: bytes, origin: str) -> bytes:
    if len(data) > _MOST_BYTES:
        raise InputError(f"larger than {_MOST_BYTES >> 20} MiB: not {_KIND}", where=origin)
    return data


def _unpacked(data: bytes, origin: str) -> bytes:
    """All members of a gzip archive, up to the limit."""
    parts = []
    left = _MOST_BYTES + 1
    try:
        while data and left > 0:
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(data, left))
            left -= len(parts[-1])
            if not member.eof and left > 0:
                raise InputError("the gzip archive ends early", where=origin)
            data = member.unused_data
    except zlib.error as error:
        raise InputError(f"broken gzip archive: {error}", where=origin) from None
    return _bounded(b"".join(parts), origin)


def _decoded(data: bytes) -> tuple[str, str | None]:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None:
        # text that begins with two ASCII characters has its zeros in these places
        zeros = [byte == 0 for byte in data[:4]]
        even, odd = [True, False, True, False], [False, True, False, True]
        encoding = {tuple(odd): "utf-16-le", tuple(even): "utf-16-be"}.get(tuple(zeros), "utf-8")
    try:
        return data.decode(encoding), None
    except UnicodeDecodeError as error:
        reason = f"is not {encoding} text: {error.reason} at byte {error.start}"
        return data.decode(encoding, errors="replace"), reason


def beside(folder: Path, name: str) -> bytes | None:
    """A side file that a result names, or None where it is not there.

    Only below ``folder``: as named, or, where the name is that of the machine that wrote it, its
    last two parts. Nothing but a regular file is read.

    Raises:
        InputError: it is there and cannot be read, or is larger than any.
    """
    parts = PureWindowsPath(name).parts  # splits at both kinds of slash
    inside = not PureWindowsPath(name).anchor and ".." not in parts
    wanted = [parts, parts[-2:], parts[-1:]] if inside else [parts[-2:], parts[-1:]]
    for tail in wanted:
        path = folder.joinpath(*tail)
        try:
            is_there = bool(tail) and ".." not in tail and path.is_file()
        except (OSError, ValueError):  # no name of a file here
            is_there = False
        if is_there:
            return files.read(path, _MOST_BYTES, _KIND)
    return None


#: programs have braces and numbers, too
_PROGRAMS: Final = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hpp", ".py"})


def may_hold_results(path: Path) -> bool:
    """Whether a file of a folder may be one of results; one that is named always may."""
    return path.name[0] != "." and path.suffix.lower() not in _PROGRAMS
