"""Threads of several cards: what each gives, whose turn it is, and how all of them end."""

from __future__ import annotations

import threading
import time

import pytest

from perfkit.device import cards as module
from perfkit.device.cards import Cards, number
from perfkit.device.properties import read_devices
from tests.device.fakes import FakeDriver


def shares(work):
    """Capital letters use what all have in common."""
    return work if work.isupper() else None


def test_each_gives_its_own_in_order():
    def work(place):
        time.sleep(0.02 * (3 - place))
        return place

    assert Cards().side_by_side([lambda place=n: work(place) for n in range(3)]) == (0, 1, 2)
    assert Cards().side_by_side([]) == ()


def test_one_alone_keeps_its_order():
    assert "".join(Cards().in_turn("aBcBD", shares)) == "aBcBD"


def test_who_would_have_to_wait_does_something_else():
    cards, entered, leave = Cards(), threading.Event(), threading.Event()

    def first():
        for _ in cards.in_turn("X", shares):
            entered.set()
            leave.wait(5)
        return ""

    def second():
        entered.wait(5)
        done = []
        for work in cards.in_turn("Xab", shares):
            done.append(work)
            if done == ["a", "b"]:
                leave.set()
        return "".join(done)

    assert cards.side_by_side([first, second]) == ("", "abX")


def test_a_turn_ends_with_whoever_gives_up():
    cards = Cards()
    for _ in cards.in_turn("XY", shares):
        break
    assert list(cards.in_turn("X", shares)) == ["X"]


def test_nothing_begins_after_ctrl_c(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_pause", interrupt)
    cards = Cards()

    def work():
        done = []
        for one in cards.in_turn("abc", shares):
            done.append(one)
            while not cards.stopped():
                time.sleep(0.005)
        return done

    assert cards.side_by_side([work, work]) == (["a"], ["a"])
    assert cards.stopped()


def test_an_error_ends_all_and_is_told():
    cards = Cards()

    def waits():
        while not cards.stopped():
            time.sleep(0.005)

    def fails():
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        cards.side_by_side([waits, fails])


def test_only_one_of_several_needs_a_number():
    two = read_devices(FakeDriver(devices=2))
    assert [number(device, two) for device in two] == [0, 1]
    assert number(two[1], two[1:]) is None
