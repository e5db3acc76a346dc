"""Samples and rests, on a made-up card whose monitor says what clock it has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.device import timing
from perfkit.device.backend import launch_1d
from perfkit.device.callable_bench import time_callable
from perfkit.device.nvml import CardState
from perfkit.device.timing import Sampling, Stopwatch
from tests.device.fake_card import FakeFunction, FakeMonitor

QUICK = Sampling(samples=4, cold=False, warmup_s=1e-4)
RESTED = replace(QUICK, rest_s=0.25)
SLEEPY_HZ = 345e6


class Sleepy(FakeMonitor):
    """After a rest the clock is that of an idle card for some readings."""

    def __init__(self, readings=0, *, tells=True):
        super().__init__()
        self.readings, self.tells, self.left = readings, tells, 0

    def state(self):
        if not self.tells:
            return CardState()
        self.left -= 1
        slow = self.left >= 0
        return replace(super().state(), sm_clock_hz=SLEEPY_HZ) if slow else super().state()


@pytest.fixture
def rests(monkeypatch, card):
    """Where in the order of launches the host rested, and for how long; no time passes."""
    found = []
    monkeypatch.setattr(timing, "sleep", lambda seconds: found.append(seconds) or order(card, "-"))
    return found


def order(card, what):
    card.order.append(what)


@pytest.fixture
def work(card):
    """Work of a millisecond; the card keeps the order of all that it was given."""
    card.order, launch = [], card.launch

    def kept(function, at, arguments, stream=None):
        ns = int(arguments[0]) if function.name == "hold" else 0
        order(card, {"hold": "w" if ns > 1e6 else "h", "flush_l2": "f"}.get(function.name, "x"))
        launch(function, at, arguments, stream)

    card.launch = kept
    mine = FakeFunction("mine")
    return lambda: card.launch(mine, launch_1d(1, 32), ())


def tail(card, since="-"):
    text = "".join(card.order)
    return text[text.index(since) :]


def cost(card, seconds):
    card.cost = lambda name, launch: seconds if name == "mine" else 1e-6


def test_work_holds_the_card_for_what_follows_and_what_idled_is_not_timed(card, work, rests):
    found = Stopwatch(card, Sleepy()).time(work, QUICK)
    assert rests == []
    assert len(found.samples_s) == 4
    assert "".join(card.order) == "xxx" + "hx" + "xxxx"


def test_before_work_too_short_for_that_one_thread_holds(card, work, rests):
    cost(card, 5e-6)
    Stopwatch(card, Sleepy()).time(work, QUICK)
    assert tail(card, "h") == "hx" * (1 + 4)


def test_caches_are_flushed_before_each_sample_and_nothing_holds(card, work, rests):
    Stopwatch(card, Sleepy()).time(work, replace(QUICK, cold=True))
    assert "".join(card.order) == "fx" * (3 + 1 + 4)


def test_the_host_looks_ten_times_a_second_and_work_that_long_needs_none_to_lead(card, work, rests):
    cost(card, 0.04)
    Stopwatch(card, Sleepy()).time(work, QUICK)
    assert "".join(card.order) == "xxx" + "hx" + "xx" + "hx" + "xx"
    del card.order[:]
    cost(card, 0.2)
    Stopwatch(card, Sleepy()).time(work, QUICK)
    assert "".join(card.order) == "xxx" + "xxxx"


def test_before_each_burst_the_card_rests_wakes_and_works_once(card, work, rests):
    cost(card, 0.9e-3)
    found = Stopwatch(card, Sleepy()).time(work, replace(RESTED, samples=50))
    assert rests == [0.25] * 3
    assert found.samples_s == pytest.approx([0.9e-3] * 50)
    burst = "-whx" + "x" * 22  # 20 ms
    assert tail(card) == burst + burst + burst[: -3 * 22 + 50]


def test_work_as_long_as_a_burst_has_a_rest_for_each_sample(card, work, rests):
    cost(card, 0.03)
    Stopwatch(card, Sleepy()).time(work, RESTED)
    assert rests == [0.25] * 4
    assert tail(card) == "-wx" * 4


def test_before_the_first_rest_the_work_is_done_three_times_and_no_longer(card, work, rests):
    Stopwatch(card, Sleepy()).time(work, replace(RESTED, samples=1, warmup_s=0.05))
    assert "".join(card.order) == "wwwww" + "xxx" + "-whxx"


def test_with_cold_caches_they_are_flushed_before_each_sample_of_a_burst(card, work, rests):
    Stopwatch(card, Sleepy()).time(work, replace(RESTED, cold=True, samples=3))
    assert tail(card) == "-w" + "fx" * (1 + 3)


def test_it_is_woken_until_its_clock_is_up(card, work, monkeypatch):
    monitor = Sleepy(3)
    monkeypatch.setattr(timing, "sleep", lambda _: order(card, "-") or setattr(monitor, "left", 3))
    found = Stopwatch(card, monitor).time(work, replace(RESTED, samples=2))
    assert tail(card) == "-wwwwhxxx"
    assert found.sm_clock_hz == 1.98e9


def test_a_clock_that_never_comes_back_ends_no_measurement(card, work, monkeypatch):
    monitor = Sleepy()
    monkeypatch.setattr(timing, "sleep", lambda _: setattr(monitor, "left", 10**6))
    found = Stopwatch(card, monitor).time(work, replace(RESTED, samples=1, warmup_s=0.05))
    assert len(found.samples_s) == 1
    assert card.order.count("w") == 5 + 20


def test_a_clock_that_is_not_told_is_taken_for_up(card, work, rests):
    Stopwatch(card, Sleepy(tells=False)).time(work, replace(RESTED, samples=2))
    assert tail(card) == "-whxxx"


def test_long_work_stops_sampling_as_ever_and_rests_do_not_count(card, work, rests):
    card.cost = lambda name, launch: 1.0
    long = Stopwatch(card, Sleepy()).time(work, replace(RESTED, samples=9, most_seconds=3.5))
    assert len(long.samples_s) == 4
    card.cost = lambda name, launch: 1e-3
    short = Stopwatch(card, Sleepy()).time(work, replace(RESTED, samples=9, most_seconds=0.1))
    assert len(short.samples_s) == 9


def test_python_code_rests_by_marks_and_by_the_hosts_clock(card, work, rests, monkeypatch):
    found = time_callable(card, Stopwatch(card, Sleepy()), work, RESTED)
    assert not found["by_host"]
    assert rests == [0.25]
    del rests[:]
    slow = iter(range(10**6))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(slow)))
    found = time_callable(card, Stopwatch(card, Sleepy()), work, RESTED)
    assert found["by_host"]
    assert len(found["samples_s"]) == 4
    assert rests == [0.25] * (1 + 4)
