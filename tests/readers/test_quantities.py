"""Spellings of units."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from perfkit.readers.quantities import quantity
from perfkit.readers.results import Unit


@pytest.mark.parametrize(
    ("text", "unit", "one"),
    [
        ("s", Unit.SECONDS, 1),
        ("ms", Unit.SECONDS, 1e-3),
        ("us", Unit.SECONDS, 1e-6),
        ("\N{MICRO SIGN}s", Unit.SECONDS, 1e-6),
        ("\N{GREEK SMALL LETTER MU}s", Unit.SECONDS, 1e-6),
        ("ns/iter", Unit.SECONDS, 1e-9),
        ("nsec", Unit.SECONDS, 1e-9),
        ("Seconds", Unit.SECONDS, 1),
        ("min", Unit.SECONDS, 60),
        ("cycles", Unit.CYCLES, 1),
        ("GB/s", Unit.BYTES_PER_SECOND, 1e9),
        ("GiB/s", Unit.BYTES_PER_SECOND, 2**30),
        ("Gb/s", Unit.BYTES_PER_SECOND, 1e9 / 8),
        ("MB/sec", Unit.BYTES_PER_SECOND, 1e6),
        ("TBps", Unit.BYTES_PER_SECOND, 1e12),
        ("bytes/s", Unit.BYTES_PER_SECOND, 1),
        ("TFLOP/s", Unit.FLOP_PER_SECOND, 1e12),
        ("GFLOPS", Unit.FLOP_PER_SECOND, 1e9),
        ("GFlops/s", Unit.FLOP_PER_SECOND, 1e9),
        ("tok/s", Unit.PER_SECOND, 1),
        ("tokens/s", Unit.PER_SECOND, 1),
        ("ktok/s", Unit.PER_SECOND, 1e3),
        ("Gelem/s", Unit.PER_SECOND, 1e9),
        ("kernels/s", Unit.PER_SECOND, 1),
        ("images/sec", Unit.PER_SECOND, 1),
        ("1/s", Unit.PER_SECOND, 1),
        ("MHz", Unit.PER_SECOND, 1e6),
        ("KiB", Unit.BYTES, 1024),
        ("bytes", Unit.BYTES, 1),
        ("%", Unit.RATIO, 0.01),
        ("count", Unit.COUNT, 1),
    ],
)
def test_spellings(text, unit, one):
    found = quantity(text)
    assert found is not None
    assert found.unit is unit
    assert found.of(1.0) == pytest.approx(one)


@pytest.mark.parametrize("unit", ["ms", "us", "ns", "ps", "%", "GB/s", "TFLOPS"])
def test_what_is_converted_is_the_float_nearest_to_what_was_written(unit):
    found = quantity(unit)
    factor = Fraction(found.times) / Fraction(found.per)
    chance = random.Random(7)
    texts = [repr(chance.uniform(1e-5, 1e5)) for _ in range(2000)]
    texts += [f"{chance.uniform(0.1, 1000):.3f}" for _ in range(2000)]
    for text in [*texts, "0", "1e-05", "1e+16", "2.5e-310", "-3.7"]:
        right = float(Fraction(text) * factor)
        assert found.of(float(text)) == right, text


def test_what_needs_no_conversion_or_has_no_decimals_stays():
    assert quantity("s").of(0.1234567890123456) == 0.1234567890123456
    assert quantity("MiB").of(1.5) == 1.5 * 2**20
    assert quantity("ms").of(math.inf) == math.inf
    assert math.isnan(quantity("ms").of(math.nan))
    assert quantity("us").of(250) == 0.00025


@pytest.mark.parametrize(
    "text", ["", "parsec", "s/", "m", "MS", "b", "Gbit", "TFLOP", "widgets/s", "Mwidgets/s", "/"]
)
def test_what_is_no_unit(text):
    assert quantity(text) is None
