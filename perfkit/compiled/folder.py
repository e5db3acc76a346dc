"""Directories: every file with device code, and the caches of Triton and TorchInductor."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.compiled.archive import read_zip
from perfkit.compiled.binary import may_hold_code, read_binary
from perfkit.compiled.files import read_head
from perfkit.compiled.kinds import describe
from perfkit.compiled.reading import Collection
from perfkit.compiled.triton_cache import Foreign, read_entry
from perfkit.errors import InputError
from perfkit.files import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.compiled.reading import Progress, Reading

_MOST_NAMED: Final = 5
_SKIPPED: Final = frozenset({".git", "__pycache__"})
_ZIP: Final = b"PK\x03\x04"
_LOOKED_FOR: Final = (
    "cubins, fatbins, object files, programs, libraries and wheels with device code, and kernels "
    "of Triton"
)


def read_folder(folder: Path, *, progress: Progress | None = None) -> Reading:
    """Every kernel below ``folder``, directories and files in the order of their names.

    Links to directories are not followed, a file with several names is read once. PTX text and
    sources are left out: they would have to be compiled.

    Raises:
        InputError: no kernel, or the directory cannot be read.
        Unavailable: the only files with kernels need cuobjdump, and that is not here.
    """
    found = Collection(shown(folder))
    others = _Others()
    for files in _directories(folder, found):
        if progress is not None:
            progress(shown(files[0].parent))
        _read_files(files, found, others, progress)
    found.notes += others.notes()
    if not found.kernels:  # a build's directory may well hold both
        found.notes += others.on_sources()
    return found.reading(_LOOKED_FOR)


class _Others:
    """What is left out of a directory on purpose."""

    def __init__(self) -> None:
        self.foreign: dict[str, int] = {}  #: kernels of Triton for other devices, by backend
        self.ptx: list[Path] = []
        self.sources: list[Path] = []

    def notes(self) -> Iterator[str]:
        for backend, count in self.foreign.items():
            kernels = "1 kernel" if count == 1 else f"{count} kernels"
            yield f"{kernels} of Triton for other devices ({backend}) left out"
        if self.ptx:
            files = "1 file" if len(self.ptx) == 1 else f"{len(self.ptx)} files"
            yield (
                f"{files} with PTX left out, such as {shown(self.ptx[0])}: "
                "give one alone, with --gpu, to have it compiled"
            )

    def on_sources(self) -> Iterator[str]:
        if self.sources:
            names = [shown(path) for path in self.sources[:_MOST_NAMED]]
            more = len(self.sources) - len(names)
            yield (
                "sources are not compiled from directories, name one, with --gpu: "
                f"{', '.join(names)}{f' and {more} more' if more else ''}"
            )


def _read_files(
    files: list[Path], found: Collection, others: _Others, progress: Progress | None
) -> None:
    found.looked_at += len(files)
    described = set()
    for path in files:
        if path.suffix == ".json" and (entry := read_entry(path)) is not None:
            described.add(path.stem)
            if isinstance(entry, Foreign):
                others.foreign[entry.backend] = others.foreign.get(entry.backend, 0) + 1
            else:
                found.add(shown(path), partial(_same, entry))
    for path in files:
        if path.stem not in described:
            found.add(shown(path), partial(_read, path, others, progress))


def _directories(folder: Path, found: Collection) -> Iterator[list[Path]]:
    """The regular files of each directory that has any."""
    seen: set[tuple[int, int]] = set()

    def note(error: OSError) -> None:
        where = shown(Path(error.filename or folder))
        why = error.strerror or str(error)
        found.errors.append(InputError(f"cannot be read: {why}", where=where))

    for root, names, files in os.walk(folder, onerror=note):
        names[:] = sorted(set(names) - _SKIPPED)
        regular = []
        for name in sorted(files):
            path = Path(root, name)
            with suppress(OSError):  # a dangling link, or gone by now
                status = path.stat()
                key = (status.st_dev, status.st_ino)
                if stat.S_ISREG(status.st_mode) and key not in seen:
                    seen.add(key)
                    regular.append(path)
        if regular:
            yield regular


def _same(reading: Reading) -> Reading:
    return reading


def _read(path: Path, others: _Others, progress: Progress | None) -> Reading | None:
    head = read_head(path)
    if may_hold_code(head):
        return read_binary(path, head)
    if head.startswith(_ZIP):
        return read_zip(path, progress=progress)
    if describe(head) == "PTX text":
        others.ptx.append(path)
    elif path.suffix.lower() == ".cu":
        others.sources.append(path)
    return None
