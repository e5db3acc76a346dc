"""Files that several programs write and that no crash may break.

A file is written beside its place, brought to the disk, and put in place by one rename: whoever
looks, at any moment, sees all of the old one or all of the new one. Writers that first read what is
there take turns by a lock that the system gives back however its holder ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfkit import files
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: a writer holds the lock for milliseconds; on a slow network disk for a second or two
PATIENCE_S: Final = 60.0
_POLL_S: Final = 0.005


@contextmanager
def writable(path: str | Path) -> Iterator[None]:
    """Say why a file cannot be written; a path with a NUL character is a ``ValueError``."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"cannot be written: {reason}", where=files.shown(path)) from error


def placed(path: Path, option: str) -> Path:
    """The path, if its folder can be written: told before the work, which may take hours.

    Raises:
        UsageError: it cannot, or is none.
    """
    if not os.path.lexists(path):
        folder = os.path.dirname(path) or "."  # noqa: PTH120 - never raises, whatever is typed
        reason = None if os.access(folder, os.W_OK) else errno.EACCES
        if not os.path.isdir(folder):  # noqa: PTH112 - as above
            reason = errno.ENOTDIR if os.path.lexists(folder) else errno.ENOENT
        if reason is not None:
            raise UsageError(f"{option} {files.shown(path)}: {os.strerror(reason)}")
    return path


def replace(path: str | Path, data: bytes, *, name: str = "partial") -> None:
    """Put ``data`` in the place of a file, or make it; a symbolic link stays one.

    Args:
        path: the file. Its permissions stay.
        data: all of it.
        name: of the temporary file beside it. Writers that hold the file's lock share one, so that
            what a killed one left is overwritten by the next.

    Raises:
        UsageError: it cannot be written; then it is as it was.
    """
    with writable(path):
        place = _place(path)
        mode = _mode(place)
        partial = place.with_name(f".{place.name}.{name}")
        try:
            with partial.open("wb") as stream:
                if mode is not None:
                    partial.chmod(mode)
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(place)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
        _sync_folder(place.parent)


def _place(path: str | Path) -> Path:
    place = Path(os.path.realpath(path))
    if place.is_symlink():  # it leads to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file")
    return place


def _mode(place: Path) -> int | None:
    """Permissions to keep. A file that must not be written is not replaced either."""
    if not place.exists():
        return None
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return place.stat().st_mode & 0o777


def _sync_folder(folder: Path) -> None:
    """The rename itself reaches the disk; some systems cannot open a folder, and need not."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(path: str | Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock of a file, ``.NAME.lock`` beside it, which is gone afterwards.

    The lock is the system's, on that file: there is no stale one, because it ends with its holder.

    Raises:
        UsageError: the folder cannot be written, or somebody holds it longer than ``patience_s``.
    """
    with writable(path):
        place = Path(os.path.realpath(path))
        guard = place.with_name(f".{place.name}.lock")
        descriptor = _acquire(guard, patience_s)
    if descriptor is None:
        raise UsageError(
            f"another program has held its lock for {patience_s:g} s",
            where=files.shown(path),
            hint=f"see which one has {files.shown(guard)} open",
        )
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows does not remove what is open
            guard.unlink()
        os.close(descriptor)


def _acquire(guard: Path, patience_s: float) -> int | None:
    """An open descriptor that holds the lock; None: out of patience."""
    deadline = time.monotonic() + patience_s
    while True:
        descriptor = os.open(guard, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if _TRY(descriptor) and _is_still(guard, descriptor):
                held, descriptor = descriptor, -1
                return held
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        if time.monotonic() > deadline:
            return None
        time.sleep(_POLL_S)


def _is_still(guard: Path, descriptor: int) -> bool:
    """Whether the file locked is the one at the path: its last holder removes it."""
    try:
        return os.path.samestat(guard.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _locking() -> Callable[[int], bool]:
    """How this system locks a file, without waiting."""
    call: Any
    try:
        import fcntl

        def call(descriptor: int) -> None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ModuleNotFoundError:
        import msvcrt  # the other kind of system

        def call(descriptor: int) -> None:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

    def attempt(descriptor: int) -> bool:
        try:
            call(descriptor)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}:
                return False
            raise
        return True

    return attempt


_TRY: Final = _locking()
