"""Values become text by their unit, and only where people read them."""

from __future__ import annotations

import pytest

from perfkit.report.document import Column, Table


@pytest.mark.parametrize(
    ("unit", "value", "expected"),
    [
        ("text", "a b", "a b"),
        ("text", "two\r\nlines", "two lines"),
        ("text", "\x1b]0;title\x07", " ]0;title "),
        ("text", "k\u202edet\u2066s\u2069ever\u2028", "k det s ever "),
        ("count", 0, "0"),
        ("count", 1978.9, "1978.9"),
        ("count", 80.0, "80"),
        ("share", (48, 64), "48 of 64"),
        ("percent", 50, "50%"),
        ("preference", -1, "default"),
        ("preference", 0, "0%"),
        ("bytes", 49152, "48 KiB"),
        ("bytes", 1000, "1000 B"),
        ("ratio", 0.21875, "21.88%"),
        ("names", ("warps", "shared_memory"), "warps, shared memory"),
        ("names", (), "-"),
        ("yes", False, "no"),
        ("rate", 989.4e12, "989.4 TFLOP/s"),
        ("rate", 14e15, "14000 TFLOP/s"),
        ("seconds", 1.3891e-4, "0.139 ms"),
        ("flop", 137438953472, "137.4 GFLOP"),
        ("intensity", 1365.33, "1365 FLOP/byte"),
        ("intensity", 14222.2, "14222 FLOP/byte"),
        ("traffic", 96 * 2**20, "96 MiB"),
        ("hertz", 1_830_000_000, "1830 MHz"),
        ("mhz", 1830, "1830 MHz"),
        ("bandwidth", 86_400_000_000, "86.4 GB/s"),
        ("gb_per_s", 86.4, "86.4 GB/s"),
    ],
)
def test_text_of_a_value(unit, value, expected):
    assert Column("key", "title", unit).text(value) == expected


@pytest.mark.parametrize("unit", ["text", "count", "bytes", "names", "rate", "share"])
def test_absent_is_a_dash_whatever_the_unit(unit):
    assert Column("key", "title", unit).text(None) == "-"


def test_empty_columns_go_and_zeros_stay():
    table = Table(
        title="t",
        columns=tuple(Column(name, name) for name in "abcd"),
        rows=((None, "", (), 0), (None, None, (), 1)),
    )
    kept = table.without_empty_columns()
    assert [column.key for column in kept.columns] == ["d"]
    assert kept.rows == ((0,), (1,))
    assert kept.title == "t"


def test_a_row_of_the_wrong_length_is_a_bug():
    table = Table(columns=(Column("a", "a"),), rows=((1, 2),))
    with pytest.raises(ValueError, match="longer"):
        table.texts()
