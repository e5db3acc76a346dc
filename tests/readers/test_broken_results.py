"""Whatever happens to a file of results: a documented error, or runs that are possible."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = sorted(
    path
    for path in [*(DATA / "results").iterdir(), *(DATA / "ncu").glob("*.csv")]
    if path.is_file() and path.suffix != ".md"
)
TIMES = {Unit.SECONDS, Unit.CYCLES}
#: a file that is cut off is not whole, and these can tell
CLOSED = {".json", ".js", ".xml"}


def test_there_are_files():
    assert len(FILES) >= 18


def read(path):
    """Runs, or the error's message."""
    try:
        found = read_results(path, metric=".*")
    except InputError as error:
        return str(error)
    assert found.runs
    for run in found.runs:
        assert bool(run.values) != bool(run.failure)
        assert all(math.isfinite(value) for value in run.values)
        assert run.unit not in TIMES or all(value > 0 for value in run.values)
        assert run.spread is None or 0 <= run.spread < math.inf
        assert run.clock_hz is None or 0 < run.clock_hz < math.inf
        assert run.source.startswith(str(path))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_cut_at_every_percent(path, tmp_path):
    data = path.read_bytes().rstrip()
    cut = tmp_path / path.name
    for percent in range(100):
        cut.write_bytes(data[: len(data) * percent // 100])
        found = read(cut)
        assert not isinstance(found, str) or path.name in found
        if path.suffix in CLOSED:
            assert isinstance(found, str), percent


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_flipped_bits_and_torn_lines(path, tmp_path):
    data = path.read_bytes()
    broken = tmp_path / path.name
    dice = random.Random(path.name)
    for i in range(60):
        changed = bytearray(data)
        for _ in range(dice.choice((1, 3, 20))):
            changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
        if i % 3 == 0:
            start = dice.randrange(len(changed))
            del changed[start : start + dice.randrange(40)]
        broken.write_bytes(changed)
        read(broken)


NUMBERS = ("0", "-1", "NaN", "Infinity", "1e400", "null", '"x"', "[]", "{}", "true", '""', "9" * 50)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_number_replaced(path, tmp_path):
    """Also by what is no number, and in the quotes of those that are written as text."""
    text = path.read_text("utf-8")
    broken = tmp_path / path.name
    dice = random.Random(path.name)
    spans = numbers(text)
    for start, end in dice.sample(spans, min(len(spans), 8)):
        for number in NUMBERS:
            broken.write_text(text[:start] + number + text[end:], "utf-8")
            read(broken)


def numbers(text):
    return [m.span() for m in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])", text)]
