"""Any program, run as a process of its own: how long it took, how it ended, what it printed."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
import time
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from perfkit.device.process_tree import Process, Tree
from perfkit.errors import UsageError
from perfkit.files import shown
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.device.nvml import CardState, Monitor

#: stands in a command for the path of a file that it writes its results to
OUT: Final = "{out}"
_WATCH_S: Final = 0.25  #: between looks at the cards
_MOMENT_S: Final = 0.2
_TAIL_BYTES: Final = 2048


@record
class Program:
    """``words`` are the program and its arguments, or one line for the shell."""

    words: tuple[str, ...]
    is_shell: bool = False
    folder: Path | None = None  #: where it runs; None: here

    @property
    def title(self) -> str:
        return self.words[0] if self.is_shell else shlex.join(self.words)

    @property
    def writes_out(self) -> bool:
        return any(OUT in word for word in self.words)


@record
class Executed:
    """How a program ended."""

    wall_s: float  #: from its start to its end
    failure: str | None  #: None: it ended by itself, with 0
    log: str  #: the end of what it printed, where it failed
    clock_hz: float | None  #: median of the SM clocks while it ran, of the card at work
    throttles: tuple[str, ...]
    left: tuple[str, ...] = ()  #: processes that it started and that still run


def program(text: str, option: str, *, shell: bool, folder: Path | None) -> Program:
    """A command line as typed: words as a shell would split it, or a line for the shell.

    Raises:
        UsageError: nothing, quotes that do not close, or a folder that is none.
    """
    try:
        words = (text,) if shell else tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: {str(error).lower()}") from None
    if not text.strip() or not words:
        raise UsageError(f"{option} is empty: there is no program to run")
    if "\0" in text:
        raise UsageError(f"{option} has a NUL character in it")
    if folder is not None and not folder.is_dir():
        raise UsageError(f"{option} would run in {shown(folder)}, which is no folder")
    return Program(words=words, is_shell=shell, folder=folder)


def execute(
    what: Program,
    time_limit_s: float,
    *,
    stdout: Path,
    stderr: Path,
    out: Path,
    monitors: Sequence[Monitor] = (),
) -> Executed:
    """Run a program to its end, or to the end of its time; Ctrl-C ends it, too.

    Args:
        what: the program.
        time_limit_s: after so long it is ended, with all that it and programs before it started.
        stdout: file for what it prints.
        stderr: the same for its other output.
        out: path that takes the place of ``{out}``.
        monitors: cards to watch meanwhile.
    """
    states: list[list[CardState]] = []  # of all cards, look by look
    tree = _tree()
    try:
        with stdout.open("wb") as output, stderr.open("wb") as errors, tree.gathering():
            started = time.perf_counter()
            child = subprocess.Popen(  # noqa: S603 - what the user asks to run
                _command(what, out),
                shell=what.is_shell,
                cwd=what.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=tree.environment(),
                # its own group: it ends with all that it started, and Ctrl-C arrives here alone
                start_new_session=os.name == "posix",
            )
            ended, wall_s = _watched(child, started, time_limit_s, monitors, states)
            left = _left(child)
    except (OSError, ValueError) as error:
        return Executed(
            wall_s=0.0, failure=_not_started(what, error), log="", clock_hz=None, throttles=()
        )
    names = tuple(map(str, left))
    failure = _failure(child.returncode) if ended else f"ran longer than {time_limit_s:g} s"
    if names and not ended:
        failure = f"{failure}, and cannot be ended: {', '.join(names)}"
    # of several cards the fastest is the one at work
    clocks = [clock for look in states if (clock := max(s.sm_clock_hz or 0 for s in look))]
    return Executed(
        wall_s=wall_s,
        failure=failure,
        log=tail(stderr) or tail(stdout) if failure else "",
        clock_hz=median(clocks) if clocks else None,
        throttles=tuple(dict.fromkeys(t for look in states for s in look for t in s.throttles)),
        left=names,
    )


def _left(child: subprocess.Popen[bytes]) -> tuple[Process, ...]:
    """What it has left behind; what only needs a moment to see that it is over gets that."""
    deadline = time.monotonic() + _MOMENT_S
    while (left := _tree().left(child)) and time.monotonic() < deadline:
        time.sleep(_MOMENT_S / 10)
    return left


@cache
def _tree() -> Tree:
    """One for all programs: what an earlier run has left is ended with a later one."""
    return Tree(adopts=True)


def _command(what: Program, out: Path) -> list[str] | str:
    if what.is_shell:
        return what.words[0].replace(OUT, shlex.quote(str(out)))
    return [word.replace(OUT, str(out)) for word in what.words]


def _watched(
    child: subprocess.Popen[bytes],
    started: float,
    time_limit_s: float,
    monitors: Sequence[Monitor],
    states: list[list[CardState]],
) -> tuple[bool, float]:
    """Whether the child ended by itself, and when: told by a thread that does nothing but wait."""
    ended_at: list[float] = []
    # an event, because a join that Ctrl-C interrupts takes the thread for ended (Python 3.11)
    ended = threading.Event()

    def wait() -> None:
        child.wait()
        ended_at.append(time.perf_counter())
        ended.set()

    by_itself = False
    try:
        # within: the start waits for the thread, and Ctrl-C may come meanwhile
        threading.Thread(target=wait, daemon=True).start()
        while not by_itself and (left := started + time_limit_s - time.perf_counter()) > 0:
            by_itself = ended.wait(min(left, _WATCH_S if monitors else 1.0))
            if monitors and not by_itself:
                states.append([monitor.state() for monitor in monitors])
    finally:
        if not by_itself:
            _tree().end(child)
            child.wait()
    ended.wait()
    return by_itself, ended_at[0] - started


def _not_started(what: Program, error: OSError | ValueError) -> str:
    """Of a folder that is not there the error names the folder."""
    name = (error.filename if isinstance(error, OSError) else None) or what.words[0]
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot be started: {shown(name)}: {reason}"


def _failure(status: int) -> str | None:
    if status == 0:
        return None
    if status > 0:
        return f"ended with exit code {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"


def tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return file.read().decode("utf-8", "replace").strip()
