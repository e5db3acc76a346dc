"""Whatever the bytes: an answer or a ``CubinError`` that says where, soon."""

from __future__ import annotations

import random
import struct
import time

import pytest

from perfkit.compiled.call_graph import _reaches_cycle
from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.inspect import inspect
from perfkit.errors import CubinError, InputError
from tests.compiled.reports import DATA

#: One of each ELF flavour.
SAMPLES = ("j05.sm_80", "j04.sm_120", "j01.sm_80")
HEADER_TABLE, HEADER_COUNT, HEADER_NAMES = 0x28, 0x3C, 0x3E


def content(name):
    return (DATA / f"{name}.cubin").read_bytes()


def table_of(data):
    """Offset and number of the section headers."""
    return struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]


def outcome(data):
    """The kernels, or the error; anything else that is raised is a bug."""
    try:
        return read_cubin(data, origin="x")
    except CubinError as error:
        return error


@pytest.mark.parametrize("name", SAMPLES[:2])
def test_cut_at_every_byte(name):
    data = content(name)
    start, count = table_of(data)
    whole = read_cubin(data, origin="x")
    for length in range(len(data)):
        found = outcome(data[:length])
        if length < start + count * 64:
            assert isinstance(found, CubinError)
        else:  # only what comes after the tables, and that nobody reads, is missing
            assert isinstance(found, CubinError) or found == whole


def mutations(number, seed=20):
    """Flips, overwritten header fields, cuts and scrambled stretches of the samples."""
    chance = random.Random(seed)
    originals = [content(name) for name in SAMPLES]
    for _ in range(number):
        data = bytearray(chance.choice(originals))
        kind = chance.random()
        start, count = table_of(data)
        if kind < 0.2:
            for _ in range(chance.choice((1, 1, 2, 8))):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif kind < 0.6:
            at = chance.choice((chance.randrange(64), start + chance.randrange(64 * count)))
            width = chance.choice((1, 2, 4, 8))
            near_end = (len(data) - chance.randrange(64)).to_bytes(8, "little")[:width]
            filling = (b"\xff" * width, b"\0" * width, chance.randbytes(width), near_end)
            data[at : at + width] = chance.choice(filling)
        elif kind < 0.9:
            data = data[: chance.randrange(len(data))]
        else:
            low, high = sorted(chance.randrange(len(data)) for _ in range(2))
            data[low:high] = chance.randbytes(high - low)
        yield bytes(data)


def test_twenty_thousand_mutations():
    outcomes = [outcome(data) for data in mutations(20_000)]
    errors = [found for found in outcomes if isinstance(found, CubinError)]
    assert all(error.exit_code == 2 and str(error).startswith("x") for error in errors)
    assert all(outcomes), "an answer has a kernel"
    # the mutations reach both ends: some do no harm, many do
    assert 4_000 < len(errors) < 16_000


def patched(name, offset, layout, value):
    data = bytearray(content(name))
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("offset", "layout", "value"),
    [
        (HEADER_TABLE, "<Q", 2**64 - 1),
        (HEADER_TABLE, "<Q", 0),
        (HEADER_COUNT, "<H", 0xFFFF),
        (HEADER_NAMES, "<H", 0xFFFE),
        (0x10, "<H", 3),  # a shared library
        (0x30, "<I", 0),  # no SM
        (0x3A, "<H", 40),  # 32-bit section headers
    ],
)
def test_absurd_headers(offset, layout, value):
    with pytest.raises(CubinError, match=r"x@0x[0-9a-f]+: "):
        read_cubin(patched("j05.sm_80", offset, layout, value), origin="x")


@pytest.mark.parametrize("field", [24, 32], ids=["offset", "size"])
def test_sections_beyond_the_file(field):
    """A size is never allocated: the file's length bounds it."""
    data = content("j05.sm_80")
    start, count = table_of(data)
    for number in range(1, count):
        at = start + 64 * number
        for value in (2**63, 2**64 - 1, len(data) + 1):
            broken = patched("j05.sm_80", at + field, "<Q", value)
            try:
                read_cubin(broken, origin="x")
            except CubinError:
                continue
            kind = struct.unpack_from("<I", broken, at + 4)[0]
            assert kind == 8, "only a section without bytes in the file may be large"


def test_a_section_count_in_the_first_header():
    """The extended numbering: the count is 64 bits wide there."""
    data = bytearray(patched("j05.sm_80", HEADER_COUNT, "<H", 0))
    start, _ = table_of(data)
    struct.pack_into("<Q", data, start + 32, 2**60)
    with pytest.raises(CubinError, match="do not fit"):
        read_cubin(bytes(data), origin="x")


