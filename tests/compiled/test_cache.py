"""The compile cache: never a wrong answer, never an error."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from perfkit.compiled import cache
from perfkit.compiled.cache import CompiledSource, key_of, load, store

ENTRY = CompiledSource(
    cubin=bytes(range(256)),
    log="ptxas info : Used 10 registers\n",
    compiler="NVRTC 12.9.86",
    target="sm_90a",
    entries=(("k", 2), ("l", None)),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_stored_is_found(folder):
    assert load("a") is None
    store("a", ENTRY)
    assert load("a") == ENTRY
    assert load("b") is None
    assert [path.name for path in folder.iterdir()] == ["a.json"]  # nothing half-written stays


def test_keys_depend_on_every_part_and_its_limits():
    keys = {key_of(), key_of(b""), key_of(b"ab"), key_of(b"a", b"b"), key_of(b"b", b"a")}
    assert len(keys) == 5
    assert key_of(b"a", b"b") == key_of(b"a", b"b")


def test_a_broken_entry_is_absent(folder):
    """Truncated anywhere, or with any bit flipped: never another answer."""
    store("a", ENTRY)
    path = folder / "a.json"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert load("a") is None
    chance = random.Random(1)
    for _ in range(1000):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        assert load("a") in {None, ENTRY}  # a flipped letter case of an escape may be harmless
    for other in (b"[]", b"null", b"{}", b"[" * 100_000, b'{"check": 1}', b"\xff"):
        path.write_bytes(other)
        assert load("a") is None
    store("a", ENTRY)
    assert load("a") == ENTRY


@pytest.mark.parametrize("value", ["off", "OFF"])
def test_switched_off(value, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", value)
    monkeypatch.chdir(tmp_path)
    store("a", ENTRY)
    assert cache.directory() is load("a") is None
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "file" / "cache"))
    store("a", ENTRY)
    assert load("a") is None


def test_the_oldest_entries_go_first(folder, monkeypatch):
    store("a", ENTRY)
    size = (folder / "a.json").stat().st_size
    monkeypatch.setattr(cache, "LIMIT_BYTES", 3 * size)
    for age, key in enumerate("abc"):
        store(key, ENTRY)
        set_age(folder / f"{key}.json", 1000 + age)
    assert load("a") == ENTRY  # used: now the youngest
    store("d", ENTRY)
    assert {path.stem for path in folder.iterdir()} == {"a", "c", "d"}


def set_age(path: Path, seconds: int) -> None:
    import os

    os.utime(path, (seconds, seconds))


def test_where_it_is(tmp_path, monkeypatch):
    monkeypatch.delenv("PERFKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "perfkit"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    found = cache.directory()
    assert found is not None
    assert found.is_absolute()
    for platform, part in (("darwin", "Library"), ("linux", ".cache")):
        monkeypatch.setattr(sys, "platform", platform)
        assert part in str(cache.directory())
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache.directory() == tmp_path / "perfkit" / "cache"
