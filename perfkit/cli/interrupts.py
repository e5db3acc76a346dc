"""A request to end, as of a cancelled job or a closed terminal, is taken like Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: SIGHUP is one of POSIX; a program under ``nohup`` ignores it, and goes on doing so
_REQUESTS: Final = ("SIGTERM", "SIGHUP")


@contextmanager
def terminable() -> Iterator[None]:
    """These raise ``KeyboardInterrupt`` within the block, where signals can be handled."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = [getattr(signal, name) for name in _REQUESTS if hasattr(signal, name)]
    before = {
        one: signal.signal(one, signal.default_int_handler)
        for one in known
        if signal.getsignal(one) not in {signal.SIG_IGN, None}
    }
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
