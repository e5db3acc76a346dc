"""After Ctrl-C, a request to end, a closed terminal or the time limit nothing is left running."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from perfkit.device.process_tree import _processes
from tests.device.trees import command, ids, running, survivors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
ROOT = Path(__file__).resolve().parents[2]


def gate(place, words, **fields):
    """``perfkit gate …`` as a process of its own, around the program that makes a tree."""
    program = shlex.join(command(place, **fields))
    filled = [program if word == "PROGRAM" else word for word in words]
    return subprocess.Popen(
        [sys.executable, "-m", "perfkit", "gate", *filled],
        cwd=place.parent,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


RECORD = ["record", "--cmd", "PROGRAM", "--metric", "time: (.*) ms", "-o", "base.json"]
RUN = ["run", "--baseline-cmd", "PROGRAM", "--candidate-cmd", "PROGRAM", "--metric", "time: (.*)"]


@pytest.mark.parametrize(
    ("words", "request_to_end", "clean"),
    [(RECORD, "SIGINT", True), (RUN, "SIGTERM", False), (RUN, "SIGHUP", False)],
)
def test_a_request_to_end_ends_all(tmp_path, words, request_to_end, clean):
    place = tmp_path / "ids"
    with gate(place, words, clean=clean) as done:
        found = ids(place)
        done.send_signal(signal.Signals[request_to_end])
        _, err = done.communicate(timeout=30)
    assert survivors(found, 0) == {}
    assert done.returncode == 130, err
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [RECORD, RUN], ids=["record", "run"])
def test_that_it_is_killed_ends_all(tmp_path, words):
    """By nothing that it could catch: it cannot clean up, and its guard does."""
    place = tmp_path / "ids"
    with gate(place, words) as done:
        try:
            found = ids(place)
            children = [pid for pid, one in _processes().items() if one.parent == done.pid]
        finally:
            done.kill()
        done.communicate(timeout=30)
    # the program, what it has left, and the guard
    everything = found | {f"child {pid}": pid for pid in children}
    assert len(set(everything.values()) - set(found.values())) == 1
    assert survivors(everything, 10) == {}


def test_the_time_limit_ends_all(tmp_path):
    place = tmp_path / "ids"
    with gate(place, [*RECORD, "--time-limit", "2"]) as done:
        _, err = done.communicate(timeout=60)
    assert survivors(ids(place), 0) == {}
    assert done.returncode == 5, err
    assert "ran longer than 2 s" in err


def test_what_a_program_leaves_behind_is_said(tmp_path):
    place = tmp_path / "ids"
    with gate(place, [*RECORD, "--runs", "1", "--warm-up", "0"], stay=False) as done:
        _, err = done.communicate(timeout=60)
    assert len(survivors(ids(place), 0)) == 2  # they were started on purpose, for all that is known
    assert done.returncode == 0, err
    assert "1 of 1 runs left processes behind" in err


#: a task of ``perfkit measure``'s child in place of the first one that there is
PLUGIN = """
import pathlib, subprocess, sys
import perfkit.device.tasks as tasks
import trees

def daemons(arguments):
    yield {}
    subprocess.run(trees.command(pathlib.Path("ids")))

sys.modules["daemons"] = sys.modules[__name__]
tasks.TASKS["daemons"] = "sitecustomize:daemons"
"""


def test_the_child_of_a_child_ends_too(tmp_path):
    """As of ``gate run --measure``: perfkit below perfkit, and both are gone at once."""
    (tmp_path / "sitecustomize.py").write_text(PLUGIN)
    (tmp_path / "trees.py").write_text((ROOT / "tests/device/trees.py").read_text())
    (tmp_path / "inner.py").write_text(
        "from perfkit.device.child import run_child\nrun_child('daemons', {}, uuid=None)\n"
    )
    place = tmp_path / "ids"
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-m", "perfkit", "gate", "record", "--cmd", f"{sys.executable} inner.py",
         "--metric", "wall", "-o", "base.json"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True,
    ) as done:  # fmt: skip
        found = ids(place)
        above = _processes()[found["program"]].parent
        assert running(above)
        done.send_signal(signal.SIGINT)
        _, err = done.communicate(timeout=30)
    assert survivors(found | {"the child of perfkit": above}, 0) == {}
    assert done.returncode == 130, err
