"""The guard ends a tree if this process goes while a program runs, and only then.

That it does so when perfkit is killed: tests/cli/test_gate_leaves_nothing.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from perfkit.device.guard import Guard
from perfkit.device.process_tree import Tree, _processes
from tests.device.trees import running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")


def children():
    return {pid for pid, one in _processes().items() if one.parent == os.getpid()}


@pytest.fixture
def guarded():
    """A tree with a process in it, its guard, and the guard's process."""
    tree = Tree(adopts=False, mark="f00d" * 8)
    with subprocess.Popen(["sleep", "60"], env=tree.environment(), start_new_session=True) as one:
        before = children()
        guard = Guard("f00d" * 8)
        (pid,) = children() - before
        yield one, guard, pid
        one.kill()


def gone(pid, seconds=5.0):
    deadline = time.monotonic() + seconds
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not running(pid)


def test_while_a_program_runs_the_end_of_the_other_side_is_the_end(guarded):
    one, guard, pid = guarded
    guard.begun()
    assert running(one.pid)
    guard._pipe.close()  # as the system does for a process that is killed
    assert gone(one.pid)
    assert gone(pid)


@pytest.mark.parametrize("used", [False, True])
def test_what_a_program_that_has_ended_left_stays(guarded, used):
    one, guard, pid = guarded
    if used:
        guard.begun()
        guard.ended()
    guard._pipe.close()
    assert gone(pid)
    assert running(one.pid)


def test_it_goes_with_the_last_who_holds_it():
    before = children()
    tree = Tree(adopts=True)
    for _ in range(2):
        with tree.gathering():
            pass
    (pid,) = children() - before
    assert running(pid)
    del tree
    assert gone(pid)


def test_it_bears_no_mark_of_its_own_tree():
    tree = Tree(adopts=True)
    with tree.gathering(), subprocess.Popen(["true"]) as done:
        done.wait()
        assert tree.left(done) == ()


def test_without_its_guard_a_program_runs_all_the_same(guarded):
    one, guard, pid = guarded
    os.kill(pid, 9)
    assert gone(pid)
    guard.begun()
    guard.ended()
    assert running(one.pid)
