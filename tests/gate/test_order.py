"""The order of runs, from the dates of their files."""

from __future__ import annotations

import time

import pytest

from perfkit.gate.order import Order, moment, order


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        ([1, 2, 3], [4, 5, 6], Order.AFTER),
        ([4, 5, 6], [1, 2, 3], Order.BEFORE),
        ([1, 3, 5], [2, 4, 6], Order.IN_TURN),
        ([1, 4, 5, 8], [2, 3, 6, 7], Order.IN_TURN),
        ([1, 2, 3, 5], [4, 6, 7, 8], Order.AFTER),  # one swap is no turn
        ([1, 1, 1], [2, 2, 2], Order.AFTER),  # two files of three runs
        ([1, 2, 3], [4], Order.AFTER),  # one run takes no turns
        ([1, 2, None], [4, 5, 6], Order.UNKNOWN),
        ([1, 2, 3], [4, 5, None], Order.UNKNOWN),
        ([1, 2, 3], [3, 4, 5], Order.UNKNOWN),  # the same moment on both sides
        ([], [], Order.UNKNOWN),
    ],
)
def test_the_order_is_that_of_the_dates(baseline, candidate, expected):
    assert order(baseline, candidate) is expected


def test_a_date_without_a_zone_is_the_same_moment_everywhere(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert moment("1970-01-02T00:00:00") == 86400
    finally:
        monkeypatch.undo()
        time.tzset()


def test_dates_are_those_that_the_readers_hand_on():
    google, pytest_benchmark, junit = (
        "2026-11-30T19:11:28+01:00", "2026-11-30T18:11:28.500000", "2026-11-30T18:11:29Z",
    )  # fmt: skip
    first, second, third = map(moment, (google, pytest_benchmark, junit))
    assert (second - first, third - first) == (0.5, 1)
    assert moment("2026-11-30 | 2026-12-01") is None
    assert moment(None) is None
