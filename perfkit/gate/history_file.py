"""Histories as Parquet: a folder of small files, on this disk or wherever fsspec reaches.

A file is written once and never changed, under a name that nobody else takes, so that any number of
runners may add to one history at the same time. Its name has a number, one more than the last, so
that a clock that is wrong changes nothing of the order. A single Parquet file can be read as well.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from perfkit import durable, files
from perfkit.errors import InputError, NoExtra, UsageError
from perfkit.gate.history import Row
from perfkit.gate.history_row import row_of

if TYPE_CHECKING:
    from typing import Protocol

    class Place(Protocol):
        """Where a history is."""

        def names(self) -> list[str]: ...
        def ready(self) -> None: ...
        def read(self, name: str) -> bytes: ...
        def write(self, name: str, data: bytes) -> None: ...


_NEEDED: Final = ("benchmark", "value", "date")
_MOST_BYTES: Final = 2**30
#: the number of a part; older parts have none, and their date comes first
_NUMBERED: Final = re.compile(r"part-([0-9]{8})-", re.ASCII)
#: what pyarrow makes of bytes that are not Parquet, or not whole
_UNREADABLE: Final = (
    ValueError, OSError, KeyError, TypeError, NotImplementedError, ArithmeticError,
)  # fmt: skip
#: libraries behind fsspec whose errors are neither OSError nor ValueError
_ERRORS: Final = (
    ("botocore.exceptions", "BotoCoreError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("azure.core.exceptions", "AzureError"),
    ("aiohttp", "ClientError"),
)


def append(where: str, rows: Sequence[Row]) -> str:
    """Add rows as a file of their own, after those that are there; gives its name.

    Args:
        where: a folder, made if it is not there, or a URL of one: ``s3://bucket/history``.
        rows: at least one.

    Raises:
        NoExtra: pyarrow, fsspec or what it needs for this URL is not installed.
        UsageError: it cannot be written, or is a single file.
    """
    pa, pq = _arrow()
    stamp = rows[0].date.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    place = _place(where)
    place.ready()
    number = max((_number(name) for name in place.names()), default=0) + 1
    name = f"part-{number:08d}-{stamp}-{uuid4().hex}.parquet"
    columns = {
        field.name: pa.array([getattr(row, field.name) for row in rows], _type(pa, field.name))
        for field in fields(Row)
    }
    stream = BytesIO()
    pq.write_table(pa.table(columns), stream)
    place.write(name, stream.getvalue())
    return name


def _number(name: str) -> int:
    """Of a part: of two that were written at the same moment it may be the same."""
    found = _NUMBERED.match(Path(name).name)
    return int(found[1]) if found else 0


def ready(where: str) -> None:
    """Refuse before anything is measured what ``append`` would refuse afterwards; raises as it."""
    _arrow()
    _place(where).ready()


def load(where: str) -> tuple[list[Row], tuple[str, ...]]:
    """All rows in the order in which they were added, and notes on what was left out.

    Raises:
        NoExtra: as ``append``.
        InputError: nothing there, not a history, or it cannot be read.
    """
    _, pq = _arrow()
    place = _place(where)
    # by name where numbers do not tell: the same moment, or no part of perfkit's
    names = sorted(place.names(), key=lambda name: (_number(name), name))
    rows: list[Row] = []
    notes: list[str] = []
    for name in names:
        try:
            # no threads: one that only starts when the program ends aborts it
            file = pq.ParquetFile(BytesIO(place.read(name)), pre_buffer=False)
            table = file.read(use_threads=False)
            content = table.to_pylist()
        except _UNREADABLE as error:
            notes.append(f"{name} is left out: it cannot be read as Parquet ({_line(error)})")
            continue
        missing = [column for column in _NEEDED if column not in table.column_names]
        if missing:
            raise InputError(f"no history: it has no column {missing[0]!r}", where=name)
        found = [row_of(one, name) for one in content]
        rows += [row for row in found if row is not None]
        if lost := found.count(None):
            notes.append(f"{lost} rows of {name} are left out: no name, no date or no measurement")
    if not rows:
        raise InputError(
            "no history",
            where=files.shown(where),
            hint=notes[0] if notes else "perfkit gate record --history makes one",
        )
    return rows, tuple(notes)


def _line(error: Exception) -> str:
    return files.printable((str(error).splitlines() or [type(error).__name__])[0])[:120]


def _type(pa: Any, name: str) -> Any:
    types = {"value": pa.float64(), "higher_is_better": pa.bool_()}
    return pa.timestamp("us", "UTC") if name == "date" else types.get(name, pa.string())


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "pyarrow":
            raise
        raise NoExtra(
            "a history is Parquet, which needs pyarrow", hint="pip install 'perfkit[parquet]'"
        ) from None
    return pa, pq


def _place(where: str) -> Place:
    if "://" not in where:
        return _Folder(Path(where))
    if where.startswith("file://"):
        return _Folder(Path(where.removeprefix("file://")))
    return _Remote(where)


class _Folder:
    """On this disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        with files.readable(self._path):
            if not self._path.is_dir():
                self._path.stat()
                return [str(self._path)]
            found = [path for path in self._path.iterdir() if path.suffix == ".parquet"]
        return [str(path) for path in found if path.name[0] not in "._"]

    def read(self, name: str) -> bytes:
        return files.read(name, _MOST_BYTES, "a file of a history")

    def ready(self) -> None:
        """A folder that files can be added to; it is made if it is not there."""
        if self._path.is_file():
            raise UsageError(
                "a single Parquet file can be read, and nothing can be added to it",
                where=files.shown(self._path),
                hint="name a folder; the file may be moved into it",
            )
        with durable.writable(self._path):
            self._path.mkdir(parents=True, exist_ok=True)
            if not os.access(self._path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def write(self, name: str, data: bytes) -> None:
        durable.replace(self._path / name, data)


class _Remote:
    """Through fsspec. Stores of objects put a file in place as a whole."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            import fsspec
        except ModuleNotFoundError:
            raise NoExtra(
                f"{url} needs fsspec", hint="pip install 'perfkit[remote]', and s3fs for s3://"
            ) from None
        try:
            self._system, self._root = fsspec.url_to_fs(url)
        except ImportError as error:
            package = error.name or "what it names"
            raise NoExtra(f"{url}: {_line(error)}", hint=f"pip install {package}") from None
        except ValueError as error:
            raise UsageError(
                _line(error), where=url, hint="write s3://…, gs://… or a folder"
            ) from None

    @contextmanager
    def _talking(self, verb: str) -> Iterator[None]:
        try:
            yield
        except _remote_errors() as error:
            raise InputError(f"cannot be {verb}: {_line(error)}", where=self._url) from error

    def names(self) -> list[str]:
        with self._talking("read"):
            if self._system.isfile(self._root):
                return [self._root]
            found: list[str] = self._system.glob(f"{self._root.rstrip('/')}/*.parquet")
        return found

    def read(self, name: str) -> bytes:
        with self._talking("read"):
            data: bytes = self._system.cat_file(name)
        return data

    def ready(self) -> None:
        """A store that can be listed; whether it takes files it says when it gets one."""
        self.names()

    def write(self, name: str, data: bytes) -> None:
        with self._talking("written"):
            self._system.makedirs(self._root, exist_ok=True)
            self._system.pipe_file(f"{self._root.rstrip('/')}/{name}", data)


def _remote_errors() -> tuple[type[Exception], ...]:
    found = [
        getattr(sys.modules[module], name) for module, name in _ERRORS if module in sys.modules
    ]
    return (OSError, ValueError, RuntimeError, *found)
