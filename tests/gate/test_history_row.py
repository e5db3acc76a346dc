"""Rows of histories as other programs write them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from perfkit.gate.history_row import row_of
from tests.gate.test_history import START

GOOD = {"benchmark": "a", "value": 2.0, "date": START}


def test_three_cells_are_enough():
    row = row_of(GOOD, "h.parquet")
    assert (row.benchmark, row.value, row.metric, row.unit) == ("a", 2.0, "time", "s")
    assert (row.recording, row.commit, row.higher_is_better) == ("h.parquet", "", False)


@pytest.mark.parametrize(
    ("cells", "field", "value"),
    [
        ({"date": date(2026, 11, 1)}, "date", START),
        ({"date": datetime(2026, 11, 1)}, "date", START),
        ({"date": "2026-11-01"}, "date", START),
        ({"date": "2026-11-01T01:00:00+01:00"}, "date", START),
        ({"date": datetime(1, 1, 1)}, "date", datetime(1, 1, 1, tzinfo=UTC)),
        ({"value": Decimal("1.5")}, "value", 1.5),
        ({"value": 3}, "value", 3.0),
        ({"value": 2000, "unit": "ms"}, "value", 2.0),
        ({"commit": b"\xffab"}, "commit", "\ufffdab"),
        ({"run": 7}, "run", "7"),
        ({"run": 0}, "run", "0"),
    ],
)
def test_cells_of_other_types_are_read(cells, field, value):
    assert getattr(row_of(GOOD | cells, "h"), field) == value


@pytest.mark.parametrize(
    ("unit", "stated", "better"),
    [
        ("GB/s", None, True),
        ("us", None, False),
        ("parsecs", None, False),
        ("GB/s", False, False),
        ("GB/s", "no", False),
        ("s", "Yes", True),
        ("s", 1, True),
        ("s", "FALSE", False),
        ("1/s", "perhaps", True),
    ],
)
def test_the_direction_is_the_one_stated_or_that_of_the_unit(unit, stated, better):
    """A text is not true because it is there."""
    row = row_of(GOOD | {"unit": unit, "higher_is_better": stated}, "h")
    assert row.higher_is_better is better


@pytest.mark.parametrize(
    "cells",
    [
        {"value": True}, {"value": "1.0"}, {"value": None}, {"value": float("nan")}, {"value": 0},
        {"value": float("inf")}, {"value": -1}, {"value": 1e31}, {"value": 1e-31},
        {"date": None}, {"date": 1_700_000_000}, {"date": "soon"}, {"date": ""},
        {"benchmark": ""}, {"benchmark": None}, {"benchmark": ["a"]}, {"benchmark": b"a"},
    ],
)  # fmt: skip
def test_what_is_no_measurement_is_none(cells):
    assert row_of(GOOD | cells, "h") is None
