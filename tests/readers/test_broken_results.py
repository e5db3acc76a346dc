"""Whatever happens to a file of results: a documented error, or runs that are possible."""

from __future__ import annotations

import copy
import functools
import json
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


DOCUMENTS = [path for path in FILES if path.suffix == ".json" and "malformed" not in path.name]
OTHERS = (None, [], {}, [1], {"a": 1}, "x", "", True, 0, -1, 1.5)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_value_replaced_by_one_of_another_type_or_gone(path, tmp_path):
    """Names, too, which is where a list cannot stand."""
    document = json.loads(path.read_text("utf-8"))
    broken = tmp_path / path.name
    dice = random.Random(path.name)
    places = [place for place in inside(document) if place]
    # of a long list one element is as good as another
    kinds = {tuple("*" if isinstance(key, int) else key for key in place) for place in places}
    first = {kind: next(p for p in places if matches(p, kind)) for kind in sorted(kinds)}
    assert len(first) > 5
    for place in dice.sample(sorted(first.values(), key=str), min(len(first), 60)):
        for other in dice.sample(OTHERS, 4):
            changed = copy.deepcopy(document)
            *path_to, last = place
            holder = functools.reduce(lambda found, key: found[key], path_to, changed)
            if other == "":
                del holder[last]
            else:
                holder[last] = other
            broken.write_text(json.dumps(changed), "utf-8")
            read(broken)


def matches(place, kind):
    return len(place) == len(kind) and all(b in {"*", a} for a, b in zip(place, kind, strict=True))


def inside(value, place=()):
    """Where something stands in a document."""
    yield place
    parts = value.items() if isinstance(value, dict) else ()
    parts = enumerate(value) if isinstance(value, list) else parts
    for key, part in parts:
        yield from inside(part, (*place, key))
