"""Compiled sources on disk, so that the second question about a kernel costs no compiler.

One JSON file per entry, named by the hash of everything that decides the result. Entries are
written whole or not at all; a broken one counts as absent and is written anew; a directory that
cannot be used is no error. ``PERFKIT_CACHE`` names another directory, or ``off``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

FORMAT: Final = 2  #: of an entry; part of every key
LIMIT_BYTES: Final = 256 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledSource:
    """What the compiler made of one source for one target."""

    cubin: bytes = field(repr=False)
    log: str  #: the compiler's output, unchanged, ``ptxas -v`` included
    compiler: str  #: ``NVRTC 12.9.86``
    target: str  #: ``sm_90a``
    entries: tuple[tuple[str, int | None], ...]  #: kernels in source order, with their min_blocks
    dynamic: tuple[str, ...] = ()  #: those that use dynamic shared memory


def directory() -> Path | None:
    """Where entries go; None: nowhere.

    ``PERFKIT_CACHE``, else ``XDG_CACHE_HOME`` or the platform's own place for caches.
    """
    asked = os.environ.get("PERFKIT_CACHE", "")
    if asked:
        return None if asked.lower() == "off" else Path(asked)
    if (base := os.environ.get("XDG_CACHE_HOME", "")) and Path(base).is_absolute():
        return Path(base, "perfkit")
    try:
        home = Path.home()
    except RuntimeError:  # no home: a container without a user
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData/Local"), "perfkit", "cache")
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "perfkit"


def key_of(*parts: bytes) -> str:
    """A hash that changes when any part does; lengths keep neighbours apart."""
    digest = hashlib.sha256(b"perfkit compile cache %d" % FORMAT)
    for part in parts:
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def load(key: str) -> CompiledSource | None:
    """The entry, or None where there is none that can be trusted."""
    folder = directory()
    if folder is None:
        return None
    path = folder / f"{key}.json"
    try:
        entry = json.loads(path.read_bytes())
        if entry["check"] != _check(entry):
            return None
        found = CompiledSource(
            cubin=base64.b64decode(entry["cubin"], validate=True),
            log=entry["log"],
            compiler=entry["compiler"],
            target=entry["target"],
            entries=tuple((name, blocks) for name, blocks in entry["entries"]),
            dynamic=tuple(entry["dynamic"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        return None
    with suppress(OSError):
        os.utime(path)  # the age decides who goes first
    return found


def store(key: str, compiled: CompiledSource) -> None:
    """Write the entry, and delete the oldest until all fit in ``LIMIT_BYTES``."""
    folder = directory()
    if folder is None:
        return
    entry: dict[str, object] = {
        "cubin": base64.b64encode(compiled.cubin).decode("ascii"),
        "log": compiled.log,
        "compiler": compiled.compiler,
        "target": compiled.target,
        "entries": compiled.entries,
        "dynamic": compiled.dynamic,
    }
    entry["check"] = _check(json.loads(json.dumps(entry)))
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / f"{key}.json", json.dumps(entry).encode("utf-8"))
        _trim(folder)


def _check(entry: dict[str, object]) -> str:
    """A hash of the entry's own content: a flipped bit must not become a register count."""
    kept = {name: value for name, value in entry.items() if name != "check"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode("utf-8")).hexdigest()


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    finally:
        with suppress(OSError):  # gone, if the rename worked
            Path(temporary).unlink()


def _trim(folder: Path) -> None:
    entries = []
    for path in folder.glob("*.json"):
        with suppress(OSError):  # another process may have deleted it
            status = path.stat()
            entries.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= LIMIT_BYTES:
            break
        with suppress(OSError):
            path.unlink()
            total -= size
