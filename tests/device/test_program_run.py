"""Programs as processes: how long, how they end, what is left of them."""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from perfkit.device import program_run
from perfkit.device.nvml import CardState
from perfkit.device.program_run import execute, program
from perfkit.errors import UsageError

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def run(tmp_path):
    """Runs a line of Python in a process of its own."""

    def go(line, limit=10.0, **fields):
        what = program(
            f"{sys.executable} -c x", "--cmd", shell=False, folder=fields.pop("folder", None)
        )
        words = (sys.executable, "-c", line, *fields.pop("arguments", ()))
        paths = {name: tmp_path / name for name in ("stdout", "stderr", "out")}
        return execute(replace(what, words=words), limit, **paths, **fields), tmp_path

    return go


def test_output_and_time(run):
    done, folder = run("import time; time.sleep(0.2); print('hello')")
    assert done.failure is None
    assert 0.2 <= done.wall_s < 2
    assert (folder / "stdout").read_text() == "hello\n"
    assert done.log == ""


def test_the_time_is_not_that_of_a_look_now_and_then(run):
    """A wait that looks every 50 ms would make steps of that size."""
    times = [run("")[0].wall_s for _ in range(3)]
    assert len({round(t, 4) for t in times}) > 1


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("import sys; print('oh', file=sys.stderr); sys.exit(7)", "ended with exit code 7"),
        pytest.param("import os; os.kill(os.getpid(), 11)", "ended by SIGSEGV", marks=posix),
        ("import time; time.sleep(60)", "ran longer than 0.5 s"),
    ],
)
def test_what_does_not_end_well_is_named(run, line, failure):
    done, _ = run(line, limit=0.5)
    assert done.failure == failure
    assert done.log == ("oh" if "oh" in line else "")
    assert done.wall_s < 5


@posix
def test_what_it_started_ends_with_it(run):
    line = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(p.pid, flush=True); time.sleep(60)"
    )
    done, folder = run(line, limit=1.0)
    assert done.failure is not None
    pid = int((folder / "stdout").read_text())
    for _ in range(100):
        status = Path(f"/proc/{pid}/stat")
        if not status.exists() or status.read_text().split()[2] == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the grandchild is still there")


def test_a_program_that_is_not_there_is_named(tmp_path):
    what = program("no-such-program-at-all", "--cmd", shell=False, folder=None)
    done = execute(what, 1, **{name: tmp_path / name for name in ("stdout", "stderr", "out")})
    assert done.failure == "cannot be started: no-such-program-at-all: No such file or directory"


def test_it_runs_in_its_folder_with_its_file(run, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done, _ = run(
        "import os, sys; open(sys.argv[1], 'w').write(os.getcwd())",
        folder=folder, arguments=("{out}",),
    )  # fmt: skip
    assert done.failure is None
    assert Path((tmp_path / "out").read_text()).samefile(folder)


@posix
def test_a_line_for_the_shell(tmp_path):
    what = program("echo $((1 + 2)) | cat > {out}", "--cmd", shell=True, folder=None)
    assert what.writes_out
    done = execute(what, 5, **{name: tmp_path / name for name in ("stdout", "stderr", "out")})
    assert done.failure is None
    assert (tmp_path / "out").read_text() == "3\n"


@pytest.mark.parametrize("text", ["", "  ", "a 'b", "a\0b"])
def test_what_is_no_command_is_refused(text):
    with pytest.raises(UsageError, match="--cmd"):
        program(text, "--cmd", shell=False, folder=None)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no folder"):
        program("x", "--cmd", shell=False, folder=tmp_path / "missing")


class Watched:
    """A card with a clock that sinks."""

    def __init__(self):
        self.looks = 0

    def state(self):
        self.looks += 1
        held = ("power cap set by software",) if self.looks > 1 else ()
        return CardState(sm_clock_hz=1e9 - self.looks * 1e6, throttles=held)


def test_cards_are_watched_meanwhile(run):
    card = Watched()
    done, _ = run("import time; time.sleep(1)", monitors=(card,))
    assert card.looks >= 2
    assert done.throttles == ("power cap set by software",)
    assert 0.9e9 < done.clock_hz < 1e9


def test_of_several_cards_the_one_at_work_is_told(run):
    class Idle:
        def state(self):
            return CardState(sm_clock_hz=3e8)

    done, _ = run("import time; time.sleep(0.6)", monitors=(Idle(), Watched(), Idle()))
    assert done.clock_hz > 0.9e9


def test_an_interrupt_ends_the_program(run, monkeypatch, tmp_path):
    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            if timeout is not None:
                while not (tmp_path / "stdout").read_text():
                    time.sleep(0.01)
                raise KeyboardInterrupt
            return super().wait()

    monkeypatch.setattr(program_run.threading, "Event", Interrupted)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    assert time.monotonic() - start < 10
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "stdout").read_text()), 0)


@posix
def test_an_interrupt_before_anybody_waits_ends_it_too(run, monkeypatch, tmp_path):
    def interrupted(_):
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(program_run.threading.Thread, "start", interrupted)
    line = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        run(line, arguments=[str(tmp_path / "pid")])
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
