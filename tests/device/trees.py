"""A program that leaves its group, its session and its parent behind, as daemons do."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

#: Forks twice with a session between, and again below that; writes the ids of all of them.
#: argv: file for the ids, ``clean`` or ``kept`` environment, what the program itself does then.
DAEMON = """
import os, sys, time
place, environment, then = sys.argv[1:]
def told(name):
    with open(place, "a") as file:
        file.write(f"{name} {os.getpid()}\\n")
def stay():
    if environment == "clean":
        os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(60)"], {})
    time.sleep(60)
told("program")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        told("daemon")
        if os.fork() == 0:
            os.setsid()
            told("its child")
            stay()
        stay()
    os._exit(0)
os.wait()
while open(place).read().count("\\n") < 3:
    time.sleep(0.01)
print("time: 1 ms", flush=True)
if then == "stay":
    time.sleep(60)
"""


def command(place, *, clean=False, stay=True):
    """The words of the program."""
    environment, then = "clean" if clean else "kept", "stay" if stay else "end"
    return [sys.executable, "-c", DAEMON, str(place), environment, then]


def ids(place, seconds=20.0):
    """What the program has written, once all of it is there."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        lines = place.read_text().splitlines() if place.exists() else []
        if len(lines) == 3:
            return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
        time.sleep(0.01)
    raise AssertionError("the program did not start")


def running(pid):
    """Whether it does anything yet: nobody may have waited for what has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def survivors(found, seconds=2.0):
    """Those still running, and ends them, so that no test leaves anything."""
    deadline = time.monotonic() + seconds
    while any(map(running, found.values())) and time.monotonic() < deadline:
        time.sleep(0.01)
    left = {name: pid for name, pid in found.items() if running(pid)}
    for pid in left.values():
        os.kill(pid, 9)
    return left
