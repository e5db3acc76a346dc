"""A short run of ``tests.bench.fuzz``: mutated files of every kind, the same ones each time."""

from __future__ import annotations

import random

import pytest

from tests.bench import fuzz
from tests.compiled.containers import DATA
from tests.compiled.reports import cuobjdump
from tests.fuzz.files import readers
from tests.fuzz.mutations import elf, mutated, words

NUMBER = 1000
NUMBERS = {fuzz.TOOL: 40}
FIRST = 10_000_000  #: beyond the long run
READERS = readers()


def test_every_reader_is_there():
    assert {"cubin", "host", "windows", "zip", "triton", "json", "ptx", "container"} <= set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_mutated_files(name, monkeypatch):
    if name == fuzz.TOOL and cuobjdump() is None:
        pytest.skip("make oracle has cuobjdump")
    for variable, value in fuzz.environment(name).items():
        monkeypatch.setenv(variable, value)
    number = NUMBERS.get(name, NUMBER)
    found = fuzz.run(name, READERS[name], FIRST, number)
    assert found.complaints == []
    assert found.inputs == number
    # the mutations reach what lies behind the first check
    assert found.answers > number / 20


def test_a_bug_is_found_and_can_be_repeated():
    def buggy(data, path):
        if b"\xff" in data:
            raise IndexError

    reader = fuzz.Reader(READERS["cubin"].make, buggy)
    found = fuzz.run("buggy", reader, 0, 200)
    assert len(found.complaints) == fuzz.MOST_COMPLAINTS
    assert all("IndexError" in line for line in found.complaints)
    number = int(found.complaints[0].split()[2].strip(":"))
    assert len(fuzz.run("buggy", reader, number, 1).complaints) == 1


def test_what_is_where_in_a_cubin():
    """Numbers of the header, of sections, symbols and records are found, and swapped sections."""
    seed = elf((DATA / "cubin/j04.sm_90.cubin").read_bytes())
    assert {(0x28, 8), (0x30, 4), (0x3C, 2)} <= set(seed.fields)
    assert len(seed.fields) > 300
    assert len(seed.blocks) > 20
    assert all(at + width <= len(seed.data) for at, width in (*seed.fields, *seed.blocks))


def test_words_are_changed_and_the_rest_stays():
    seed = words(b"one two three " * 4, rb"\w+", b"X")
    found = {mutated(seed, random.Random(number)) for number in range(200)}
    assert len(found) > 100
    assert any(b"X two" in data for data in found)
