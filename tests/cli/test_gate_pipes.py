"""``perfkit gate check`` of pipes, which are read once: everything that a file may be."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.test_gate_exit_codes import STEADY, csv

DATA = Path(__file__).resolve().parents[1] / "data"
LOG = DATA / "ptxas" / "b09.log"
CUBIN = DATA / "cubin" / "j07.sm_80.cubin"


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("base.csv").write_text(csv(STEADY))
    Path("slow.csv").write_text(csv([1.1 * value for value in STEADY]))


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_results(perfkit, stdin, packed):
    stdin(packed(Path("slow.csv").read_bytes()))
    done = perfkit("gate check - -b base.csv")
    assert done.code == 1, done.err
    assert "10% slower" in done.out


def test_a_baseline(perfkit, stdin):
    """As of ``git show main:perfkit-baseline.json``."""
    assert perfkit("gate record base.csv -o b.json").code == 0
    stdin(Path("b.json").read_bytes())
    done = perfkit("gate check slow.csv -b -")
    assert done.code == 1, done.err
    stdin(Path("b.json").read_bytes())
    assert "noise floor" in perfkit("gate check slow.csv -b - --threshold 0.01%").err


@pytest.mark.parametrize(("file", "passes"), [(LOG, 2), (CUBIN, 3)], ids=["log", "cubin"])
def test_kernels(perfkit, stdin, file, passes):
    stdin(file.read_bytes())
    done = perfkit("gate check - --rule registers<=255")
    assert done.code == 0, done.err
    assert f"PASS: {passes} pass" in done.out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_two_named_pipes(perfkit):
    writers = []
    for name in ("new", "old"):
        os.mkfifo(name)
        data = Path("slow.csv" if name == "new" else "base.csv").read_bytes()
        writers.append(threading.Thread(target=Path(name).write_bytes, args=(data,)))
        writers[-1].start()
    done = perfkit("gate check new -b old")
    for writer in writers:
        writer.join()
    assert done.code == 1, done.err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "stdin: is empty"),
        (b"benchmark,value,unit\naxpy,fast,us\n", "stdin:2: 'fast' is not a number"),
        (b'{"schema": "perfkit.baseline/9", "entries": []}', "stdin: written by a newer perfkit"),
        (b"\x00" * 100, "not read from a pipe"),
        (b"nothing at all\n", "stdin: no kernel in 1 line"),
        (b"\x1f\x8b broken", "stdin"),
    ],
)
def test_what_is_nothing_is_named(refused, stdin, data, message):
    stdin(data)
    assert message in refused("gate check - -b base.csv")


def test_one_pipe_is_not_both_sides(refused, stdin):
    stdin(Path("base.csv").read_bytes())
    assert "stdin: is empty" in refused("gate check - -b -")
