"""Files that are huge, endless, or no text at all: a quick and true answer."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest

from perfkit.compiled import kinds, text_lines
from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.inspect import read
from perfkit.errors import InputError, PerfkitError

DATA = Path(__file__).resolve().parents[1] / "data" / "cubin"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("zeros.cu", "larger than 64 MiB: not a CUDA source"),
        ("zeros.ptx", "larger than 64 MiB: not PTX"),
        ("zeros.log", "not a file that perfkit knows"),
        ("zeros.cubin", "not a file that perfkit knows"),
    ],
)
def test_half_a_gigabyte_of_zeros(tmp_path, name, says):
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(500 * 2**20)  # takes no room on the disk
    with pytest.raises(InputError, match=says):
        read(path, arch="sm_90", options=CompileOptions())


def test_a_cubin_with_terabytes_behind_it(tmp_path):
    path = tmp_path / "huge.cubin"
    path.write_bytes((DATA / "j04.sm_90.cubin").read_bytes())
    with path.open("r+b") as file:
        file.truncate(2**42)
    with pytest.raises(InputError, match="larger than 1024 MiB: not a cubin"):
        read(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_an_end(device):
    with pytest.raises(InputError, match="is a device, not a file or a pipe"):
        read(Path(device))


def test_the_null_device_is_empty():
    with pytest.raises(InputError, match="is empty"):
        read(Path(os.devnull))


def test_a_pipe_without_a_line_is_left(monkeypatch):
    taken = 0

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            nonlocal taken
            taken += size
            return b"x" * size

    with pytest.raises(InputError, match="64 MiB without the end of a line: not a text"):
        list(text_lines.text_lines(b"", Endless(), origin="pipe"))
    assert taken < 2 * text_lines.MAX_WITHOUT_LINE_BYTES


def test_a_packed_one_too():
    packed = gzip.compress(bytes(text_lines.MAX_WITHOUT_LINE_BYTES + 2**22), 1)
    with pytest.raises(InputError, match="without the end of a line"):
        list(text_lines.text_lines(packed, io.BytesIO(), origin="pipe"))


@pytest.mark.parametrize(
    ("head", "is_text"),
    [
        (b"", False),
        (bytes(4096), False),
        (bytes(range(256)) * 16, False),
        (b"ptxas info    : 0 bytes gmem\n", True),
        ("ptxas info: 0 bytes gmem\n".encode("utf-16"), True),
        ("ptxas info: 0 bytes gmem\n".encode("utf-16-le"), True),
        ("Fehler: Größe überschritten\n".encode("latin-1"), True),
        (b"\x1b[31merror\x1b[0m: [ 50%]\r[100%]\b\b\n", True),
        (b"a log with one \0 in a hundred bytes that is still one for whoever reads it\n", True),
    ],
)
def test_what_may_be_text(head, is_text):
    assert kinds.may_be_text(head) is is_text


def test_errors_of_all_that_stay_the_package_s_own(tmp_path):
    path = tmp_path / "noise"
    path.write_bytes(os.urandom(2**20))
    with pytest.raises(PerfkitError):
        read(path)


@pytest.mark.parametrize("digest", ["md5", "sha1", "sha256"])
def test_cubins_of_cupy_s_cache_have_a_digest_in_front(tmp_path, digest):
    """CuPy finds broken files of its cache by it: md5 at first, sha1 later."""
    code = (DATA / "j04.sm_90.cubin").read_bytes()
    path = tmp_path / "kernel_cache" / "0123abcd_2.cubin"
    path.parent.mkdir()
    path.write_bytes(hashlib.new(digest, code).hexdigest().encode() + code)
    plain = [replace(one, origin="") for one in read(DATA / "j04.sm_90.cubin").kernels]
    for place in (path, path.parent):
        found = read(place).kernels
        assert [replace(one, origin="") for one in found] == plain
        assert str(path) in found[0].origin
    path.write_bytes(b"0123456789abcdef" * 2 + b"ELF")
    with pytest.raises(InputError):
        read(path)
