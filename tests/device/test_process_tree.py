"""What daemons start is found, whatever they leave behind; other people's processes are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from perfkit.device import process_tree, program_run
from perfkit.device.process_tree import MARK, Tree
from perfkit.device.program_run import Program, execute
from tests.device.trees import command, ids, running, survivors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc and subreapers are Linux")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Executes the program of ``trees``; a tree of its own for each test."""
    own = Tree(adopts=True)
    monkeypatch.setattr(program_run, "_tree", lambda: own)

    def go(limit, **fields):
        place = tmp_path / "ids"
        place.unlink(missing_ok=True)
        what = Program(words=tuple(command(place, **fields)))
        paths = {name: tmp_path / name for name in ("stdout", "stderr", "out")}
        return execute(what, limit, **paths), ids(place)

    return go


@pytest.fixture
def bystander():
    """A child of this process that is nobody's business, in a session of its own."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        yield other
        other.kill()


@pytest.mark.parametrize("clean", [False, True], ids=["kept environment", "cleared environment"])
def test_at_the_limit_everything_ends(run, bystander, clean):
    done, found = run(1.5, clean=clean)
    assert survivors(found, 0) == {}
    assert done.failure == "ran longer than 1.5 s"
    assert done.left == ()
    assert running(bystander.pid)


def test_what_is_left_by_a_program_that_ends_is_named_and_goes_with_a_later_one(run, bystander):
    done, first = run(20, stay=False)
    assert done.failure is None
    told = " ".join(done.left)
    assert len(done.left) == 2
    assert f"process {first['daemon']}" in told
    assert all(running(first[name]) for name in ("daemon", "its child"))
    _, second = run(1.5)
    assert survivors(first | {f"second {name}": pid for name, pid in second.items()}, 0) == {}
    assert running(bystander.pid)


def test_what_only_takes_a_moment_to_end_is_not_left(run, tmp_path):
    script = "import subprocess; subprocess.Popen(['sleep', '0.05'], start_new_session=True)"
    what = Program(words=(sys.executable, "-c", script))
    done = execute(what, 20, **{n: tmp_path / n for n in ("stdout", "stderr", "out")})
    assert (done.failure, done.left) == (None, ())


def test_orphans_are_taken_in_only_meanwhile(run):
    before = process_tree._subreaper()
    seen = []
    timer = threading.Timer(0.5, lambda: seen.append(process_tree._subreaper()))
    timer.start()
    _, found = run(1.5)
    timer.join()
    assert (seen, process_tree._subreaper()) == ([True], before)
    assert survivors(found) == {}


def test_nobody_waits_for_the_dead(run):
    """Orphans that ended are children of this process: it has to take their ends."""
    _, found = run(1.5)
    for pid in found.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_tree_within_a_tree_belongs_to_both(monkeypatch):
    outer = Tree(adopts=False)
    monkeypatch.setenv(MARK, outer.environment()[MARK])
    inner = Tree(adopts=False)
    with subprocess.Popen(["sleep", "60"], env=inner.environment(), start_new_session=True) as one:
        with subprocess.Popen(["true"]) as done:
            done.wait()
        assert [p.pid for p in outer.left(done)] == [p.pid for p in inner.left(done)] == [one.pid]
        assert outer.end(done) == ()


def test_what_may_not_be_ended_is_given_back(monkeypatch):
    def refuse(pid, _):
        raise PermissionError(1, "Operation not permitted")

    tree = Tree(adopts=False)
    with subprocess.Popen(["sleep", "60"], env=tree.environment(), start_new_session=True) as one:
        with subprocess.Popen(["true"]) as done:
            done.wait()
        monkeypatch.setattr(process_tree.os, "kill", refuse)
        (kept,) = tree.end(done)
        assert str(kept) == f"sleep (process {one.pid})"
        os.killpg(one.pid, signal.SIGKILL)


def test_a_second_interrupt_waits_until_all_have_ended(monkeypatch):
    tree = Tree(adopts=False)
    real = process_tree._kill

    def impatient(pid):
        os.kill(os.getpid(), signal.SIGINT)
        return real(pid)

    monkeypatch.setattr(process_tree, "_kill", impatient)
    before = signal.getsignal(signal.SIGINT)
    with subprocess.Popen(["sleep", "60"], env=tree.environment(), start_new_session=True) as one:
        with subprocess.Popen(["true"]) as done:
            done.wait()
        assert tree.end(done) == ()
        assert not running(one.pid)
    assert signal.getsignal(signal.SIGINT) == before


def test_names_may_have_brackets_and_blanks(tmp_path):
    odd = tmp_path / "a) R 1 (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([odd, "60"]) as one:
        found = process_tree._processes()[one.pid]
        assert (found.name, found.parent) == (odd.name, os.getpid())
        one.kill()


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("setsid sh -c 'sleep 60 & wait' & wait", {"sh", "sleep"}),  # by descent
        ("(sleep 60 &); exec sleep 61", {"sleep"}),  # by the session: its parent has ended
    ],
)
def test_without_a_mark_descent_and_the_session_tell(script, names):
    tree = Tree(adopts=False)
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as child:
        deadline = time.monotonic() + 10
        while {one.name for one in tree.left(child)} != names and time.monotonic() < deadline:
            time.sleep(0.01)
        found = tree.left(child)
        for pid in (*(one.pid for one in found), child.pid):
            os.kill(pid, signal.SIGKILL)
    assert {one.name for one in found} == names


def test_what_has_ended_and_is_waited_for_by_nobody_is_not_left():
    tree = Tree(adopts=False)
    with subprocess.Popen(["sh", "-c", "true & exec sleep 60"], start_new_session=True) as child:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and not any(
            one.parent == child.pid and one.state == "Z"
            for one in process_tree._processes().values()
        ):
            time.sleep(0.01)
        found = tree.left(child)
        child.kill()
    assert found == ()
    assert time.monotonic() < deadline


def test_orphans_go_where_they_went_before_once_a_program_has_ended():
    before = process_tree._subreaper()
    with Tree(adopts=True).gathering():
        assert process_tree._subreaper()
    assert process_tree._subreaper() is before is False
