"""Counts and times as people type them, and as they read them."""

from __future__ import annotations

import pytest

from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.units import (
    format_count,
    format_seconds,
    format_traffic,
    parse_bytes,
    parse_count,
    parse_elements,
    parse_seconds,
    parse_traffic,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("137G", 137e9), ("137.4 GFLOP", 137.4e9), ("137.4gflops", 137.4e9), ("1e12", 1e12),
        ("1.5E3", 1500.0), ("2T", 2e12), ("3 TOP", 3e12), ("7", 7.0), ("1P", 1e15), ("1E", 1e18),
        ("5k", 5e3), ("4m", 4e6), ("1_000_000", 1e6), ("2_048 GFLOP", 2048e9),
    ],
)  # fmt: skip
def test_counts(text, value):
    assert parse_count(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "G", "-1", "nan", "inf", "1 2", "1Q", "0x10", "1,5", "٣", "1" * 50, "1GFLOP/s"],
)
def test_what_is_no_count(text):
    with pytest.raises(UsageError, match="is not a number of operations"):
        parse_count(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1s", 1.0),
        ("8.5456ms", 8.5456e-3),
        ("120us", 120e-6),
        ("3 µs", 3e-6),
        ("4NS", 4e-9),
        ("3 μs", 3e-6),
        ("1.5e-3 s", 1.5e-3),
        ("2e3us", 2e-3),
        ("12 usec", 12e-6),
        ("7 sec", 7.0),
        ("1_500 ms", 1.5),
    ],
)
def test_times(text, value):
    assert parse_seconds(text) == value


@pytest.mark.parametrize("text", ["", "5", "ms", "-1ms", "nan s", "1min", "1 h", "1m", "٣ms"])
def test_what_is_no_time(text):
    with pytest.raises(UsageError, match="is not a time"):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8e9", 8 * 10**9), ("8E9B", 8 * 10**9), ("1.5e3", 1500), ("0.5e1", 5), ("25e-1K", 2560),
        ("1e+6", 10**6), ("2e3K", 2000 * 1024), ("0e17", 0),
    ],
)  # fmt: skip
def test_sizes_with_an_exponent(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["e9", "8e", "8e9.5", "8e1000", "8 e9", "8e9e9", "1e19", "1e-30"])
def test_exponents_that_are_none(text):
    with pytest.raises(UsageError, match=r"is not a (plausible )?size"):
        parse_bytes(text)


def test_traffic_may_be_a_fraction_of_a_byte_and_is_rounded():
    assert parse_traffic("1.1G") == round(1.1 * 2**30)
    assert parse_traffic("0.5") == 1
    assert parse_traffic("0.0004kB") == 0
    with pytest.raises(UsageError, match="whole number of bytes"):
        parse_bytes("1.1G")


@pytest.mark.parametrize(
    ("text", "traffic", "memory"),
    [
        ("12GB", 12 * 10**9, 12 * 2**30), ("12gb", 12 * 10**9, 12 * 2**30),
        ("1.5 MB", 1_500_000, 3 * 2**19), ("48kB", 48_000, 48 * 1024), ("2TB", 2 * 10**12, 2**41),
        ("48KB", 48_000, 48 * 1024), ("12GiB", 12 * 2**30, 12 * 2**30),
        ("12G", 12 * 2**30, 12 * 2**30), ("100M", 100 * 2**20, 100 * 2**20),
        ("8e9", 8 * 10**9, 8 * 10**9), ("7B", 7, 7), ("7", 7, 7),
        ("4Ki", 4096, 4096), ("1_048_576", 2**20, 2**20), ("4096 bytes", 4096, 4096),
        ("1 byte", 1, 1), ("3 Gbytes", 3 * 10**9, 3 * 2**30),
    ],
)  # fmt: skip
def test_a_decimal_unit_is_decimal_of_traffic_and_binary_of_memory(text, traffic, memory):
    assert (parse_traffic(text), parse_bytes(text)) == (traffic, memory)


def test_elements_have_no_unit():
    assert [parse_elements(text) for text in ("16M", "16m", "4096", "1e8", "0.5K")] == [
        2**24, 2**24, 4096, 10**8, 512,
    ]  # fmt: skip
    assert parse_elements("16_777_216") == 2**24
    for text in ("16MB", "16MiB", "16Mi", "16B", "4.5", "-4", "", "1" * 19, "1_", "_1", "1__0"):
        with pytest.raises(UsageError):
            parse_elements(text)


def test_what_is_no_traffic_is_told_how_to_write_it():
    with pytest.raises(UsageError, match="is not a size") as refused:
        parse_traffic("12 gigs")
    assert "12GB" in refused.value.hint


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.3891e-4, "0.139 ms"), (99.94e-6, "99.94 us"), (1e-4, "0.1 ms"), (0.1, "0.1 s"),
        (8.5456e-3, "8.546 ms"), (12.345e-3, "12.35 ms"), (2.5e-10, "0.25 ns"), (3600, "3600 s"),
        (63510000000000.0, "63510000000000 s"),
    ],
)  # fmt: skip
def test_times_as_text(value, text):
    assert format_seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (3.35e12, "3.35 TB"), (2e18, "2000 PB")],
)
def test_counts_as_text(value, text):
    assert format_count(value, "B") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2**20, "1 MiB"), (1023 * 2**20, "1023 MiB"), (2**30, "1.074 GB"), (2**20 + 1, "1.049 MB"),
     (0.5, "0.5 B"), (0, "0 B")],
)  # fmt: skip
def test_traffic_as_text(value, text):
    assert format_traffic(value) == text


def test_every_type_has_a_size():
    assert {dtype: dtype.bits for dtype in DType} == {
        "f64": 64, "f32": 32, "tf32": 32, "bf16": 16, "f16": 16, "f8": 8, "f6": 6, "f4": 4,
        "s32": 32, "s8": 8, "s4": 4,
    }  # fmt: skip


def test_rates_of_what_has_no_name():
    assert [format_count(value, "1/s") for value in (5, 7814, 1.2e10)] == [
        "5 /s", "7.814 k/s", "12 G/s",
    ]  # fmt: skip
