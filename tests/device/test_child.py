"""Children that fail in every way there is: what they did before is kept, and the end is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from perfkit.device import tasks
from perfkit.device.child import End, Limits, run_child
from tests.device.trees import ids, survivors

#: tasks for these tests; a child imports this file by its path
SOURCE = """
import os, signal, sys, time
from perfkit.errors import DeviceError

def good(arguments):
    for number in range(arguments["count"]):
        yield {"number": number, "card": os.environ.get("CUDA_VISIBLE_DEVICES")}

def fails(arguments):
    yield {"number": 0}
    print("about to fail")
    raise DeviceError("an illegal address", hint="look", where="k.cu")

def bug(arguments):
    yield {"number": 0}
    raise ZeroDivisionError("a bug")

def crashes(arguments):
    yield {"number": 0}
    os.kill(os.getpid(), signal.SIGSEGV)

def quits(arguments):
    yield {"number": 0}
    os._exit(0)

def hangs(arguments):
    yield {"number": 0}
    time.sleep(600)

def daemons(arguments):
    yield {"number": 0}
    import subprocess
    from tests.device.trees import command
    subprocess.run(command(arguments["place"]))

def grows(arguments):
    held = []
    while True:
        held.append(bytearray(8 * 2**20))
        time.sleep(0.005)
        yield {"number": len(held)}
"""


@pytest.fixture(autouse=True)
def own_tasks(tmp_path, monkeypatch):
    (tmp_path / "own_tasks.py").write_text(SOURCE)
    (tmp_path / "sitecustomize.py").write_text(
        "import perfkit.device.tasks as tasks, own_tasks\n"
        "tasks.TASKS.update({n: f'own_tasks:{n}' for n in vars(own_tasks) if n.islower()})\n"
    )
    paths = [str(tmp_path), *filter(None, sys.path)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def test_results_come_one_by_one_and_the_child_sees_one_card():
    seen = []
    outcome = run_child("good", {"count": 3}, uuid="GPU-1", on_result=seen.append)
    assert outcome.failure is None
    assert outcome.results == tuple({"number": n, "card": "GPU-1"} for n in range(3))
    assert tuple(seen) == outcome.results


def test_an_error_of_perfkit_keeps_its_words_and_code():
    outcome = run_child("fails", {}, uuid=None)
    assert outcome.results == ({"number": 0},)
    failure = outcome.failure
    assert failure is not None
    assert (failure.end, failure.exit_code) == (End.ERROR, 5)
    assert (failure.message, failure.hint, failure.where) == ("an illegal address", "look", "k.cu")
    assert failure.log == "about to fail"


@pytest.mark.parametrize(
    ("task", "words"),
    [("crashes", "SIGSEGV"), ("quits", "exit code 0"), ("bug", "exit code 1")],
)
def test_a_child_that_does_not_say_why(task, words):
    outcome = run_child(task, {}, uuid=None)
    assert outcome.results == ({"number": 0},)
    assert outcome.failure is not None
    assert outcome.failure.end is End.CRASHED
    assert words in outcome.failure.message
    assert ("a bug" in outcome.failure.log) == (task == "bug")


def test_a_hang_ends_at_the_limit():
    started = time.monotonic()
    outcome = run_child("hangs", {}, uuid=None, limits=Limits(seconds=1.5))
    assert time.monotonic() - started < 30
    assert outcome.results == ({"number": 0},)
    assert outcome.failure is not None
    assert outcome.failure.end is End.TIMEOUT


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc here")
def test_a_child_that_takes_too_much_memory_is_ended():
    cap = 200 * 2**20
    outcome = run_child("grows", {}, uuid=None, limits=Limits(seconds=60, host_bytes=cap))
    assert outcome.failure is not None
    assert outcome.failure.end is End.MEMORY
    assert outcome.results


def test_an_unknown_task_is_an_error_of_its_own():
    outcome = run_child("nonsense", {}, uuid=None)
    assert outcome.failure is not None
    assert outcome.failure.exit_code == 2


def test_every_task_is_there():
    assert tasks.TASKS
    for name in tasks.TASKS:
        assert callable(tasks.task(name))


def test_silence_ends_it_though_there_is_time_left():
    outcome = run_child("hangs", {}, uuid=None, limits=Limits(seconds=300, silent_seconds=1.5))
    assert outcome.results == ({"number": 0},)
    assert outcome.failure is not None
    assert outcome.failure.end is End.TIMEOUT
    assert "longer than 1.5 s" in outcome.failure.message


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
@pytest.mark.parametrize("how", ["limit", "stop", "a bug in what takes the results"])
def test_what_left_its_group_ends_with_it(tmp_path, how):
    place = tmp_path / "ids"

    def stop():
        return how == "stop" and place.exists() and place.read_text().count("\n") == 3

    def take(_):
        if how.startswith("a bug"):
            ids(place)
            raise ZeroDivisionError

    limits = Limits(seconds=4 if how == "limit" else 60)
    with pytest.raises(ZeroDivisionError) if how.startswith("a bug") else nullcontext():
        run_child(
            "daemons", {"place": str(place)}, uuid=None, limits=limits, stop=stop, on_result=take
        )
    assert survivors(ids(place), 0) == {}


def test_it_can_be_stopped():
    seen = []
    outcome = run_child("hangs", {}, uuid=None, on_result=seen.append, stop=lambda: bool(seen))
    assert outcome.results == ({"number": 0},)
    assert outcome.failure is not None
    assert (outcome.failure.end, outcome.failure.exit_code) == (End.INTERRUPTED, 130)


@pytest.mark.skipif(os.name != "posix", reason="processes are ended by signals here")
def test_a_child_ends_with_its_parent(tmp_path):
    """Killed without a chance to end its child: it must not hold the card for ever."""
    marker = tmp_path / "pid"
    (tmp_path / "more_tasks.py").write_text(
        "import os, time, pathlib\n"
        "def lives(arguments):\n"
        "    pathlib.Path(arguments['marker']).write_text(str(os.getpid()))\n"
        "    yield {}\n"
        "    time.sleep(600)\n"
    )
    with (tmp_path / "sitecustomize.py").open("a") as file:
        file.write("tasks.TASKS['lives'] = 'more_tasks:lives'\n")
    code = (
        "from perfkit.device.child import run_child\n"
        f"run_child('lives', {{'marker': {str(marker)!r}}}, uuid=None)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 30
    while not (marker.exists() and marker.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int(marker.read_text())
    parent.kill()
    parent.wait()
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child lived on")
