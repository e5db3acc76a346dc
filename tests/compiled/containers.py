"""Containers that the tests make themselves, and tools that misbehave."""

from __future__ import annotations

import os
import stat
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.compiled.reports import cuobjdump

DATA = Path(__file__).resolve().parents[1] / "data"
CONTAINERS = DATA / "containers"

needs_sh = pytest.mark.skipif(sys.platform == "win32", reason="stand-in tools are shell scripts")


def windows_library(*fatbins: bytes, section: bytes = b".nv_fatb") -> bytes:
    """A Windows library with that section and little else; fatbins are padded as linkers do."""
    content = b"".join(fatbin.ljust(len(fatbin) // 64 * 64 + 128, b"\0") for fatbin in fatbins)
    header, first = 0x80, 0x400
    table = b".text\0\0\0" + struct.pack("<IIII16x", 0x10, 0x1000, 0x10, 0x200)
    table += section + struct.pack("<IIII16x", len(content), 0x2000, len(content), first)
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", header)
    head = head.ljust(header, b"\0") + b"PE\0\0" + struct.pack("<HH12xHH", 0x8664, 2, 0xF0, 0x2022)
    head = head.ljust(header + 24 + 0xF0, b"\0") + table
    return head.ljust(first, b"\0") + content


def wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def program(path: Path, text: str) -> Path:
    """A shell script that can be run."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class Listed:
    """A file of a wheel, as importlib.metadata lists it."""

    def __init__(self, path: Path) -> None:
        self.stem, self.suffix, self.path = path.stem, path.suffix, path

    def locate(self) -> Path:
        return self.path


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary files go; nothing may be left there."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert not list(place.iterdir())


@pytest.fixture
def tool(monkeypatch, temporary):
    """The real cuobjdump, if the tests have one."""
    path = cuobjdump()
    if path is None:
        pytest.skip("make oracle has cuobjdump")
    monkeypatch.setenv("CUOBJDUMP", str(path))
    return path


@pytest.fixture
def no_tools(monkeypatch, tmp_path):
    """No tool of NVIDIA's anywhere."""
    for name in ("CUOBJDUMP", "PTXAS", "NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr("perfkit.compiled.tools.files", lambda name: [])
    return os.environ
