"""Streams that begin one after the other."""

from __future__ import annotations

import pytest

from perfkit.device import streams
from perfkit.device.streams import Turns


class Noted:
    """A card that notes what waits for what."""

    def __init__(self):
        self.done = []

    def follow(self, stream, mark):
        self.done.append((stream, "waits for", mark))

    def launch(self, function, launch, arguments, stream):
        assert (launch.grid, launch.threads) == ((1, 1, 1), 1)
        self.done.append((stream, function, int(arguments[0])))

    def mark(self, stream):
        return f"turn of {stream}"


@pytest.fixture
def card(monkeypatch):
    monkeypatch.setattr(streams, "build", lambda card, file, names: names)
    return Noted()


def test_each_stream_waits_for_the_one_before_it_and_a_moment_longer(card):
    Turns(card).let_go(["a", "b", "c"], "gate")
    assert card.done == [
        ("a", "waits for", "gate"),
        ("b", "waits for", "turn of a"),
        ("b", "hold", 10_000),
        ("c", "waits for", "turn of b"),
        ("c", "hold", 10_000),
    ]


def test_many_streams_make_no_long_chain(card):
    Turns(card).let_go([*"abcdefgh"], "gate")
    assert card.done[-4:] == [(stream, "waits for", "turn of d") for stream in "efgh"]


def test_no_stream_no_wait(card):
    Turns(card).let_go([], "gate")
    assert card.done == []
