"""Texts of any size and packing as lines, and how long unreasonable ones take."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from io import BytesIO

import pytest

from perfkit.compiled.build_text import read_text
from perfkit.compiled.reading import NoKernel
from perfkit.compiled.text_lines import MAX_LINE_BYTES, is_wide, text_lines
from perfkit.errors import InputError
from tests.compiled.logs import DATA

LOG = (DATA / "b12.log").read_bytes()


def split(data, head=0):
    return list(text_lines(data[:head], BytesIO(data[head:]), origin="x"))


def registers(data):
    reading = read_text(b"", BytesIO(data), origin="x")
    return [kernel.registers_per_thread for kernel in reading.kernels]


@pytest.mark.parametrize("head", [0, 1, 7, 4096])
def test_lines_keep_their_ends(head):
    assert split(b"a\nb\r\n\nlast", head) == [b"a\n", b"b\r\n", b"\n", b"last"]
    assert split(LOG, head) == LOG.splitlines(keepends=True)
    assert split(b"") == []


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(LOG),
        gzip.compress(LOG[:300]) + gzip.compress(LOG[300:]),
        gzip.compress(LOG) + b"\0" * 512,
        gzip.compress(LOG.decode().encode("utf-16")),
        b"\xef\xbb\xbf" + LOG,
        LOG.decode().encode("utf-16"),
        LOG.decode().encode("utf-16-le"),
        LOG.decode().encode("utf-16-be"),
        ("\ufeff" + LOG.decode()).encode("utf-16-be"),
    ],
    ids=["gzip", "two members", "padded", "UTF-16 in gzip", "UTF-8 mark", "UTF-16", "little", "big",
         "big with mark"],
)  # fmt: skip
def test_packed_and_wide(data):
    assert registers(data) == [255, 255]


def test_utf_16_is_told_from_binary():
    assert is_wide("ptxas info    : 0 bytes gmem".encode("utf-16-le"))
    assert not is_wide(LOG)
    assert not is_wide(bytes(range(256)))
    assert not is_wide(b"")


@pytest.mark.parametrize("at", [12, 40, -9, -4])
def test_a_cut_gzip_file(at):
    with pytest.raises(InputError, match="ends too early") as caught:
        registers(gzip.compress(LOG)[:at])
    assert str(caught.value).startswith("x: ")


def test_a_broken_gzip_file():
    data = bytearray(gzip.compress(LOG))
    data[60] ^= 0xFF
    with pytest.raises(InputError, match="broken gzip file"):
        registers(bytes(data))


def test_bytes_that_are_no_text():
    noise = b"\0\xff\xfe\x80\x1b[" + bytes(range(256)) + b"\n"
    assert registers(noise + LOG + noise) == [255, 255]
    named = LOG.replace(b"_Z10field_stepPdS_PKdi", b"_Z10field_\xff\x80epPdS_PKdi")
    (first, _) = read_text(b"", BytesIO(named), origin="x").kernels
    assert first.name == r"_Z10field_\xff\x80epPdS_PKdi"
    with pytest.raises(NoKernel):
        registers(b"\0" * 10_000)


def test_a_line_too_long_is_left_out():
    long = b"x" * (MAX_LINE_BYTES + 1)
    assert split(b"a\n" + long + b"\nb\n") == [b"a\n", b"\n", b"b\n"]
    assert split(b"a\n" + long) == [b"a\n"]
    assert registers(LOG + long + b"\n" + LOG) == [255] * 4


class Endless:
    """``size`` bytes of ``piece``, never in memory at once."""

    def __init__(self, piece: bytes, size: int) -> None:
        self.piece, self.left = piece * (2**18 // len(piece)), size

    def read(self, size: int) -> bytes:
        part = self.piece[: min(size, self.left)]
        self.left -= len(part)
        return part


@pytest.mark.parametrize(
    "piece",
    [b"x", b" ", b"\0", b"ptxas info    : Used 8 registers, ", b"Function properties for '", b"9"],
)
def test_fifty_megabytes_without_a_line_end(piece):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(NoKernel):
        read_text(b"", Endless(piece, 50_000_000), origin="x")
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MAX_LINE_BYTES
    assert seconds < 5


@pytest.mark.parametrize(
    "piece",
    [
        b"x",
        b"9",
        b" ",
        b"a ",
        b"9 ",
        b"'",
        b"Used 8 registers, ",
        b"Compiling entry function '",
        b"Function properties for a<",
        b"Function properties for 'a",
        b"8 bytes stack frame, ",
        b"ptxas info    : ",
        b"\x1b[",
        b"\x1b]",
        b"[0",
        b"REG:1 ",
        b"REG:",
        b"Function ",
        b"1> ",
        b"for 'sm_90' ",
        b"64 bytes cumulative stack size, ",
        b"\\n",
        b"\r",
    ],
)
@pytest.mark.parametrize("begin", [b"", b"ptxas info    : Function properties for a<", b"Used 1"])
def test_long_lines_take_no_longer_than_their_length(piece, begin):
    """Nothing is searched again and again from every place of a line."""
    line = begin + piece * (200_000 // len(piece)) + b" registers REG:1\n"
    start = time.process_time()
    with pytest.raises(NoKernel):
        read_text(b"", BytesIO(line * 2), origin="x", arch="sm_80")
    assert time.process_time() - start < 1


def test_many_kernels_that_never_end():
    """Nothing grows with what is left open."""
    text = b"".join(
        b"ptxas info    : Compiling entry function 'k%d' for 'sm_80'\n"
        b"ptxas info    : Function properties for k%d\n" % (n, n)
        for n in range(4_000)
    )
    start = time.process_time()
    reading = read_text(b"", BytesIO(text), origin="x")
    assert len(reading.kernels) == 4_000
    assert {kernel.registers_per_thread for kernel in reading.kernels} == {None}
    assert time.process_time() - start < 5
