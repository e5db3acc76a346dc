"""Decimal marks: one sure number decides for a file."""

from __future__ import annotations

import pytest

from perfkit.readers.numerals import MixedNumeralsError, decimal_mark, is_number, number


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["65,77"], ","),
        (["27.595.520"], ","),
        (["1.234,5"], ","),
        (["117.344", "6,70"], ","),
        (["65.77"], "."),
        (["1,239,496,049"], "."),
        (["1,234.5"], "."),
        (["508,757", "21.68"], "."),
        (["0.344"], "."),  # no group begins with 0
        (["0,344"], ","),
        (["1234.567"], "."),  # no group has four digits
        (["117.344"], None),
        (["117.344", "PolicySpread", "12"], None),
        (["508,757"], "."),
        (["12", "", "CachePreferNone"], "."),
        ([], "."),
    ],
)
def test_the_mark_of_a_file(texts, mark):
    assert decimal_mark(texts) == mark


def test_two_notations_in_one_file():
    with pytest.raises(MixedNumeralsError, match=r"'65\.77' and '6,70'"):
        decimal_mark(["65.77", "6,70"])


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("117.344", ",", 117344),
        ("117.344", ".", 117.344),
        ("1,239,496,049.13", ".", 1239496049.13),
        ("-6,5", ",", -6.5),
        ("1e3", ".", 1000),
        ("1e999", ".", None),
        ("nan", ".", None),
        ("inf", ".", None),
        ("", ".", None),
        ("12 ms", ".", None),
        ("1.2.3", ".", None),
        ("٣", ".", None),
    ],
)
def test_values(text, mark, value):
    assert number(text, mark) == value


@pytest.mark.parametrize("text", ["1", "1.5", "+1,5", "1e-3"])
def test_what_is_a_number(text):
    assert is_number(text)


@pytest.mark.parametrize("gap", [" ", "\u00a0", "\u202f", "\u2009", "'", "\u2019", "\ufffd"])
def test_groups_that_spaces_and_apostrophes_make(gap):
    # French, Swedish and Swiss spellings; what is left of the gap has one to three digits
    texts = [f"117{gap}344", f"27{gap}595{gap}520", "65,77"]
    assert decimal_mark(texts) == ","
    assert [number(text, ",") for text in texts] == [117344.0, 27595520.0, 65.77]
    assert decimal_mark([f"1{gap}234.567"]) == "."
    assert number(f"-1{gap}234.567", ".") == -1234.567
    for broken in (f"1{gap}23", f"1{gap}2345", f"1234{gap}567", f"1{gap}", f"{gap}123"):
        assert number(broken, ".") is None
    assert number("1 234'567", ".") is None
