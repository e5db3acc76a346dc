"""How a ceiling is found, on a made-up card."""

from __future__ import annotations

import pytest

from perfkit.device import timing
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.ceiling import Bench, Way, rate
from perfkit.device.experiments.tensor import tensor
from perfkit.device.timing import Stopwatch
from tests.device.fake_card import FakeCard, FakeFunction, FakeMonitor, pretend_compiler


@pytest.fixture
def bench(monkeypatch):
    pretend_compiler(monkeypatch)
    card = FakeCard()
    return Bench(card=card, stopwatch=Stopwatch(card, FakeMonitor()))


@pytest.fixture
def rests(monkeypatch):
    found = []
    monkeypatch.setattr(timing, "sleep", found.append)
    return found


def ways(bench, *seconds):
    """Ways to do a million of something, named by what they take."""
    card = bench.card
    card.cost = lambda name, launch: float(name)
    for one in seconds:
        yield Way(f"{one}", card.prepare(FakeFunction(f"{one}"), launch_1d(1, 32), ()), 1e6)


def test_the_fastest_of_all_ways_is_the_ceiling(bench, rests):
    found = rate(bench, "simt", "adds", "flop_per_s", ways(bench, 3e-3, 1e-3, 4e-3, 5e-3))
    assert found.value == pytest.approx(1e9)
    assert (found.how, found.tried, found.median_of) == ("0.001", 4, 25)
    assert rests == []


def test_the_best_three_are_timed_after_rests_where_power_limits(bench, rests):
    all_four = ways(bench, 3e-3, 1e-3, 4e-3, 5e-3)
    found = rate(bench, "tensor", "products", "flop_per_s", all_four, rests=True)
    assert found.value == pytest.approx(1e9)
    assert (found.how, found.median_of) == ("0.001, bursts after 0.1 s of rest", 9)
    # 20, 7, 5 and 4 of them are 20 ms
    assert rests == [0.1] * (1 + 2 + 3)


def test_every_rate_of_the_tensor_cores_is_that_of_a_rested_card(bench, rests):
    found = list(tensor(bench))
    assert len(found) >= 16
    assert all("0.1 s of rest" in one.how for one in found)
    finalists = sum(min(one.tried, 3) for one in found)
    assert finalists <= len(rests) <= 9 * finalists
    assert sum(rests) < 60
