"""Spellings of units."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "text", ["", "parsec", "s/", "m", "MS", "b", "Gbit", "TFLOP", "widgets/s", "Mwidgets/s", "/"]
)
def test_what_is_no_unit(text):
    assert quantity(text) is None
