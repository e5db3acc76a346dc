"""Files with kernels, read as far as their kind asks for: heads, cubins, texts for compilers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from perfkit import files
from perfkit.compiled.kinds import HEAD_BYTES, without_digest
from perfkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAX_TEXT: Final = 64 * 2**20
_BOM: Final = b"\xef\xbb\xbf"
MAX_CUBIN: Final = 2**30  #: those of the largest libraries have some hundred MiB


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say why a file cannot be read."""
    with files.readable(path):
        if path.is_dir():
            raise InputError("is a directory: name a .cu or .cubin file", where=files.shown(path))
        yield


@contextmanager
def known_as(path: Path, name: str | None) -> Iterator[None]:
    """Errors speak of ``name``, where ``path`` is a copy that nobody knows."""
    try:
        yield
    except InputError as error:
        if name is not None and error.where is not None:
            error.where = error.where.replace(files.shown(path), name)
        raise


def read_head(path: Path) -> bytes:
    """The first bytes, enough to tell what the file is.

    Raises:
        InputError: missing, a directory, or not readable.
    """
    with reading(path), path.open("rb") as file:
        return file.read(HEAD_BYTES)


def cubin_bytes(path: Path) -> bytes:
    """A whole cubin.

    Raises:
        InputError: not readable, or larger than any.
    """
    return without_digest(files.read(path, MAX_CUBIN, "a cubin"))


def read_text(path: Path, what: str) -> bytes:
    """A text that a compiler is to get, in UTF-8 and without a byte order mark.

    Raises:
        InputError: unreadable, too large for ``what``, or not text.
    """
    with reading(path), path.open("rb") as file:
        text = file.read(_MAX_TEXT + 1)
    if len(text) > _MAX_TEXT:
        raise InputError(f"larger than {_MAX_TEXT >> 20} MiB: not {what}", where=files.shown(path))
    text = text.rstrip(b"\0")  # a C string written whole
    if (at := text.find(b"\0")) >= 0:
        raise InputError(
            "not text in UTF-8: it holds a zero byte",
            where=f"{files.shown(path)}@{at:#x}",
            hint="a UTF-16 file has to be saved as UTF-8",
        )
    return text.removeprefix(_BOM)
