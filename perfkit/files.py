"""Files that users name, read whole: bounded, and with a reason where that is not possible.

A name may lead to more than memory holds, to a device without an end, or to a pipe that nobody
writes into: none of them may hang or fill the memory.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from perfkit.errors import InputError
from perfkit.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

#: opening a pipe waits for a writer without it; Windows has no such pipes
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)


def printable(name: str) -> str:
    r"""Names from files reach terminals: what has no picture becomes U+FFFD.

    >>> printable("k\x1b[31m") == "k\ufffd[31m"
    True
    """
    return name if name.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in name)


def shown(path: str | Path) -> str:
    """A path as text that every terminal and file takes: undecodable bytes become ``?``."""
    return printable(str(path).encode("utf-8", "replace").decode("utf-8"))


@contextmanager
def readable(path: str | Path) -> Iterator[None]:
    """Say why a file cannot be read. A path with a NUL character is a ``ValueError``."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"cannot be read: {reason}", where=shown(path)) from error


def read(path: str | Path, most_bytes: int, kind: str) -> bytes:
    """All of a file, or of a pipe.

    Args:
        path: the file.
        most_bytes: more than that is refused, and not read.
        kind: what such a file is, for that message: ``a file of ceilings``.

    Raises:
        InputError: missing, not readable, a directory, a device without an end, a pipe that nobody
            writes into, or too large.
    """
    with readable(path), open(path, "rb", opener=_open) as stream:
        refuse_endless(stream, shown(path))
        status = os.fstat(stream.fileno())
        data = b""
        # what is in a file is known, what comes through a pipe is not
        if status.st_size <= most_bytes:
            data = _until(stream, most_bytes + 1, is_pipe=stat.S_ISFIFO(status.st_mode))
    if max(len(data), status.st_size) > most_bytes:
        raise InputError(f"larger than {format_bytes(most_bytes)}: not {kind}", where=shown(path))
    return data


def refuse_endless(stream: BinaryIO, where: str) -> None:
    """Devices such as ``/dev/zero`` have no end; a terminal and ``/dev/null`` do.

    Raises:
        InputError: such a device.
    """
    try:
        descriptor = stream.fileno()
    except OSError:  # a stand-in for standard input
        return
    status = os.fstat(descriptor)
    if not (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)):
        return
    if not os.isatty(descriptor) and not os.path.samestat(status, Path(os.devnull).stat()):
        raise InputError("is a device, not a file or a pipe", where=where)


def _open(name: str, flags: int) -> int:
    return os.open(name, flags | _AT_ONCE)


def _until(stream: BinaryIO, most_bytes: int, *, is_pipe: bool) -> bytes:
    """Up to so many bytes. Of a pipe the first byte may not be there yet, but a writer has to."""
    first = b""
    if is_pipe:
        try:
            first = os.read(stream.fileno(), 1)
        except BlockingIOError:  # somebody is going to write
            pass
        else:
            if not first:
                raise InputError("is a pipe that nobody writes into", where=shown(stream.name))
    if _AT_ONCE:
        os.set_blocking(stream.fileno(), True)
    return first + stream.read(most_bytes - len(first))
