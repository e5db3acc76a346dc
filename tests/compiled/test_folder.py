"""Directories: everything in them that has kernels, once, and nothing that lasts for ever."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from perfkit.compiled.inspect import inspect, read
from perfkit.errors import InputError, Unavailable
from tests.compiled.containers import CONTAINERS, DATA, no_tools, temporary, tool, wheel

__all__ = ["no_tools", "temporary", "tool"]  # fixtures

CUBIN = DATA / "cubin" / "j01.sm_80.cubin"
COUNT = len(inspect(CUBIN))

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="needs a privilege there")


def test_every_kind_of_file(tool, tmp_path):
    build = tmp_path / "build"
    build.mkdir()
    for name in ("object.o", "libstatic.a", "plain.fatbin", "host.o", "program"):
        shutil.copy(CONTAINERS / name, build)
    wheel(tmp_path / "a.whl", {"a/kernels.so": (CONTAINERS / "shared.so").read_bytes()})
    shutil.copytree(DATA / "triton" / "sm90", tmp_path / "cache" / "sm90")
    (tmp_path / "kernel.ptx").write_text(".version 8.0\n.target sm_80\n")
    (tmp_path / "build.log").write_text("ptxas info    : 0 bytes gmem\n")
    (tmp_path / "kernel.cu").write_text("__global__ void k() {}\n")
    reading = read(tmp_path)
    assert len(reading.kernels) == 4 + 4 + 2 + 2 + 2 + 1
    assert "row_sum" in {kernel.name for kernel in reading.kernels}
    notes = " ".join(reading.notes)
    assert "1 file with PTX left out, such as" in notes
    assert "a.whl(a/kernels.so): also has PTX for compute_90" in notes
    assert "libstatic.a and 3 more: also has PTX for compute_90" in notes


def test_what_fails_is_noted(tmp_path, temporary):
    shutil.copy(CUBIN, tmp_path / "whole.cubin")
    for number in range(8):
        (tmp_path / f"cut{number}.cubin").write_bytes(CUBIN.read_bytes()[: 500 + number])
    reading = read(tmp_path)
    assert len(reading.kernels) == COUNT
    assert len([note for note in reading.notes if "cut" in note]) == 5
    assert "not read: 3 more files" in reading.notes


def test_nothing_but_failures(tmp_path):
    (tmp_path / "cut.cubin").write_bytes(CUBIN.read_bytes()[:500])
    with pytest.raises(InputError, match="truncated"):
        inspect(tmp_path)


def test_nothing_but_sources(tmp_path):
    for number in range(7):
        (tmp_path / f"k{number}.cu").write_text("__global__ void k() {}\n")
    with pytest.raises(InputError, match="no kernel found") as caught:
        inspect(tmp_path)
    hint = caught.value.hint
    assert hint.startswith("sources are not compiled from directories, name one, with --gpu: ")
    assert f"{tmp_path / 'k0.cu'}, " in hint
    assert hint.endswith("k4.cu and 2 more")


def test_nothing_at_all(tmp_path):
    with pytest.raises(InputError, match=r"no kernel found: looked for cubins.* among 0 files"):
        inspect(tmp_path)
    (tmp_path / "a.py").write_text("")
    shutil.copy(CONTAINERS / "host.o", tmp_path)
    wheel(tmp_path / "empty.whl", {"a.py": b""})
    with pytest.raises(InputError, match="among 3 files"):
        inspect(tmp_path)


def test_without_cuobjdump(no_tools, tmp_path):
    shutil.copy(CONTAINERS / "object.o", tmp_path)
    with pytest.raises(Unavailable, match="NVIDIA's cuobjdump"):
        inspect(tmp_path)
    shutil.copy(CUBIN, tmp_path)
    reading = read(tmp_path)
    assert len(reading.kernels) == COUNT
    assert "not read: 1 file: NVIDIA's cuobjdump" in reading.notes[0]


@needs_links
def test_links(tmp_path):
    """Loops are not followed, and a file with several names is read once."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    shutil.copy(CUBIN, folder / "one.cubin")
    (folder / "loop").symlink_to(tmp_path)
    (folder / "self").symlink_to(folder / "self")
    (folder / "dangling.so").symlink_to(tmp_path / "nowhere")
    (tmp_path / "same.cubin").symlink_to(folder / "one.cubin")
    os.link(folder / "one.cubin", folder / "hard.cubin")
    assert len(inspect(tmp_path)) == COUNT


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_would_block_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe.cubin")
    shutil.copy(CUBIN, tmp_path)
    assert len(inspect(tmp_path)) == COUNT


def test_one_name_per_kernel_over_all_files(tmp_path):
    shutil.copy(DATA / "cubin" / "j07.sm_80.cubin", tmp_path)
    shutil.copy(DATA / "cubin" / "j07.sm_120.cubin", tmp_path)
    shown: dict[str, set[str]] = {}
    for kernel in inspect(tmp_path):
        shown.setdefault(kernel.name, set()).add(kernel.demangled)
    assert len(shown) >= 3
    assert all(len(names) == 1 for names in shown.values())


def test_unreadable_files(tmp_path):
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root may read anything")
    shutil.copy(CUBIN, tmp_path / "open.cubin")
    shutil.copy(CUBIN, tmp_path / "closed.cubin")
    (tmp_path / "closed.cubin").chmod(0)
    reading = read(tmp_path)
    assert len(reading.kernels) == COUNT
    assert "Permission denied" in reading.notes[0]
