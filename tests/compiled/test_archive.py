"""Wheels: the members with device code, and archives that are not what they seem."""

from __future__ import annotations

import zipfile

import pytest

from perfkit.compiled import archive
from perfkit.compiled.inspect import inspect, read
from perfkit.errors import InputError, Unavailable
from tests.compiled.containers import CONTAINERS, DATA, no_tools, temporary, tool, wheel

__all__ = ["no_tools", "temporary", "tool"]  # fixtures

CUBIN = (DATA / "cubin" / "j01.sm_80.cubin").read_bytes()
LIBRARY = (CONTAINERS / "shared.so").read_bytes()
HOST = (CONTAINERS / "host.o").read_bytes()
SCRIPT = b"print('hello')\n"


def test_members_with_device_code(tool, tmp_path):
    path = wheel(
        tmp_path / "package-1.0-py3-none-any.whl",
        {
            "package/__init__.py": SCRIPT,
            "package/host.so": HOST,
            "package/kernels.so": LIBRARY,
            "package/data/one.cubin": CUBIN,
            "package-1.0.dist-info/RECORD": b"",
        },
    )
    reading = read(path)
    assert len(reading.kernels) == 4 + len(inspect(DATA / "cubin" / "j01.sm_80.cubin"))
    origins = [kernel.origin for kernel in reading.kernels]
    assert origins[0] == f"{path}(package/kernels.so), image 1 for sm_80"
    assert origins[-1] == f"{path}(package/data/one.cubin)"
    (note,) = reading.notes
    assert note.startswith(f"{path}(package/kernels.so): also has PTX")


def test_no_kernel(tmp_path, temporary):
    path = wheel(tmp_path / "pure.whl", {"a.py": SCRIPT, "host.so": HOST})
    with pytest.raises(InputError, match=r"no kernel found: looked for .* among 2 files"):
        inspect(path)


def test_without_cuobjdump_cubins_are_still_read(no_tools, temporary, tmp_path):
    path = wheel(tmp_path / "a.whl", {"a.so": LIBRARY, "b.so": LIBRARY, "one.cubin": CUBIN})
    reading = read(path)
    assert {kernel.arch for kernel in reading.kernels} == {"sm_80"}
    (note,) = reading.notes
    assert note.startswith("not read: 2 files: NVIDIA's cuobjdump")
    assert "pip install nvidia-cuda-cuobjdump" in note
    with pytest.raises(Unavailable):
        inspect(wheel(tmp_path / "b.whl", {"a.so": LIBRARY}))


def test_a_broken_member_does_not_hide_the_others(tmp_path, temporary):
    path = wheel(tmp_path / "a.zip", {"broken.cubin": CUBIN[:900], "whole.cubin": CUBIN})
    reading = read(path)
    assert reading.kernels
    (note,) = reading.notes
    assert note.startswith(f"not read: {path}(broken.cubin)")


def damaged(tmp_path, **change):
    """A wheel with one cubin, of which bytes of the archive are changed."""
    path = wheel(tmp_path / "a.whl", {"one.cubin": CUBIN})
    data = bytearray(path.read_bytes())
    for place, value in change.items():
        offset = {"local": 0, "central": data.rindex(b"PK\x01\x02"), "data": 200}[place]
        for at, byte in value.items():
            data[offset + at] = byte
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"local": {6: 1}, "central": {8: 1}}, "is encrypted"),
        ({"local": {8: 99}, "central": {10: 99}}, "cannot be unpacked: .*compression"),
        ({"data": {0: 0xFF, 1: 0xFF, 2: 0xFF}}, "cannot be unpacked"),
        ({"central": {16: 0}}, "cannot be unpacked: Bad CRC"),
        ({"central": {22: 0x7F}}, "members overlap"),
    ],
)
def test_members_that_cannot_be_unpacked(change, message, tmp_path, temporary):
    with pytest.raises(InputError, match=message):
        inspect(damaged(tmp_path, **change))


def test_truncated_archives(tmp_path, temporary):
    data = wheel(tmp_path / "a.whl", {"one.cubin": CUBIN}).read_bytes()
    path = tmp_path / "cut.whl"
    for length in (4, 30, 500, len(data) - 30, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="not a whole zip archive"):
            inspect(path)


def test_bombs(tmp_path, temporary, monkeypatch):
    """What would unpack to far more than it is, or what several members share."""
    library = HOST + bytes(archive._SMALL_BYTES)
    path = wheel(tmp_path / "bomb.whl", {"a.so": library})
    assert path.stat().st_size < 2**20
    with pytest.raises(InputError, match=r"would unpack to \d+ bytes: not a sane zip archive"):
        inspect(path)
    monkeypatch.setattr(archive, "_MEMBER_BYTES", len(CUBIN) - 1)
    with pytest.raises(InputError, match="would unpack to"):
        inspect(wheel(tmp_path / "large.whl", {"one.cubin": CUBIN}))


def test_names_of_members_are_not_followed(tmp_path, temporary):
    """A name that leaves the directory is a name and no more."""
    path = wheel(tmp_path / "a.whl", {"../../evil\x1b[31m.cubin": CUBIN})
    (origin,) = {kernel.origin for kernel in inspect(path)}
    assert origin == f"{path}(../../evil\ufffd[31m.cubin)"
    assert not list(tmp_path.parent.glob("*evil*"))


def test_many_small_members_cost_little(tmp_path, temporary):
    path = tmp_path / "many.whl"
    with zipfile.ZipFile(path, "w") as file:
        for number in range(2000):
            file.writestr(f"header{number}.h", b"#pragma once\n")
        file.writestr("one.cubin", CUBIN)
    assert inspect(path)


def test_a_member_that_wants_too_much_memory(tmp_path, monkeypatch):
    """As with an LZMA dictionary of four gigabytes where memory is limited."""
    path = wheel(tmp_path / "x.whl", {"large.cubin": CUBIN, "small.cubin": CUBIN})
    real = archive.read_binary

    def read_binary(copy, head, *, name):
        if "large" in name:
            raise MemoryError
        return real(copy, head, name=name)

    monkeypatch.setattr(archive, "read_binary", read_binary)
    found = read(path)
    assert len(found.kernels) == 2
    assert "large.cubin): cannot be unpacked: it takes more memory than there is" in found.notes[0]


def test_members_are_named_and_not_the_copies_of_them(tmp_path):
    """Whatever reads a member does not know that it reads a copy in a temporary directory."""
    members = {
        "short.so": LIBRARY[:9000],
        "short.dll": b"MZ" + bytes(10),
        "short.a": b"!<arch>\n" + bytes(48) + b"99999     `\n",
        "short.cubin": (DATA / "cubin/j05.sm_80.cubin").read_bytes()[:99],
        "whole.cubin": (DATA / "cubin/j05.sm_80.cubin").read_bytes(),
    }
    path = wheel(tmp_path / "x.whl", members)
    for notes in (read(path).notes, read(tmp_path).notes):
        assert len(notes) == 4
        for note, name in zip(notes, members, strict=False):
            assert note.startswith("not read: ")
            assert note.count(f"x.whl({name})") == 1
            assert note.count("x.whl") == 1
