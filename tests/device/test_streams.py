"""Streams that begin one after the other."""

from __future__ import annotations

from perfkit.device.streams import let_go


class Noted:
    """A card that notes what waits for what."""

    def __init__(self):
        self.waits = []

    def follow(self, stream, mark):
        self.waits.append((stream, mark))

    def mark(self, stream):
        return f"begun {stream}"


def test_each_stream_waits_for_the_one_before_it():
    card = Noted()
    let_go(card, ["a", "b", "c"], "gate")
    assert card.waits == [("a", "gate"), ("b", "begun a"), ("c", "begun b")]


def test_many_streams_make_no_long_chain():
    card = Noted()
    let_go(card, [*"abcdefgh"], "gate")
    assert [wait for _, wait in card.waits[4:]] == ["begun d"] * 4


def test_no_stream_no_wait():
    card = Noted()
    let_go(card, [], "gate")
    assert card.waits == []
