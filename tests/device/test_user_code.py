"""Python code of the user's: found by name, prepared, timed by the right clock."""

from __future__ import annotations

import time

import pytest

from perfkit.device.callable_bench import time_callable
from perfkit.device.timing import Sampling, Stopwatch
from perfkit.device.user_code import load, prepared
from perfkit.errors import UsageError
from tests.device.fake_card import FakeFunction, FakeMonitor

SOURCE = """
events = []

def work():
    events.append("work")

def factory():
    events.append("made")
    return work

def setup_and_end():
    events.append("setup")
    yield work
    events.append("end")

def yields_nothing():
    yield 5

class Model:
    @staticmethod
    def forward():
        return None

number = 5
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "code_of_mine.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return f"{tmp_path / 'code_of_mine.py'}"


@pytest.mark.parametrize("name", ["code_of_mine:work", "code_of_mine.py:work"])
def test_functions_of_modules_and_files(module, name):
    assert load(name, "--python").__name__ == "work"


def test_a_function_within_something(module):
    assert load("code_of_mine:Model.forward", "--python")() is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("code_of_mine", "not a function"),
        (":work", "not a function"),
        ("code_of_mine:", "not a function"),
        ("code_of_mine:nothing", "has no 'nothing'"),
        ("code_of_mine:number", "it is int, not a function"),
        ("no_such_module_here:f", "no module 'no_such_module_here'"),
        ("nowhere.py:f", "no file nowhere.py"),
    ],
)
def test_what_is_not_there(module, name, words):
    with pytest.raises(UsageError, match=words) as caught:
        load(name, "--python")
    assert caught.value.message.startswith("--python")


def run(module, function):
    found = load(f"{module}:{function}", "--python")
    events = found.__globals__["events"]
    work, end = prepared(found)
    work()
    end()
    return events


def test_a_plain_function_is_timed_itself(module):
    assert run(module, "work") == ["work", "work"]


def test_a_factory_makes_what_is_timed(module):
    assert run(module, "factory") == ["made", "work"]


def test_a_generator_sets_up_and_cleans_up(module):
    assert run(module, "setup_and_end") == ["setup", "work", "end"]


def test_a_generator_has_to_yield_what_is_timed(module):
    with pytest.raises(UsageError, match="does not yield"):
        prepared(load(f"{module}:yields_nothing", "--python"))


QUICK = Sampling(samples=4, cold=False, warmup_s=1e-4)


def test_work_in_the_stream_is_timed_by_marks(card):
    from perfkit.device.backend import launch_1d

    card.cost = lambda name, launch: 2e-3
    function = FakeFunction("mine")

    def work():
        card.launch(function, launch_1d(1, 32), ())

    found = time_callable(card, Stopwatch(card, FakeMonitor()), work, QUICK)
    assert not found["by_host"]
    assert found["samples_s"] == pytest.approx([2e-3] * 4)


@pytest.mark.parametrize("cold", [False, True])
def test_work_elsewhere_is_timed_by_the_host(card, cold):
    found = time_callable(
        card,
        Stopwatch(card, FakeMonitor()),
        lambda: time.sleep(0.002),
        Sampling(samples=4, cold=cold, warmup_s=1e-4),
    )
    assert found["by_host"]
    assert len(found["samples_s"]) == 4
    assert min(found["samples_s"]) >= 0.002
