"""All that a program has started: found and ended, also what left its group, session and parent.

A signal to the group misses a process that called ``setsid``, and one whose parent has ended hangs
from nothing any more. On Linux ``/proc`` tells them: by descent, by the session, and by a mark in
the environment, which every process inherits. Meanwhile this process takes orphans in
(``PR_SET_CHILD_SUBREAPER``), so that one that cleared its environment is known, too. If this
process is killed, ``guard`` ends what bears the mark and what descends from that. Elsewhere the
group alone is ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from perfkit.device.guard import Guard
from perfkit.record import record

if TYPE_CHECKING:
    import subprocess

#: names every tree that a process is part of: trees within trees add theirs
MARK: Final = "PERFKIT_TREE"
_PATIENCE_S: Final = 5.0  #: processes that end others' work die at once, unless a driver holds them
_POLL_S: Final = 0.005
#: signals that ask a process to end
REQUESTS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37  # of prctl(2)


@record
class Process:
    pid: int
    name: str
    state: str
    parent: int
    session: int

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


class Tree:
    """What programs started with ``environment`` have started.

    Args:
        adopts: whether every orphan that arrives here is theirs. Only where nothing else in this
            process starts programs meanwhile.
        mark: of a tree that is there already; None: a new one.
    """

    def __init__(self, *, adopts: bool, mark: str | None = None) -> None:
        self._mark = mark or uuid4().hex
        self._adopts = adopts
        self._guard: Guard | None = None
        self._others: frozenset[int] = frozenset()  # children that are not of the tree

    def environment(self) -> dict[str, str]:
        """That a program is to be started with."""
        outer = os.environ.get(MARK)
        return {**os.environ, MARK: f"{outer},{self._mark}" if outer else self._mark}

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Take orphans in, as long as a program runs; the end of this process is its end, too."""
        if not self._adopts:
            yield
            return
        if self._guard is None and sys.platform == "linux":
            self._guard = Guard(self._mark)
        found = _processes()
        ours = [one.pid for one in found.values() if one.parent == os.getpid()]
        self._others = frozenset(pid for pid in ours if not self._marked(pid))
        before = _subreaper()
        _be_subreaper(on=True)
        if self._guard is not None:
            self._guard.begun()
        try:
            yield
        finally:
            if self._guard is not None:
                self._guard.ended()
            _be_subreaper(on=before)

    def left(self, child: subprocess.Popen[bytes] | None = None) -> tuple[Process, ...]:
        """What is still running of the tree, the program itself not counted if it is known."""
        root = child.pid if child else None
        found = [one for one in self._members(root) if one.pid != root]
        for one in found:
            if one.state == "Z" and one.parent == os.getpid():
                _reap(one.pid)
        return tuple(one for one in found if one.state not in "ZX")

    def end(self, child: subprocess.Popen[bytes] | None = None) -> tuple[Process, ...]:
        """End the program and its tree, without asking; gives what cannot be ended.

        Ctrl-C waits until that is done. The program itself is left for its owner to wait for.
        """
        with _undisturbed():
            if child and os.name != "posix":
                child.kill()
                return ()
            if child:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
            deadline = time.monotonic() + _PATIENCE_S
            # what is started between a look and its signals is found by the next look
            while left := self.left(child):
                kept = [one for one in left if not _kill(one.pid)]
                if len(kept) == len(left) or time.monotonic() > deadline:
                    return left
                time.sleep(_POLL_S)
        return ()

    def _members(self, root: int | None) -> list[Process]:
        found = _processes()
        here = os.getpid()
        members = {
            one.pid
            for one in found.values()
            if root in {one.pid, one.session}
            or (self._adopts and one.parent == here and one.pid not in self._others)
            or self._marked(one.pid)
        }
        members.discard(here)
        new = members
        while new:
            new = {one.pid for one in found.values() if one.parent in new} - members
            members |= new
        return [found[pid] for pid in members if pid in found]

    def _marked(self, pid: int) -> bool:
        try:
            return self._mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:  # ended meanwhile, or somebody else's
            return False


def _processes() -> dict[int, Process]:
    """Those that this system tells of; none where there is no ``/proc``."""
    found = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - names are all that is needed
    except OSError:
        names = []
    for name in names:
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
                text = Path(f"/proc/{name}/stat").read_bytes().decode("utf-8", "replace")
                # the name is in brackets, and may have some itself
                before, _, after = text.rpartition(")")
                state, parent, _, session, *_ = after.split()
                found[int(name)] = Process(
                    pid=int(name),
                    name=before.partition("(")[2],
                    state=state,
                    parent=int(parent),
                    session=int(session),
                )
    return found


def _kill(pid: int) -> bool:
    """Whether it takes the signal; what has ended meanwhile does."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _subreaper() -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    value = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(_GET_SUBREAPER, ctypes.byref(value), 0, 0, 0)
    return bool(value.value)


def _be_subreaper(*, on: bool) -> None:
    """A kernel that does not know this leaves everything as it is."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_SUBREAPER, ctypes.c_ulong(on), 0, 0, 0)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C must not leave half a tree behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        one: signal.signal(one, signal.SIG_IGN)
        for one in REQUESTS
        if signal.getsignal(one) is not None  # set by other than Python: it cannot be put back
    }
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
