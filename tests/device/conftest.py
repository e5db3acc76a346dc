"""Cards that need no GPU."""

from __future__ import annotations

import pytest

from perfkit.device.bench import Bench
from perfkit.device.measure_task import Place
from perfkit.device.timing import Stopwatch
from tests.device import fake_card


@pytest.fixture
def card(monkeypatch):
    """A made-up card, for which nothing is compiled."""
    fake_card.pretend_compiler(monkeypatch)
    return fake_card.FakeCard()


@pytest.fixture
def bench(card):
    return Bench(card, Stopwatch(card, fake_card.FakeMonitor()))


@pytest.fixture
def place(card):
    return Place(card, fake_card.FakeMonitor())
