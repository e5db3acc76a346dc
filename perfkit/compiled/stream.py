"""Kernels from standard input and from pipes, which can be read only once."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from perfkit.compiled.files import MAX_CUBIN, reading
from perfkit.compiled.kinds import HEAD_BYTES, describe, is_cubin, may_be_text, without_digest
from perfkit.compiled.reading import Reading
from perfkit.errors import InputError
from perfkit.files import refuse_endless, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_STDIN: Final = "-"
_MAX_PTX: Final = 2**26


def is_stream(path: Path) -> bool:
    """``-``, or something else that is there and neither a file nor a directory."""
    try:
        return str(path) == _STDIN or (path.exists() and not path.is_file() and not path.is_dir())
    except (OSError, ValueError):  # said by whoever reads it
        return False


def name_of(path: Path) -> str:
    """Of standard input or a pipe, as people know it."""
    return "stdin" if str(path) == _STDIN else shown(path)


def read_stream(path: Path, *, arch: str | None = None, kept: BinaryIO | None = None) -> Reading:
    """Compiler logs and resource reports while they are written, PTX, or a cubin.

    Args:
        path: ``-`` for standard input, or a pipe.
        kept: what came through it, where it has been read already.
        arch: of kernels for which a text names none, such as ``sm_89``; to compile PTX for.

    Raises:
        InputError: unreadable, of a kind that needs a file, or without a kernel.
        UsageError: a text without architectures, and ``arch`` is not given.
        Unavailable: PTX, and there is no ptxas.
    """
    name = name_of(path)
    with opened(path) if kept is None else nullcontext(kept) as stream:
        head = without_digest(stream.read(HEAD_BYTES))
        if is_cubin(head):
            from perfkit.compiled.cubin import read_cubin

            data = head + stream.read(MAX_CUBIN)
            return Reading(kernels=read_cubin(data, origin=name))
        if describe(head) == "PTX text":
            from perfkit.compiled.ptx_file import compile_ptx

            text = (head + stream.read(_MAX_PTX)).rstrip(b"\0")
            return compile_ptx(text, Path(name), arch=arch)
        if may_be_text(head):
            from perfkit.compiled.build_text import read_text

            return read_text(head, stream, origin=name, arch=arch)
    if not head:
        raise InputError("is empty: nothing was written into it", where=name)
    raise InputError(
        f"this is {describe(head)}, which is not read from a pipe",
        where=name,
        hint="logs, resource reports, PTX and cubins are; save it and give the file's name",
    )


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Standard input or a pipe, which somebody ends.

    Raises:
        InputError: a device without an end, or it cannot be read.
    """
    name = name_of(path)
    if str(path) != _STDIN:
        with reading(path), path.open("rb") as stream:
            refuse_endless(stream, name)
            yield stream
        return
    if sys.stdin is None:
        raise InputError("there is no standard input", where=name)
    try:
        refuse_endless(sys.stdin.buffer, name)
        yield sys.stdin.buffer
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=name) from error
