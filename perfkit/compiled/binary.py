"""One file of machine code in any of its wrappings: which reader it gets, by its content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.compiled.files import cubin_bytes, known_as
from perfkit.compiled.kinds import is_cubin, without_digest
from perfkit.compiled.reading import Reading
from perfkit.errors import InputError
from perfkit.files import shown

if TYPE_CHECKING:
    from pathlib import Path

_FATBIN: Final = b"\x50\xed\x55\xba"
_ELF: Final = b"\x7fELF"
_ARCHIVE: Final = b"!<arch>"
_THIN_ARCHIVE: Final = b"!<thin>"
_WINDOWS: Final = b"MZ"

_MAGICS: Final = (_FATBIN, _ELF, _ARCHIVE, _THIN_ARCHIVE, _WINDOWS)


def may_hold_code(head: bytes) -> bool:
    """Whether a file that begins so is one that ``read_binary`` looks into."""
    return without_digest(head).startswith(_MAGICS)


def read_binary(path: Path, head: bytes, *, name: str | None = None) -> Reading | None:
    """The kernels of a cubin, fatbin, object file, program or library.

    Args:
        path: the file.
        head: its first bytes.
        name: the file's name for people, where ``path`` is a copy.

    Returns:
        None: the file is of another kind, or a host's without code for NVIDIA GPUs.

    Raises:
        InputError: broken, or without a kernel.
        Unavailable: it needs cuobjdump, and that is not here.
    """
    with known_as(path, name):
        return _read(path, head, name)


def _read(path: Path, head: bytes, name: str | None) -> Reading | None:
    from perfkit.compiled.container import read_container
    from perfkit.compiled.host_file import device_code, windows_fatbins

    if is_cubin(without_digest(head)):
        from perfkit.compiled.cubin import read_cubin

        return Reading(kernels=read_cubin(cubin_bytes(path), origin=name or shown(path)))
    if head.startswith(_FATBIN):
        return read_container(path, name=name)
    if head.startswith(_WINDOWS):
        fatbins = windows_fatbins(path)
        return read_container(path, name=name, fatbins=fatbins) if fatbins else None
    if head.startswith(_THIN_ARCHIVE):
        raise InputError(
            "a thin library only names its object files",
            where=name or shown(path),
            hint="name the object files, or the directory they are in",
        )
    if head.startswith((_ELF, _ARCHIVE)) and device_code(path) == "nvidia":
        return read_container(path, name=name)
    return None
