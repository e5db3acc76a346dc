"""Standard input and pipes: read once, told apart by content."""

from __future__ import annotations

import os
import sys
import threading
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from perfkit.compiled.inspect import inspect, is_source, read
from perfkit.compiled.stream import is_stream
from perfkit.errors import InputError, UsageError
from tests.compiled import reports
from tests.compiled.logs import DATA

STDIN = Path("-")


@pytest.fixture
def stdin(monkeypatch):
    def feed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))

    return feed


def names(path, **options):
    return [kernel.demangled for kernel in inspect(path, **options)]


def test_a_log_from_standard_input(stdin):
    stdin((DATA / "b12.log").read_bytes())
    found = read(STDIN)
    assert [kernel.demangled for kernel in found.kernels] == ["field_step", "attn_fwd<128>"]
    assert found.kernels[1].origin == "stdin:7"


def test_a_report_needs_its_architecture_there_too(stdin):
    stdin((DATA / "c05.txt").read_bytes())
    with pytest.raises(UsageError, match="stdin: line 1: the text names no architecture"):
        read(STDIN)
    stdin((DATA / "c05.txt").read_bytes())
    assert names("-", arch="8.9", kernel="w0$") == ["route_b16_w0", "route_b8_w0"]


def test_a_cubin_from_standard_input(stdin):
    stdin((reports.DATA / "j05.sm_80.cubin").read_bytes())
    assert names("-") == ["flat", "rec"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "stdin: is empty"),
        (b"PK\x03\x04" + bytes(100), "stdin: this is a zip archive or a wheel, which is not read"),
        (b"hello\n", "stdin: no kernel in 1 line of text"),
    ],
)
def test_what_is_refused(stdin, data, message):
    stdin(data)
    with pytest.raises(InputError, match=message) as caught:
        read(STDIN)
    assert caught.value.exit_code == 2


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="there is no standard input"):
        read(STDIN)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once(tmp_path):
    """As in ``perfkit inspect <(make 2>&1)``: nothing looks at its beginning and loses it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = b"noise\n" * 2000 + (DATA / "b12.log").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert is_stream(pipe)
    assert not is_source(pipe)
    assert names(pipe) == ["field_step", "attn_fwd<128>"]
    writer.join()


def test_files_and_directories_are_no_streams(tmp_path):
    assert not is_stream(tmp_path)
    assert not is_stream(DATA / "b12.log")
    assert not is_stream(tmp_path / "missing")
    assert not is_stream(Path("a\0b"))
    (tmp_path / "-").write_text("")
    assert not is_stream(tmp_path / "-")


def test_files_by_content(tmp_path):
    """Whatever they are called."""
    for source in ("b12.log", "c03.txt"):
        for name in ("k.log", "k.txt", "k", "k.o", "k.out.1"):
            path = tmp_path / name
            path.write_bytes((DATA / source).read_bytes())
            assert len(inspect(path)) >= 2
    path.write_bytes(b"\n" * 5000 + (DATA / "b12.log").read_bytes())
    assert len(inspect(path)) == 2
    assert inspect(path)[0].origin == f"{path}:5002"
