"""Everything but launching works on Windows and macOS, too: no module needs POSIX to be imported.

There is no such machine here, so that a fresh interpreter pretends: ``sys.platform`` and
``os.name`` are the other system's, and what that system lacks is gone: modules, functions, signals.
The standard library and the packages that perfkit stands on are loaded before; they chose their
side rightly. The lists are those of the Python documentation ("Availability: Unix").
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import importlib, json, os, pathlib, pkgutil, signal, sys, types
import asyncio, ctypes, importlib.util, multiprocessing, shutil, subprocess, tempfile, threading
import pandas, typer, yaml
for extra in ("pytest", "textual.app"):
    if importlib.util.find_spec(extra.partition(".")[0]):
        importlib.import_module(extra)

system, name = sys.argv[1], sys.argv[2]
lacks = {"modules": [], "os": [], "signal": []} if name == "posix" else {
    "modules": ["curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog",
                "termios", "tty"],
    "os": ["O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod", "fork",
           "forkpty", "getgid", "geteuid", "getpgid", "getuid", "killpg", "mkfifo", "nice", "pread",
           "preadv", "register_at_fork", "sched_getaffinity", "sched_setaffinity", "setsid",
           "statvfs", "sysconf", "uname", "wait3", "wait4"],
    "signal": ["SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2", "alarm",
               "pthread_sigmask", "setitimer"],
}

class Missing:
    def find_spec(self, wanted, path=None, target=None):
        if wanted in lacks["modules"]:
            raise ModuleNotFoundError(f"No module named {wanted!r}", name=wanted)

for one in lacks["modules"]:
    sys.modules.pop(one, None)
sys.meta_path.insert(0, Missing())
for module in (os, signal):
    for one in lacks[module.__name__]:
        if hasattr(module, one):
            delattr(module, one)
if name == "nt":
    locks = types.ModuleType("msvcrt")
    locks.LK_NBLCK, locks.locking = 2, lambda descriptor, mode, size: None
    sys.modules["msvcrt"] = locks
    pathlib.WindowsPath = pathlib.PosixPath  # what Path() makes there; the files lie here
sys.platform, os.name = system, name

import perfkit
found = [one.name for one in pkgutil.walk_packages(perfkit.__path__, "perfkit.")]
failed = {}
for module in found:
    try:
        importlib.import_module(module)
    except Exception as error:
        failed[module] = repr(error)

from perfkit import durable
from perfkit.__main__ import main
with durable.locked("there.txt"):
    durable.replace("there.txt", b"all of it")
codes = {}
for line in json.loads(sys.argv[3]):
    sys.argv[1:] = line.split()
    codes[line] = main()
print()
print(json.dumps({"found": len(found), "failed": failed, "codes": codes}))
"""

CUBIN = ROOT / "tests" / "data" / "cubin" / "j04.sm_90.cubin"
COMMANDS = [
    "--version",
    "occupancy -g h100 -t 256 -r 40 -s 16K",
    f"inspect {CUBIN}",
    f"fits {CUBIN} -g h100 -o fits.json -f json",
    "sweep -g 9.0 -t 32:1024:32 -r 40 -f csv -o sweep.csv",
    "carveout -g a100 -t 128 -r 32 -s 1K",
    "access banks --stride 2",
    "roofline -g h100 --dtype f16 --op gemm:4096",
    "recommend -g h100 -r 40 --code cuda",
    "overlap --h2d 1G --d2h 1G --kernel-ms 40 --link pcie4x16 --chunks 4",
    "gpu list",
    "arch check",
    "gate --help",
    "schema occupancy",
]


@pytest.mark.parametrize(("system", "name"), [("win32", "nt"), ("darwin", "posix")])
def test_elsewhere_everything_is_imported_and_answers(system, name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, system, name, json.dumps(COMMANDS)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode("cp1252")
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["found"] > 300
    assert said["failed"] == {}
    wrong = {line: code for line, code in said["codes"].items() if code}
    assert wrong == {}, done.stderr.decode("cp1252")
    assert json.loads((tmp_path / "fits.json").read_text("utf-8"))
    assert b"\r" not in (tmp_path / "fits.json").read_bytes()


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "latin-1"])
def test_a_terminal_without_unicode_gets_the_answer(encoding):
    """The history has bars, gates have arrows: what the code page lacks becomes ``?``."""
    program = (
        "from perfkit.cli import app, emit, talk; import sys; app.main(['--version']);"
        "emit.write('\\u00d7 \\u00b5s \\u2192 \\u2581\\u2588 end\\n', None);"
        "talk.say('\\u00d7 \\u00b5s \\u2192 end')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(encoding).splitlines()[-1].endswith("end")
    assert done.stderr.decode(encoding).rstrip().endswith("end")
