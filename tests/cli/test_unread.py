"""``--check`` of what could only be read in part is inconclusive: the rest may be what fails."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.compiled.containers import CONTAINERS, DATA, no_tools, temporary, tool, wheel

__all__ = ["no_tools", "temporary", "tool"]  # fixtures

CUBIN = DATA / "cubin" / "j01.sm_80.cubin"
LOG = """{}ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
NAMELESS = " Function nameless:\n  REG:8 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:360 TEXTURE:0\n"


def directory(tmp_path):
    shutil.copy(CUBIN, tmp_path)
    (tmp_path / "broken.cubin").write_bytes(CUBIN.read_bytes()[:99])
    return tmp_path


def of_a_wheel(tmp_path):
    members = {"a.cubin": CUBIN.read_bytes(), "b.so": (CONTAINERS / "shared.so").read_bytes()}
    return wheel(tmp_path / "a.whl", members)


def in_a_directory(tmp_path):
    of_a_wheel(tmp_path)
    return tmp_path


def log(tmp_path):
    (tmp_path / "build.log").write_text(LOG.format(NAMELESS))
    return tmp_path / "build.log"


@pytest.mark.parametrize("make", [directory, of_a_wheel, in_a_directory, log])
def test_a_part_is_not_read(perfkit, no_tools, tmp_path, make):
    place = tmp_path / "place"
    place.mkdir()
    path = str(make(place))
    fits = ["fits", path, "-g", "a100", "-t", "128", "--check"]
    assert perfkit(fits).code == 3
    assert perfkit([*fits[:-1]]).code == 0  # nobody asks for a verdict
    assert perfkit([*fits, "--smem", "10M"]).code == 1  # what is read does not fit
    assert perfkit(["diff", path, path, "--check"]).code == 3
    written = tmp_path / "written.json"
    assert perfkit(["inspect", path, "-f", "json", "-o", str(written)]).code == 0
    assert json.loads(written.read_text())["unread"] == 1
    assert perfkit(["fits", str(written), *fits[2:]]).code == 3
    assert perfkit(["diff", str(written), path, "--check"]).code == 3


@pytest.mark.parametrize(("name", "code"), [("refused.fatbin", 3), ("plain.fatbin", 0)])
def test_images_that_the_tool_does_not_take_out(perfkit, tool, name, code):
    path = str(CONTAINERS / name)
    assert perfkit(["diff", path, path, "--check"]).code == code


def test_everything_is_read(perfkit, tmp_path):
    shutil.copy(CUBIN, tmp_path)
    (tmp_path / "notes.txt").write_text("no kernel")
    assert perfkit(["fits", str(tmp_path), "-g", "a100", "--check"]).code == 0
    assert perfkit(["diff", str(tmp_path), str(CUBIN), "--check"]).code == 0
