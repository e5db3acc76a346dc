"""What is being read or done, on a terminal's stderr, once it takes long enough to wonder."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_S: Final = 1.0
_CLEAR: Final = "\r\x1b[K"


@contextmanager
def progress(verb: str = "reading") -> Iterator[Callable[[str], None]]:
    """A function to tell what is being read, or done; it does nothing where nobody watches."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    start = time.monotonic()
    written = False

    def tell(what: str) -> None:
        nonlocal written
        if time.monotonic() - start < _PATIENCE_S:
            return
        room = shutil.get_terminal_size().columns - len(verb) - 3
        shown = what if len(what) <= room else "…" + what[-room + 1 :]
        sys.stderr.write(f"{_CLEAR}{verb} {shown}")
        sys.stderr.flush()
        written = True

    try:
        yield tell
    finally:
        if written:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
