"""Fatbins, object files, libraries and programs: every image, every kernel, every number."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from perfkit.compiled import container
from perfkit.compiled.container import read_container
from perfkit.compiled.host_file import MAGIC
from perfkit.compiled.inspect import inspect, read
from perfkit.errors import InputError
from tests.compiled.containers import CONTAINERS, temporary, tool, windows_library
from tests.compiled.reports import images, usage

__all__ = ["temporary", "tool"]  # fixtures

SAXPY = {("saxpy", "sm_80"), ("saxpy", "sm_90")}
MATMUL = {("tiled_matmul", "sm_80"), ("tiled_matmul", "sm_90")}
KERNELS = {
    "plain.fatbin": SAXPY,
    "compressed.fatbin": SAXPY,
    "object.o": MATMUL,
    "relocatable.o": MATMUL,
    "libstatic.a": SAXPY | MATMUL,
    "shared.so": SAXPY | MATMUL,
    "program": MATMUL,
    "lineinfo.so": SAXPY | MATMUL,
}


def names(kernels):
    return [(kernel.name, kernel.arch) for kernel in kernels]


@pytest.mark.parametrize("file", KERNELS)
def test_every_kernel_of_every_image(file, tool):
    reading = read(CONTAINERS / file)
    assert sorted(names(reading.kernels)) == sorted(KERNELS[file])
    (note,) = reading.notes
    assert note.startswith(f"{CONTAINERS / file}: also has PTX for compute_90")


@pytest.mark.parametrize("file", KERNELS)
def test_cuobjdump_says_the_same(file, tool):
    command = [tool, "--dump-resource-usage", CONTAINERS / file]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    expected = [usage(part) for part in images(report)]
    found = inspect(CONTAINERS / file)
    assert found
    for kernel in found:
        number = int(re.search(r"image (\d+)", kernel.origin)[1])
        want = expected[number - 1][kernel.name]
        reserved = 1024 if kernel.arch == "sm_90" and "relocatable" not in file else 0
        assert kernel.registers_per_thread == want.registers
        assert kernel.static_shared_bytes == max(0, want.shared - reserved)
        assert kernel.constant_bytes == want.constant
        assert kernel.stack_bytes == want.stack


def test_a_kernel_says_where_it_is_from(tool):
    kernels = inspect(CONTAINERS / "libstatic.a", kernel="matmul")
    library = CONTAINERS / "libstatic.a"
    assert [kernel.origin for kernel in kernels] == [
        f"{library}(tiled_matmul.o), image 3 for sm_80",
        f"{library}(tiled_matmul.o), image 4 for sm_90",
    ]


def test_odd_names_never_reach_the_tool(tool, tmp_path):
    data = (CONTAINERS / "plain.fatbin").read_bytes()
    for name in (
        "-xelf",
        "a b'c\n.fatbin",
        "x" * 200 + ".so",
        b"caf\xe9".decode("utf-8", "surrogateescape"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        assert set(names(inspect(path))) == SAXPY


def test_names_of_sources_do_not_hide_images(tool, tmp_path):
    """With -lineinfo cuobjdump names images by their source: the later kernel.cu overwrites."""
    library = (CONTAINERS / "lineinfo.so").read_bytes()
    command = [tool, "-lelf", CONTAINERS / "lineinfo.so"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert listed.count("kernel.sm_90.cubin") == 2, "build the data differently"
    assert inspect(CONTAINERS / "lineinfo.so", kernel="saxpy")[0].origin.endswith(
        "lineinfo.so, image 1 for sm_80"
    )
    path = tmp_path / "kernels.dll"
    path.write_bytes(windows_library(library[library.index(MAGIC) :]))
    assert set(names(inspect(path))) == SAXPY | MATMUL
    assert (CONTAINERS / "lineinfo.so").read_bytes() == library


def test_images_that_end_up_under_unknown_names_are_missed(tool, temporary, monkeypatch):
    monkeypatch.setattr(container, "named_images", lambda _: [])
    reading = read_container(CONTAINERS / "lineinfo.so")
    assert reading.unread == 1
    assert "4 more have names that cuobjdump gave them" in reading.notes[0]


def test_a_copy_where_links_cannot_be_made(tool, temporary, monkeypatch):
    def refused(*_):
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(Path, "symlink_to", refused)
    assert set(names(inspect(CONTAINERS / "plain.fatbin"))) == SAXPY


def test_images_that_cuobjdump_refuses_are_read_where_they_lie(tool):
    command = [tool, "-lelf", CONTAINERS / "refused.fatbin"]
    listed = subprocess.run(command, check=False, capture_output=True)
    assert listed.stdout.count(b"ELF file") < 3, "cuobjdump reads it: build the data differently"
    reading = read(CONTAINERS / "refused.fatbin")
    assert sorted(names(reading.kernels)) == [
        ("k", "sm_90"),
        ("k0", "sm_90"),
        ("saxpy", "sm_80"),
        ("tiled_matmul", "sm_86"),
    ]
    (note,) = reading.notes
    assert "may have more images of device code than the 3 read: cuobjdump says: Invalid" in note


@pytest.mark.parametrize(
    ("file", "message", "hint"),
    [
        ("ptx_only.fatbin", "no machine code: it has PTX for compute_80", "--gpu sm_90"),
        ("lto.fatbin", r"no device code.*\(LTO\)", None),
        ("host.o", r"a host ELF file \(x86-64\) without device code", None),
    ],
)
def test_nothing_to_read(file, message, hint, tool):
    with pytest.raises(InputError, match=message) as caught:
        inspect(CONTAINERS / file)
    assert caught.value.exit_code == 2
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize("section", [b".nv_fatb", b"__nv_rel"])
def test_windows_libraries(section, tool, tmp_path):
    plain = (CONTAINERS / "plain.fatbin").read_bytes()
    refused = (CONTAINERS / "refused.fatbin").read_bytes()
    path = tmp_path / "kernels.dll"
    path.write_bytes(windows_library(plain, plain, section=section))
    assert sorted(names(inspect(path))) == sorted([*SAXPY, *SAXPY])
    path.write_bytes(windows_library(plain, refused, section=section))
    assert len(inspect(path)) == 6
    path.write_bytes(windows_library(plain)[:-200])
    with pytest.raises(InputError, match="not a whole Windows program"):
        inspect(path)
    path.write_bytes(windows_library(section=b".rsrc\0\0\0"))
    with pytest.raises(InputError, match="a Windows program or library without device code"):
        inspect(path)


def test_a_thin_library_names_its_members_only(tool, tmp_path):
    path = tmp_path / "thin.a"
    path.write_bytes(b"!<thin>\n")
    with pytest.raises(InputError, match="a thin library only names its object files"):
        inspect(path)


def test_code_for_other_vendors(tool, tmp_path):
    path = tmp_path / "amd.a"
    path.write_bytes(b"!<arch>\n" + b".hip_fatbin\0")
    with pytest.raises(InputError, match="without device code for NVIDIA GPUs"):
        inspect(path)


@pytest.mark.parametrize("file", [*KERNELS, "refused.fatbin"])
def test_broken_containers(file, tool, tmp_path):
    """Cut and flipped: kernels, or an error that says what is wrong; never anything else."""
    good = (CONTAINERS / file).read_bytes()
    draw = random.Random(file)
    path = tmp_path / "broken"
    places = set()
    for round_ in range(25):
        data = bytearray(good)
        for _ in range(draw.choice((1, 3, 9))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data[: draw.randrange(len(data))] if round_ % 2 else data)
        try:
            places.add(read(path).kernels[0].origin)
        except InputError as error:
            places.add(error.where)
    assert len(places) > 1
    assert all(place.startswith(str(path)) for place in places)


def test_sizes_that_no_file_has():
    """A cubin that claims to end beyond what a number of the machine can hold."""
    from perfkit.compiled.plain_images import plain_images

    cubin = bytearray((CONTAINERS.parent / "cubin" / "j05.sm_80.cubin").read_bytes())
    whole = bytes(cubin)
    cubin[0x28:0x30] = b"\xff" * 8  # where its section headers are
    assert plain_images(CONTAINERS, bytes(cubin)) == []
    assert plain_images(CONTAINERS, bytes(cubin) + whole) == [whole]


def test_a_static_library_that_is_cut_off(tmp_path):
    """Its device code may be in what is missing."""
    whole = (CONTAINERS / "libstatic.a").read_bytes()
    path = tmp_path / "cut.a"
    for length in range(100, len(whole), 997):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=f"truncated: a member ends at .* {length} bytes"):
            inspect(path)
