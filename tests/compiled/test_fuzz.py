"""A short run of ``tests.bench.fuzz``: mutated files of every kind, the same ones each time."""

from __future__ import annotations

import pytest

from tests.bench import fuzz
from tests.compiled.containers import temporary
from tests.compiled.reports import cuobjdump

__all__ = ["temporary"]  # a fixture

ROUNDS = {"container": 60}
READERS = fuzz.readers()


def test_every_reader_is_there():
    assert {"cubin", "host", "windows", "zip", "triton", "ptx", "container"} <= set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_mutated_files(name, monkeypatch, tmp_path, temporary):
    tool = cuobjdump()
    if name == "container" and tool is None:
        pytest.skip("make oracle has cuobjdump")
    monkeypatch.setenv("CUOBJDUMP", str(tool) if name == "container" else "/nowhere")
    monkeypatch.setenv("PTXAS", "/nowhere")
    monkeypatch.chdir(tmp_path)  # where complaints keep their files
    assert fuzz.run(name, READERS[name], ROUNDS.get(name, 400), seed=0) == []


def test_a_bug_is_found(monkeypatch, tmp_path):
    def buggy(data, path):
        if b"\xff" in data:
            raise IndexError

    monkeypatch.chdir(tmp_path)
    complaints = fuzz.run("buggy", fuzz.Reader([bytes(64)], buggy), rounds=200, seed=0)
    assert complaints
    assert all("IndexError" in line for line in complaints)
    assert list(tmp_path.glob("fuzz-buggy-0-*"))
