"""Images of a fatbin that name their source file: cuobjdump is to number them instead.

With ``-lineinfo`` or ``-G`` nvcc writes the path of the source into the header of each image, and
cuobjdump names the files that it takes out by it, without the folder: of two sources called
``gemm.cu`` the images of one overwrite those of the other. Images that name no source have the
container's name and a number.

Layout, read off what nvcc 12 and 13 write: after the frame of a fatbin come its images, each with a
header (its bytes at 4, the bytes of the image at 8, offset and length of the name at 32 and 36).
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING, Final

from perfkit.compiled.files import reading
from perfkit.compiled.host_file import FRAME, MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_VERSION: Final = 1
_IMAGE: Final = struct.Struct("<HHIQ16xII")
_NAME_AT: Final = 32
_NONE: Final = bytes(8)  #: offset and length


def named_images(path: Path) -> list[int]:
    """Where in a file the names of its images are referred to; no entry for one without.

    Raises:
        InputError: unreadable.
    """
    with reading(path), path.open("rb") as file:
        if not file.seek(0, 2):
            return []
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return list(_names(data))


def unname(path: Path, places: list[int]) -> None:
    """Take the names away from a copy of the file."""
    with path.open("r+b") as file:
        for place in places:
            file.seek(place)
            file.write(_NONE)


def _names(data: mmap.mmap) -> Iterator[int]:
    at = data.find(MAGIC)
    while 0 <= at <= len(data) - FRAME.size:
        _, version, header, rest = FRAME.unpack_from(data, at)
        image, end = at + header, at + header + rest
        if version != _VERSION or header < FRAME.size or end > len(data):
            end = at + len(MAGIC)  # four bytes that look like the beginning of a container
        while image + _IMAGE.size <= end:
            _, _, header, size, name, length = _IMAGE.unpack_from(data, image)
            if header < _IMAGE.size:
                break
            if name or length:
                yield image + _NAME_AT
            image += header + size
        at = data.find(MAGIC, end)
