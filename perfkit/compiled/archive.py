"""Wheels and other zip archives: the members with device code."""

from __future__ import annotations

import lzma
import shutil
import tempfile
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.compiled.binary import may_hold_code, read_binary
from perfkit.compiled.files import reading
from perfkit.compiled.kinds import HEAD_BYTES
from perfkit.compiled.reading import Collection
from perfkit.errors import InputError
from perfkit.files import printable, shown

if TYPE_CHECKING:
    from perfkit.compiled.reading import Progress, Reading

_MEMBER_BYTES: Final = 4 * 2**30  #: the largest CUDA libraries have one

#: Device code that was not compressed by nvcc shrinks to a tenth; a bomb to a thousandth.
_MOST_SHRUNK: Final = 200
_SMALL_BYTES: Final = 64 * 2**20

_CHUNK: Final = 2**20
_ENCRYPTED: Final = 0x1  #: bit of the flags

#: what Python's zipfile raises for archives that are broken, encrypted, packed unknown ways, or
#: with a dictionary of four gigabytes
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def read_zip(path: Path, *, progress: Progress | None = None) -> Reading:
    """The kernels of every member that holds device code, in the order of the archive.

    Members are unpacked one at a time to a temporary file.

    Raises:
        InputError: not a zip archive, or no kernel in it.
        Unavailable: a member needs cuobjdump, and that is not here.
    """
    found = Collection(shown(path))
    with reading(path):
        try:
            with zipfile.ZipFile(path) as archive:
                _check_size(archive, path)
                for info in archive.infolist():
                    if not info.filename.endswith("/"):  # is_dir() wants a name
                        found.looked_at += 1
                        name = f"{shown(path)}({printable(info.filename)})"
                        found.add(name, partial(_read_member, archive, info, name, progress))
        except _ZIP_ERRORS as error:
            raise InputError(f"not a whole zip archive: {error}", where=shown(path)) from error
    return found.reading("cubins, fatbins, object files and libraries with device code")


def _check_size(archive: zipfile.ZipFile, path: Path) -> None:
    """Members that share their bytes make a small archive unpack for days."""
    if sum(info.compress_size for info in archive.infolist()) > path.stat().st_size:
        raise InputError("its members overlap: not a sane zip archive", where=shown(path))


def _read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, progress: Progress | None
) -> Reading | None:
    if info.flag_bits & _ENCRYPTED:
        raise InputError("is encrypted", where=name)
    try:
        with archive.open(info) as member:
            head = member.read(HEAD_BYTES)
            if not may_hold_code(head):
                return None
            if progress is not None:
                progress(name)
            if info.file_size > _MEMBER_BYTES or (
                info.file_size > max(_SMALL_BYTES, info.compress_size * _MOST_SHRUNK)
            ):
                raise InputError(
                    f"would unpack to {info.file_size} bytes: not a sane zip archive", where=name
                )
            with tempfile.TemporaryDirectory(prefix="perfkit-") as folder:
                copy = Path(folder, "member")
                with copy.open("wb") as file:
                    file.write(head)
                    shutil.copyfileobj(member, file, _CHUNK)
                return read_binary(copy, head, name=name)
    except _ZIP_ERRORS as error:
        why = str(error) or "it takes more memory than there is"
        raise InputError(f"cannot be unpacked: {why}", where=name) from error
