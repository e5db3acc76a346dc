"""Where code was read, as text: the file, the member of an archive, the image among others."""

from __future__ import annotations

from typing import Final

_IMAGE: Final = ", image "


def of_image(file: str, *, member: str, number: int, arch: str) -> str:
    """The origin of one image of several.

    Args:
        file: its name.
        member: of a static library; empty: it is none.
        number: as cuobjdump counts, from 1.
        arch: what the image is for; empty: not known before it is read.
    """
    inside = f"({member})" if member else ""
    return f"{file}{inside}{_IMAGE}{number}" + (f" for {arch}" if arch else "")


def library(origin: str) -> str | None:
    """The library or object that holds the image: the driver chooses among what is in there alone.

    None where the file is one image, and who loads it chooses: a cubin, a kernel in Triton's cache.

    >>> library(of_image("a.whl(b.so)", member="", number=3, arch="sm_90")), library("k.cubin")
    ('a.whl(b.so)', None)
    """
    file, found, _ = origin.rpartition(_IMAGE)
    return file if found else None