def test_names_that_would_take_for_ever():
    """Thousands of symbols that all share one name of megabytes."""
    name = b"\0" + b"n" * 2**22 + b"\0"
    symbols = b"".join(struct.pack("<IBBHQQ", 1 + i, 2, 0x10, 0, 0, 0) for i in range(2**16))
    section_names = b"\0s\0"
    at, sections = 64, [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
    for kind, blob, entry, link in (
        (3, section_names, 0, 0),
        (3, name, 0, 0),
        (2, symbols, 24, 2),
    ):
        sections.append(struct.pack("<IIQQQQIIQQ", 1, kind, 0, 0, at, len(blob), link, 0, 1, entry))
        at += len(blob)
    head = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01\x33\x07", 2, 190, 1, 0, 0, at, 0x500550, 64, 0, 0, 64, 4, 1,
    )  # fmt: skip
    data = head + section_names + name + symbols + b"".join(sections)
    began = time.process_time()
    with pytest.raises(CubinError, match="table of names"):
        read_cubin(data, origin="x")
    assert time.process_time() - began < 5


def test_names_in_no_encoding():
    """Bytes that are not UTF-8, and control characters that a terminal would obey."""
    data = content("j05.sm_80").replace(b"\0flat\0", b"\0\xff\x1b[m\0")
    names = {kernel.name for kernel in read_cubin(data, origin="x")}
    assert names == {"\ufffd\ufffd[m", "rec"}


def test_a_long_chain_of_calls_is_no_recursion_here():
    chain = {number: {number + 1} for number in range(50_000)}
    assert not _reaches_cycle(chain, 0)
    assert _reaches_cycle(chain | {50_000: {49_999}}, 0)
    assert not _reaches_cycle({1: {1}}, 0)


KINDS = [
    (b"", "an empty file"),
    (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 2, 62) + bytes(44), "x86-64"),
    (b"\x7fELF", "a host ELF file"),
    (b"\x50\xed\x55\xba\x01\x00\x10\x00", "a fatbin container"),
    (b"\xed\x43\x4e\x7f\x01\x43", "an LTO-IR object"),
    (b"!<arch>\nlibcuda.o/", "a static library"),
    (b"BC\xc0\xde5\x14", "LLVM bitcode"),
    (b"PK\x03\x04\x14\x00", "a zip archive or a wheel"),
    (b"//\n// Generated\n.version 8.8\n.target sm_90\n", "PTX text"),
    (b"ptxas info    : 0 bytes gmem\n", "a ptxas -v log"),
    (b"\nResource usage:\n Common:\n", "a cuobjdump resource report"),
    (b"__global__ void k() {}", "CUDA source"),
    (b'{"traceEvents": []}', "JSON text"),
    (b"hello", "text"),
    (b"\x00\x01\x02", "not a file that perfkit knows"),
]


@pytest.mark.parametrize(("data", "what"), KINDS, ids=[what for _, what in KINDS])
def test_the_wrong_kind_is_named(tmp_path, data, what):
    path = tmp_path / "kernel.cubin"
    with pytest.raises(CubinError, match=what) as caught:
        read_cubin(data, origin=str(path))
    assert caught.value.where == str(path)


def test_old_32_bit_cubins():
    data = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HH", 2, 190) + bytes(32)
    with pytest.raises(CubinError, match="64-bit"):
        read_cubin(data, origin="x")


def test_a_cubin_with_megabytes_behind_it(tmp_path):
    path = tmp_path / "padded.cubin"
    path.write_bytes(content("j05.sm_80"))
    with path.open("r+b") as file:
        file.truncate(64 * 2**20)
    assert len(inspect(path)) == 2


def test_what_is_no_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        inspect(tmp_path / "missing.cubin")
    with pytest.raises(InputError, match="null byte"):
        inspect("a\0b")


def test_a_file_name_in_no_encoding(tmp_path):
    path = tmp_path / b"caf\xe9.cubin".decode("utf-8", "surrogateescape")
    path.write_bytes(content("j05.sm_80"))
    kernel = inspect(path)[0]
    assert kernel.origin.endswith("caf?.cubin")
    kernel.origin.encode("utf-8")


def test_a_cubin_without_kernels():
    # the mark of a kernel is one bit of its symbol
    data = bytearray(content("j05.sm_80"))
    start, count = table_of(data)
    for number in range(count):
        kind, _, _, offset, size = struct.unpack_from("<IQQQQ", data, start + 64 * number + 4)
        if kind == 2:
            for at in range(offset, offset + size, 24):
                data[at + 5] &= 0xEF
    with pytest.raises(CubinError, match="no kernel"):
        read_cubin(bytes(data), origin="x")


def test_a_size_of_zero_is_none():
    """No compiler writes one; it would be an impossible launch bound or cluster."""
    data = (DATA / "j04.sm_90.cubin").read_bytes()
    (kernel,) = read_cubin(data, origin="x")
    sizes = {
        0x05: (kernel.max_threads, 1, 1),  # MAX_THREADS
        0x3D: kernel.required_cluster,
    }
    for attribute, size in sizes.items():
        record = bytes((4, attribute, 12, 0)) + struct.pack("<3I", *size)
        assert data.count(record) == 1
        broken = data.replace(record, record[:4] + struct.pack("<3I", *size[:2], 0))
        with pytest.raises(CubinError, match=f"attribute {attribute:#x} is no size"):
            read_cubin(broken, origin="x")
