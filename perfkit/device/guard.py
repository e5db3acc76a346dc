"""A process beside this one that ends a tree if this one is killed (SIGKILL, out of memory).

It waits at the end of a pipe, and costs nothing meanwhile. That its other end is closed tells it
that perfkit is gone, whatever became of perfkit's threads; what was written before, whether a
program was running. Linux only: elsewhere nothing tells what belongs to a tree.

    python -m perfkit.device.guard MARK
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from typing import Final

_BEGUN: Final = b"+"
_ENDED: Final = b"-"
_READY: Final = b"r"
_PATIENCE_S: Final = 5.0
#: a program that was just being started bears no mark before that
_MOMENT_S: Final = 0.05


class Guard:
    """Watches over the tree of ``mark`` from now on, until nobody holds this object."""

    def __init__(self, mark: str) -> None:
        child = subprocess.Popen(  # noqa: S603 - this very Python
            [sys.executable, "-m", "perfkit.device.guard", mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # what is sent to the group of this process is not for it
        )
        assert child.stdin is not None  # noqa: S101 - they are pipes
        assert child.stdout is not None  # noqa: S101
        # its start would take time from the program that it waits for
        select.select([child.stdout], [], [], _PATIENCE_S)
        child.stdout.close()
        self._pipe = child.stdin
        weakref.finalize(self, _dismiss, child)

    def begun(self) -> None:
        """From here on a program runs that must not survive this process."""
        self._tell(_BEGUN)

    def ended(self) -> None:
        """It has ended; what it has left behind may stay."""
        self._tell(_ENDED)

    def _tell(self, what: bytes) -> None:
        with contextlib.suppress(OSError):  # somebody has ended it: there is no guard, then
            self._pipe.write(what)


def _dismiss(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None  # noqa: S101
    child.stdin.close()
    try:
        child.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def main() -> None:
    """Wait for the end of the other process; end what it has left running."""
    from perfkit.device.process_tree import REQUESTS, Tree

    for request in REQUESTS:
        signal.signal(request, signal.SIG_IGN)
    os.write(sys.stdout.fileno(), _READY)
    last = _ENDED
    while told := os.read(sys.stdin.fileno(), 64):
        last = told[-1:]
    if last == _BEGUN:
        time.sleep(_MOMENT_S)
        Tree(adopts=False, mark=sys.argv[1]).end()


if __name__ == "__main__":
    main()
