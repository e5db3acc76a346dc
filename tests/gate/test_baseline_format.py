"""Files of baselines: every version, and everything that is not one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.gate.baseline_format import MIGRATIONS, VERSION, parsed, written
from perfkit.readers.results import Unit

FOLDER = Path(__file__).resolve().parents[1] / "data" / "baselines"
FILES = sorted(FOLDER.glob("version-*.json"))
CURRENT = FOLDER / f"version-{VERSION}.json"


def test_there_is_a_file_of_every_version():
    assert [file.stem for file in FILES] == [f"version-{n}" for n in range(VERSION + 1)]
    assert sorted(MIGRATIONS) == list(range(VERSION))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_version_is_read(path):
    axpy, copy = parsed(path.read_bytes(), path.name)
    assert (axpy.benchmark, axpy.metric, axpy.unit) == ("axpy", "time", Unit.SECONDS)
    assert [run.values for run in axpy.runs] == [
        (5.01e-05,), (4.99e-05,), (5e-05,), (5.02e-05,), (4.98e-05,),
    ]  # fmt: skip
    assert axpy.environment["gpu"] == "NVIDIA H200"
    assert axpy.about["command"] == "./bench --all"
    assert (copy.metric, copy.unit, copy.higher_is_better) == (
        "bandwidth", Unit.BYTES_PER_SECOND, True,
    )  # fmt: skip
    assert len(copy.runs) == 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_read_is_written_as_the_current_version(path):
    entries = parsed(path.read_bytes(), path.name)
    again = written(entries)
    assert json.loads(again)["schema"] == f"perfkit.baseline/{VERSION}"
    assert parsed(again, path.name) == tuple(sorted(entries, key=lambda entry: entry.key))


def test_the_current_version_is_written_as_it_stands():
    data = CURRENT.read_bytes()
    assert written(parsed(data, CURRENT.name)) == data


def planted(path, value):
    """The current file with one value replaced."""
    document = json.loads(CURRENT.read_bytes())
    *places, last = path
    inner = document
    for place in places:
        inner = inner[place]
    inner[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["schema"], "perfkit.baseline/2", "written by a newer perfkit"),
        (["schema"], "perfkit.baseline/99999999", "written by a newer perfkit"),
        (["schema"], "perfkit.baseline/x", "no version"),
        (["schema"], "perfkit.baseline/-1", "no version"),
        (["schema"], "perfkit.occupancy/1", "not a baseline"),
        (["schema"], 1, "not a baseline"),
        (["entries"], {}, "entries"),
        (["entries", 0], [], r"entries\[0\]"),
        (["entries", 0, "benchmark"], 3, "benchmark"),
        (["entries", 0, "unit"], "parsec", "unknown unit"),
        (["entries", 0, "higher_is_better"], "no", "true or false"),
        (["entries", 0, "runs"], [], "no runs"),
        (["entries", 0, "runs", 1, "value"], 0, "no measurement"),
        (["entries", 0, "runs", 1, "value"], -1, "no measurement"),
        (["entries", 0, "runs", 1, "value"], float("nan"), "no measurement"),
        (["entries", 0, "runs", 1, "value"], float("inf"), "no measurement"),
        (["entries", 0, "runs", 1, "value"], None, "value"),
        (["entries", 0, "runs", 1, "spread"], float("nan"), "out of range"),
        (["entries", 0, "runs", 1, "clock_hz"], -1, "out of range"),
        (["entries", 0, "noise"], {}, "noise"),
        (["entries", 0, "noise", "interval"], [1], "noise"),
        (["entries", 0, "noise", "floor"], float("nan"), "noise"),
        (["entries", 0, "environment"], {"gpu": 3}, "environment.gpu"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path, value, message):
    with pytest.raises(InputError, match=message) as caught:
        parsed(planted(path, value), "base.json")
    assert caught.value.where.startswith("base.json")
    assert caught.value.exit_code == 2


def test_a_newer_version_says_what_to_do():
    with pytest.raises(InputError) as caught:
        parsed(planted(["schema"], "perfkit.baseline/2"), "base.json")
    assert "pip install -U perfkit" in caught.value.hint


def test_an_entry_that_is_there_twice_is_refused():
    document = json.loads(CURRENT.read_bytes())
    document["entries"].append(document["entries"][0])
    with pytest.raises(InputError, match="twice"):
        parsed(json.dumps(document).encode(), "base.json")


def test_no_part_of_a_file_is_taken_for_the_file():
    data = CURRENT.read_bytes()
    for cut in range(len(data) - 2):  # the last two characters are the brace and the line's end
        with pytest.raises(InputError):
            parsed(data[:cut], "base.json")


def test_deep_nesting_is_bad_input():
    with pytest.raises(InputError, match="broken JSON"):
        parsed(b'{"schema": "perfkit.baseline/1", "entries": ' + b"[" * 100_000, "base.json")


def test_flipped_bytes_are_bad_input_or_a_baseline():
    data = CURRENT.read_bytes()
    chance = random.Random(1)
    refused = 0
    for _ in range(3_000):
        flipped = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            flipped[chance.randrange(len(data))] = chance.choice(b'0-9.eE"{}[],:x\xff\x00 N')
        try:
            entries = parsed(bytes(flipped), "base.json")
        except InputError:
            refused += 1
        else:
            parsed(written(entries), "again")
    assert 1_000 < refused < 3_000
