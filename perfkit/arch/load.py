"""Where the database is, and reading one file of it at a time.

The shipped database lies in the installed package (``perfkit/archdb``) or beside it in a checkout.
``PERFKIT_ARCHDB`` names a directory of the same layout whose files come first: they add to it or
replace files of the same name.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.errors import ArchDataError

if TYPE_CHECKING:
    from perfkit.arch.types import Bibliography, Capability, Gpu

ENVIRONMENT: Final = "PERFKIT_ARCHDB"
CAPABILITIES: Final = "compute_capability"
GPUS: Final = "gpu"
ALIASES: Final = "aliases.yaml"
SOURCES: Final = "sources.yaml"
CHIPS: Final = "chips.yaml"

_CAPABILITY: Final = re.compile(r"sm_\d+", re.ASCII)


def shipped() -> Path:
    """The database that came with perfkit.

    Raises:
        ArchDataError: the installation lacks it.
    """
    package = Path(__file__).parent.parent
    for candidate in (package / "archdb", package.parent / "archdb"):
        if (candidate / CAPABILITIES).is_dir():
            return candidate
    raise ArchDataError(
        "the installation has no database", where=str(package / "archdb"), hint="reinstall perfkit"
    )


def overlay() -> Path | None:
    """The user's own directory, if one is set.

    Raises:
        ArchDataError: it is set and is no directory.
    """
    value = os.environ.get(ENVIRONMENT)
    if not value:
        return None
    directory = Path(value)
    if not directory.is_dir():
        raise ArchDataError(
            f"{ENVIRONMENT} names {value!r}, which is no directory",
            where=value,
            hint=f"unset {ENVIRONMENT}, or point it at a directory laid out like archdb/",
        )
    return directory


def directories() -> tuple[Path, ...]:
    """The directories to search, the user's first.

    Raises:
        ArchDataError: as ``overlay`` and ``shipped``.
    """
    mine = overlay()
    return (mine, shipped()) if mine else (shipped(),)


def misplaced(directory: Path, *, deep: bool = True) -> dict[Path, str]:
    """YAML files that nothing reads -> what to do with each; hidden ones are nobody's business.

    Args:
        directory: a database or overlay.
        deep: look into the folders, too; otherwise one listing.
    """
    found: dict[Path, str] = {}
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        place = os.path.relpath(folder, directory)
        for name in sorted(names):
            if name.endswith((".yaml", ".yml")) and not name.startswith("."):
                advice = _advice(place, name)
                if advice:
                    found[Path(folder) / name] = advice
    return found


def _advice(place: str, name: str) -> str | None:
    """What to do with a YAML file at ``place`` in a database; None: it lies where it belongs."""
    stem, _, ending = name.rpartition(".")
    called = f"{stem}.yaml"
    if place in {CAPABILITIES, GPUS}:
        return None if ending == "yaml" else f"name it {called}"
    if called in {ALIASES, SOURCES, CHIPS}:
        return None if (place, ending) == (".", "yaml") else f"move it to {called}"
    folder = CAPABILITIES if _CAPABILITY.fullmatch(stem) else GPUS
    return f"move it to {folder}/{called}"


def searched() -> tuple[Path, ...]:
    """``directories``, if the user's holds no file that would be passed over in silence.

    Raises:
        ArchDataError: it does; also as ``directories``.
    """
    found = directories()
    if len(found) > 1:
        _glance(found[0], _stamp(found[0]))
    return found


def refuse_misplaced(directory: Path, *, deep: bool = True) -> None:
    """Raise an ``ArchDataError`` if anything is ``misplaced``."""
    for path, hint in misplaced(directory, deep=deep).items():
        raise ArchDataError("nothing reads a file at this place", where=str(path), hint=hint)


@functools.lru_cache(maxsize=8)
def _glance(directory: Path, _: tuple[int, int]) -> None:
    refuse_misplaced(directory, deep=False)


def files(kind: str) -> dict[str, Path]:
    """Name without ``.yaml`` -> file, over all directories. Nothing is read.

    Raises:
        ArchDataError: the user's directory holds a file that would be passed over in silence.
    """
    found: dict[str, Path] = {}
    for directory in searched():
        folder = directory / kind
        if folder.is_dir():
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries)
            for name in names:
                if name.endswith(".yaml"):
                    found.setdefault(name.removesuffix(".yaml"), folder / name)
                elif name.endswith(".yml"):
                    refuse_misplaced(directory)
    return found


def capability_file(path: Path) -> Capability:
    """Read one capability, or return it if the file has not changed since.

    Raises:
        ArchDataError: the file breaks the schema.
    """
    return _capability(path, _stamp(path))


def gpu_file(path: Path) -> Gpu:
    """Read one product, or return it if the file has not changed since.

    Raises:
        ArchDataError: the file breaks the schema.
    """
    return _gpu(path, _stamp(path))


def aliases() -> dict[str, str]:
    """Alias -> product key as written; the user's directory wins.

    Raises:
        ArchDataError: a file breaks the schema.
    """
    merged: dict[str, str] = {}
    for path in _existing(ALIASES):
        for name, (key, _) in _aliases(path, _stamp(path)).items():
            merged.setdefault(name, key)
    return merged


def sources() -> dict[str, Bibliography]:
    """The bibliography: source id -> entry; the user's directory wins.

    Raises:
        ArchDataError: a file breaks the schema.
    """
    merged: dict[str, Bibliography] = {}
    for path in _existing(SOURCES):
        for name, (entry, _) in _sources(path, _stamp(path)).items():
            merged.setdefault(name, entry)
    return merged


def chips() -> dict[str, tuple[str, ...]]:
    """Chip, in lower case -> keys of products that carry it; the user's directory wins.

    Raises:
        ArchDataError: a file breaks the schema.
    """
    from perfkit.arch import schema

    merged: dict[str, tuple[str, ...]] = {}
    for path in _existing(CHIPS):
        for name, (keys, _) in schema.read_chips(path).items():
            merged.setdefault(name, keys)
    return merged


def _existing(name: str) -> list[Path]:
    return [path for folder in searched() if (path := folder / name).exists()]


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when a file does."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)  # reading it says what is wrong
    return (status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=256)
def _capability(path: Path, _: tuple[int, int]) -> Capability:
    from perfkit.arch import schema

    return schema.read_capability(path)


@functools.lru_cache(maxsize=256)
def _gpu(path: Path, _: tuple[int, int]) -> Gpu:
    from perfkit.arch import schema

    return schema.read_gpu(path)


@functools.lru_cache(maxsize=8)
def _aliases(path: Path, _: tuple[int, int]) -> dict[str, tuple[str, int]]:
    from perfkit.arch import schema

    return schema.read_aliases(path)


@functools.lru_cache(maxsize=8)
def _sources(path: Path, _: tuple[int, int]) -> dict[str, tuple[Bibliography, int]]:
    from perfkit.arch import schema

    return schema.read_sources(path)
