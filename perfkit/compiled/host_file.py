"""Host programs and libraries: is there device code in them, and where does it lie?

Answered before NVIDIA's ``cuobjdump`` is asked: most libraries have none, and the tool for Linux
does not read Windows files. Sections: ``.nv_fatbin`` and ``__nv_relfatbin`` of nvcc; a Windows file
cuts names to eight characters. Layouts: System V gABI chapter 4 (ELF64), Microsoft's PE format; the
frame of a fatbin container (magic, version, bytes of its header and of the rest) was read off nvcc.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING, BinaryIO, Final

from perfkit.compiled.elf_layout import ELF64, HEADER, SECTION
from perfkit.compiled.files import reading
from perfkit.errors import InputError
from perfkit.files import shown

if TYPE_CHECKING:
    from pathlib import Path

_DEVICE: Final = (b".nv_fatbin", b"__nv_relfatbin")
_AMD: Final = b".hip_fatbin"

_NAMES_BYTES: Final = 16 * 2**20  #: no sane file has more names of sections than this

_ARCHIVE: Final = b"!<arch>\n"
_MEMBER_BYTES: Final = 60  #: of a member's header

_PE_SECTION: Final = struct.Struct("<8sIIII")
_PE_SECTION_BYTES: Final = 40
_PE_DEVICE: Final = (b".nv_fatb", b"__nv_rel")

MAGIC: Final = b"\x50\xed\x55\xba"  #: of a fatbin container
FRAME: Final = struct.Struct("<4sHHQ")  #: magic, version, bytes of this header and of the rest


def device_code(path: Path) -> str | None:
    """Which device code a host ELF file or a static library holds: ``nvidia``, ``amd``, None.

    Raises:
        InputError: unreadable, or truncated.
    """
    with reading(path), path.open("rb") as file:
        sections = _sections(file, path)
        if sections is not None:
            return _whose(b"\0".join(sections))
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _check_members(content, path)
            return _whose(content)


def device_sections(path: Path) -> tuple[tuple[int, int], ...]:
    """Offset and size of what holds the device code that is linked, or else that still is to be.

    The whole file where that cannot be told.

    Raises:
        InputError: unreadable, or truncated.
    """
    with reading(path), path.open("rb") as file:
        sections = _sections(file, path) or {}
        found = [sections[name] for name in _DEVICE if name in sections and sections[name][1]]
        return (found[0],) if found else ((0, path.stat().st_size),)


def _check_members(library: mmap.mmap, path: Path) -> None:
    """What is cut off a static library must not pass for a library without device code.

    The format is that of Unix ``ar``: a member's size stands in decimal digits in its header.
    """
    if library[: len(_ARCHIVE)] != _ARCHIVE:
        return
    at, end = len(_ARCHIVE), len(library)
    while at + _MEMBER_BYTES <= end:
        digits = library[at + _MEMBER_BYTES - 12 : at + _MEMBER_BYTES - 2].strip()
        if not digits.isdigit():
            return  # of some other making: searched as it is
        at += _MEMBER_BYTES + int(digits)
        if at > end:
            message = f"truncated: a member ends at {at:#x}, beyond the {end} bytes of the file"
            raise InputError(message, where=shown(path))
        at += at % 2


def _whose(names: bytes | mmap.mmap) -> str | None:
    if any(names.find(name) >= 0 for name in _DEVICE):
        return "nvidia"
    return "amd" if names.find(_AMD) >= 0 else None


def _sections(file: BinaryIO, path: Path) -> dict[bytes, tuple[int, int]] | None:
    """Offset and size of an ELF file's sections by name; None: another kind, search all of it."""
    head = file.read(HEADER.size)
    if len(head) < HEADER.size or head[:6] != ELF64:
        return None
    *_, table, _, _, _, _, entry, count, names = HEADER.unpack(head)
    if not table:
        return {}  # stripped of its sections
    end = file.seek(0, 2)
    if table + count * entry > end or entry != SECTION.size:
        raise InputError(
            f"truncated: its section headers at {table:#x} lie beyond the {end} bytes of the file",
            where=shown(path),
        )
    file.seek(table)
    headers = list(SECTION.iter_unpack(file.read(count * entry)))
    offset, size = headers[names][4:6] if names < len(headers) else (0, 0)
    if not size or size > _NAMES_BYTES or offset + size > end:
        return None
    file.seek(offset)
    strings = file.read(size)
    return {
        strings[name : strings.find(b"\0", name)]: (start, length)
        for name, _, _, _, start, length, *_ in headers
        if name < size and start + length <= end
    }


def windows_fatbins(path: Path) -> bytes:
    """The fatbin containers of a Windows program or library, one after the other; may be empty.

    Linked device code if there is any, else what is still to be linked.

    Raises:
        InputError: unreadable, or truncated.
    """
    with (
        reading(path),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        for section in _PE_DEVICE:
            if found := b"".join(_containers(_pe_section(data, section, path))):
                return found
    return b""


def _pe_section(data: mmap.mmap, wanted: bytes, path: Path) -> bytes:
    broken = InputError("not a whole Windows program or library", where=shown(path))
    try:
        (header,) = struct.unpack_from("<I", data, 0x3C)
        if data[header : header + 4] != b"PE\0\0":
            return b""  # a program for DOS
        count, optional = struct.unpack_from("<H12xH", data, header + 6)
        for index in range(count):
            at = header + 24 + optional + index * _PE_SECTION_BYTES
            name, _, _, size, offset = _PE_SECTION.unpack_from(data, at)
            if name == wanted:
                if offset + size > len(data):
                    raise broken
                return data[offset : offset + size]
    except struct.error as error:
        raise broken from error
    return b""


def _containers(section: bytes) -> list[bytes]:
    """Each container with its frame: what lies between them would stop cuobjdump."""
    found = []
    at = section.find(MAGIC)
    while 0 <= at <= len(section) - FRAME.size:
        _, _, header, rest = FRAME.unpack_from(section, at)
        end = at + header + rest
        if header < FRAME.size or end > len(section):
            end = at + len(MAGIC)  # not a container: four bytes that look like one's beginning
        else:
            found.append(section[at:end])
        at = section.find(MAGIC, end)
    return found
