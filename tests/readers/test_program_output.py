"""Numbers in the output of programs."""

from __future__ import annotations

import pytest

from perfkit.errors import InputError, UsageError
from perfkit.readers.program_output import by_pattern, is_about_output, unit_named
from perfkit.readers.results import Unit


def taken(text, pattern, unit=None):
    return by_pattern(text, pattern, unit, "bench", "stdout of run 1")


@pytest.mark.parametrize(
    ("text", "pattern", "value", "unit"),
    [
        ("time: 2.5 ms", r"time: ([0-9.]+) ms", 0.0025, Unit.SECONDS),
        ("time: 2.5ms\n", r"time: ([0-9.]+)", 0.0025, Unit.SECONDS),
        ("time = 2.5e1 (us)", r"time = (\S+)", 2.5e-5, Unit.SECONDS),
        ("copy 3.2 GB/s, 7 ms", r"copy ([0-9.]+)", 3.2e9, Unit.BYTES_PER_SECOND),
        ("done in 3 s.", r"in (\d+)", 3.0, Unit.SECONDS),
        ("a 1 ns\nb 2 ns\n", r"^b (\d+)", 2e-9, Unit.SECONDS),
    ],
)
def test_the_unit_is_the_word_that_follows(text, pattern, value, unit):
    run = taken(text, pattern)
    assert run.values == (pytest.approx(value),)
    assert (run.unit, run.benchmark, run.failure) == (unit, "bench", None)


def test_a_unit_that_is_given_is_taken():
    assert taken("t 250 of 300", r"t (\d+)", "us").values == (pytest.approx(2.5e-4),)


def test_several_numbers_are_samples():
    assert taken("1 ms\n2 ms\n3 ms", r"(\d) ms").values == (0.001, 0.002, 0.003)


@pytest.mark.parametrize("number", ["0", "-1", "nan", "inf"])
def test_what_is_no_measurement_is_a_failure(number):
    run = taken(f"t {number} ms", r"t (\S+)")
    assert run.values == ()
    assert "no possible measurement" in run.failure


@pytest.mark.parametrize(
    ("text", "pattern", "message"),
    [
        ("nothing here", r"t (\d+)", "matches nothing"),
        ("", r"t (\d+)", "matches nothing"),
        ("t 12 apples", r"t (\d+)", "the unit of '12' is not known: 'apples' is no unit"),
        ("t 12", r"t (\d+)", "no unit follows"),
        ("t abc ms", r"t (\w+)", "no number"),
        ("t 1_000 ms", r"t (\S+)", "no number"),
        ("t ms", r"t (\d+)? ?ms", "no number"),
        ("1 ms 2 GB/s", r"(\d)", "several units"),
    ],
)
def test_what_is_missing_is_named_with_its_place(text, pattern, message):
    with pytest.raises(InputError, match=message) as caught:
        taken(text, pattern)
    assert caught.value.where == "stdout of run 1"


def test_one_group_asks_for_a_number():
    assert is_about_output(r"time: ([0-9.]+)")
    assert is_about_output(r"(?:a|b) (\d+)")
    assert not is_about_output("gpu_time")
    for pattern in ("(a)(b)", "(", "*"):
        with pytest.raises(UsageError):
            is_about_output(pattern)


def test_units_are_known_or_refused():
    assert unit_named("ms").of(1) == 0.001
    with pytest.raises(UsageError, match="unknown unit"):
        unit_named("parsecs")
