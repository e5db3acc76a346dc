"""Risky work in a process of its own: a hang, a crash or an illegal address ends that child alone.

The child sees one card (``CUDA_VISIBLE_DEVICES``), gets a task and its arguments as a JSON file,
and appends each result as a line of JSON to a file the moment it has it: what was done before the
end, however it comes, is kept. Its own output goes to a log. A time limit and caps on the memory
of host and card are watched from outside.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfkit.device.process_tree import Tree
from perfkit.errors import EXIT_INTERRUPTED
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.nvml import Monitor

_POLL_S: Final = 0.02
_WATCH_S: Final = 0.25  #: between looks at the memory
_LOG_TAIL_BYTES: Final = 8192
GIB: Final = 2**30


class End(StrEnum):
    """How a child that failed came to its end."""

    ERROR = "error"  #: it said why
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"


@record
class Limits:
    """What a child may take. Memory caps None: not watched."""

    seconds: float = 300
    silent_seconds: float | None = None  #: from one result to the next; None: as long as it takes
    host_bytes: int | None = 64 * GIB
    device_bytes: int | None = None


@record
class Failure:
    """Why a child did not finish. ``exit_code`` is perfkit's for this failure."""

    end: End
    message: str
    hint: str | None = None
    where: str | None = None
    exit_code: int = 5
    log: str = ""  #: the end of what it printed

    @property
    def told(self) -> str:
        """The message; of a crash the last line that the child printed says most."""
        last = self.log.splitlines()[-1:] if self.end is End.CRASHED else []
        return ": ".join([self.message, *last])


@record
class Outcome:
    """What a child gave: all its results, and the failure if it did not finish."""

    results: tuple[dict[str, Any], ...]
    failure: Failure | None


def run_child(
    task: str,
    arguments: Mapping[str, Any],
    *,
    uuid: str | None,
    limits: Limits | None = None,
    monitor: Monitor | None = None,
    on_result: Callable[[dict[str, Any]], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run a task of ``perfkit.device.tasks`` in a child.

    Args:
        task: its name in that table.
        arguments: what it is called with; JSON.
        uuid: of the card that the child sees; None: as this process.
        limits: on time and memory.
        monitor: NVML's view of that card, for the cap on its memory.
        on_result: called with each result as it comes.
        stop: asked now and then; when it says yes the child is interrupted. Ctrl-C does so, too,
            but only in the main thread.
    """
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="perfkit-") as folder:
        channel, log = Path(folder, "results.jsonl"), Path(folder, "log.txt")
        channel.touch()
        request = {"task": task, "arguments": dict(arguments), "channel": str(channel)}
        question = Path(folder, "request.json")
        question.write_text(json.dumps(request), encoding="utf-8")
        lines = _Lines(channel, on_result)
        tree = Tree(adopts=False)  # this process may be anybody's, with children of its own
        with log.open("wb") as output:
            child = _start(question, uuid, output, tree.environment())
            try:
                failure = _watch(child, limits, monitor, lines, stop)
            finally:
                if child.returncode != 0:
                    tree.end(child)
                    child.wait()
        lines.more()
        failure = lines.error or failure or _verdict(child.returncode, finished=lines.finished)
        if failure is not None:
            failure = _with_log(failure, log)
        return Outcome(results=tuple(lines.results), failure=failure)


def _start(
    question: Path, uuid: str | None, output: Any, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    if uuid is not None:
        environment["CUDA_VISIBLE_DEVICES"] = uuid
    return subprocess.Popen(  # noqa: S603 - this very Python
        [sys.executable, "-m", "perfkit.device.child_main", str(question)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=environment,
        # its own group: whatever it starts ends with it, and Ctrl-C reaches this process first
        start_new_session=os.name == "posix",
    )


class _Lines:
    """The results that a child has written so far."""

    def __init__(self, channel: Path, on_result: Callable[[dict[str, Any]], None]) -> None:
        self._channel = channel
        self._read = 0
        self._on_result = on_result
        self.results: list[dict[str, Any]] = []
        self.error: Failure | None = None
        self.finished = False
        self.last = time.monotonic()  #: when something was said

    def more(self) -> None:
        """Take the lines that are new and whole."""
        with self._channel.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        whole, newline, _ = new.rpartition(b"\n")
        self._read += len(whole) + len(newline)
        for line in whole.splitlines():
            self.last = time.monotonic()
            kind, content = json.loads(line)
            if kind == "result":
                self.results.append(content)
                self._on_result(content)
            elif kind == "error":
                self.error = Failure(end=End.ERROR, **content)
            else:
                self.finished = True


def _watch(
    child: subprocess.Popen[bytes],
    limits: Limits,
    monitor: Monitor | None,
    lines: _Lines,
    stop: Callable[[], bool],
) -> Failure | None:
    """Until the child has ended by itself, or is to be ended."""
    started = looked = time.monotonic()
    try:
        while child.poll() is None:
            time.sleep(_POLL_S)
            lines.more()
            now = time.monotonic()
            if stop():
                return _interrupted()
            if (failure := _over_time(now, started, lines.last, limits)) is not None:
                return failure
            if now - looked > _WATCH_S:
                looked = now
                if (failure := _over_memory(child.pid, limits, monitor)) is not None:
                    return failure
    except KeyboardInterrupt:
        return _interrupted()
    return None


def _interrupted() -> Failure:
    return Failure(end=End.INTERRUPTED, message="interrupted", exit_code=EXIT_INTERRUPTED)


def _over_time(now: float, started: float, last: float, limits: Limits) -> Failure | None:
    for since, limit in ((started, limits.seconds), (last, limits.silent_seconds)):
        if limit is not None and now - since > limit:
            return Failure(
                end=End.TIMEOUT,
                message=f"it ran longer than {limit:g} s and was ended",
                hint="a kernel may hang; --time-limit allows more",
            )
    return None


def _over_memory(pid: int, limits: Limits, monitor: Monitor | None) -> Failure | None:
    held = {
        "host": (_resident_bytes(pid), limits.host_bytes),
        "card": (monitor.memory_of(pid) if monitor else None, limits.device_bytes),
    }
    for whose, (used, cap) in held.items():
        if used is not None and cap is not None and used > cap:
            return Failure(
                end=End.MEMORY,
                message=f"it took {used / GIB:.1f} GiB of the {whose}'s memory and was ended",
                hint=f"the cap is {cap / GIB:.1f} GiB; --memory-limit allows more",
            )
    return None


def _resident_bytes(pid: int) -> int | None:
    """Of the host's memory; None where the system does not tell this way."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _verdict(status: int, *, finished: bool) -> Failure | None:
    """What the end of a child means that said nothing itself."""
    if status == 0 and finished:
        return None
    if status < 0:
        try:
            how = f"ended by {signal.Signals(-status).name}"
        except ValueError:
            how = f"ended by signal {-status}"
    else:
        how = f"ended early, with exit code {status}"
    return Failure(end=End.CRASHED, message=f"the process {how}")


def _with_log(failure: Failure, log: Path) -> Failure:
    from dataclasses import replace

    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LOG_TAIL_BYTES))
        tail = file.read().decode("utf-8", "replace").strip()
    return replace(failure, log=tail)
