"""Cubins that lie uncompressed in a container: what is left where cuobjdump gives up.

cuobjdump stops at the first image that it does not take, and so loses all that follow. There are
good images among those: of GPUs that it no longer supports, and (seen with 13.1 to 13.5) whatever
CUDA 12.1 made for sm_90. nvcc compresses cubins only when asked to, so most can be found by their
ELF header alone; where one ends its own tables say (gABI chapter 4).
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from perfkit.compiled.elf_layout import ELF64, HEADER
from perfkit.compiled.files import reading
from perfkit.compiled.host_file import device_sections
from perfkit.compiled.kinds import EM_CUDA

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def plain_images(path: Path, fatbins: bytes | None = None) -> list[bytes]:
    """Every uncompressed cubin of a file, or of ``fatbins``, in file order.

    Raises:
        InputError: the file is unreadable or truncated.
    """
    if fatbins is not None:
        return list(_images(fatbins, 0, len(fatbins)))
    sections = device_sections(path)
    with (
        reading(path),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        return [image for start, size in sections for image in _images(data, start, start + size)]


def _images(data: bytes | mmap.mmap, start: int, end: int) -> Iterator[bytes]:
    at = data.find(ELF64, start, end)
    while 0 <= at <= end - HEADER.size:
        size = _size(data[at : at + HEADER.size])
        if not size or at + size > end:
            size = 1  # not a cubin, or one that is cut off: look behind the magic number
        else:
            yield data[at : at + size]
        at = data.find(ELF64, at + size, end)


def _size(header: bytes) -> int:
    """Bytes of the cubin that begins so; 0: it is none."""
    _, _, machine, _, _, segments, sections, _, _, segment, count, section, number, _ = (
        HEADER.unpack(header)
    )
    if machine != EM_CUDA:
        return 0
    return int(max(segments + count * segment, sections + number * section, HEADER.size))
