"""NVIDIA's tools: where they are looked for, and what happens when they fail."""

from __future__ import annotations

import os
import re
import time
import tomllib
from pathlib import Path

import pytest

from perfkit.compiled import tools
from perfkit.compiled.inspect import inspect, read
from perfkit.errors import InputError, Unavailable
from tests.compiled.containers import CONTAINERS, Listed, needs_sh, no_tools, program, temporary
from tests.compiled.reports import DATA

__all__ = ["no_tools", "temporary"]  # fixtures

PLAIN = CONTAINERS / "plain.fatbin"


def test_none_is_here(no_tools, temporary):
    with pytest.raises(Unavailable, match=r"NVIDIA's cuobjdump.* is not here") as caught:
        inspect(PLAIN)
    assert caught.value.exit_code == 4
    assert "pip install nvidia-cuda-cuobjdump" in caught.value.hint
    with pytest.raises(Unavailable, match="NVIDIA's ptxas"):
        tools.find(tools.PTXAS)


@pytest.mark.parametrize("tool", [tools.CUOBJDUMP, tools.PTXAS, tools.NVCC], ids=lambda t: t.name)
def test_what_a_hint_says_to_install_brings_the_tool(tool):
    project = tomllib.loads((Path(tools.__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    advised = re.findall(r"perfkit\[(\w+)\]", tool.hint)
    assert advised
    for extra in advised:
        listed = project["project"]["optional-dependencies"][extra]
        names = {re.split("[<>=]", requirement)[0] for requirement in listed}
        assert names & set(tool.wheels), f"{extra} has no {tool.name}"


def test_cubins_need_none(no_tools):
    assert inspect(DATA / "j01.sm_80.cubin")


@needs_sh
def test_the_order_of_the_places(no_tools, monkeypatch, tmp_path):
    places = {}
    for name in ("path", "cuda_path/bin", "cuda_home/bin", "wheel", "variable"):
        (tmp_path / name).mkdir(parents=True)
        places[name] = program(tmp_path / name / "cuobjdump", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert tools.find(tools.CUOBJDUMP) == places["path"]
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "cuda_path"))
    assert tools.find(tools.CUOBJDUMP) == places["cuda_path/bin"]
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda_home"))
    assert tools.find(tools.CUOBJDUMP) == places["cuda_home/bin"]
    others = [tmp_path / "licence.txt", places["wheel"]]
    monkeypatch.setattr("perfkit.compiled.tools.files", lambda name: map(Listed, others))
    assert tools.find(tools.CUOBJDUMP) == places["wheel"]
    monkeypatch.setenv("CUOBJDUMP", str(places["variable"]))
    assert tools.find(tools.CUOBJDUMP) == places["variable"]


def test_a_variable_that_names_nothing(monkeypatch):
    monkeypatch.setenv("CUOBJDUMP", "/nowhere/cuobjdump")
    with pytest.raises(
        Unavailable, match="CUOBJDUMP is '/nowhere/cuobjdump', which is not"
    ) as caught:
        inspect(PLAIN)
    assert "unset CUOBJDUMP" in caught.value.hint


@needs_sh
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 3", "cuobjdump failed with exit code 3"),
        ("echo 'cuobjdump fatal   : no luck' >&2; exit 1", "cuobjdump says: no luck"),
        ("echo 'warning: w'; echo 'x error : bad' >&2; exit 1", "cuobjdump says: bad"),
        ("kill -SEGV $$", "cuobjdump crashed"),
        ("exit 0", "no device code"),
        ("echo nonsense > image.1.sm_80.cubin", "not a cubin"),
        ("echo nonsense > image.1.sm_80.cubin; kill -ABRT $$", "not a cubin"),
        ("mkdir image.1.sm_80.cubin; exit 0", "cannot be read: Is a directory"),
        (r"printf '\377\376'; printf '\377 fatal' >&2; exit 9", "cuobjdump says: \ufffd fatal"),
    ],
)
def test_it_fails(script, message, monkeypatch, tmp_path, temporary):
    monkeypatch.setenv("CUOBJDUMP", str(program(tmp_path / "cuobjdump", script)))
    # what lies uncompressed in the file is read in its place, so there has to be nothing
    with pytest.raises(InputError, match=message) as caught:
        inspect(CONTAINERS / "compressed.fatbin")
    assert str(caught.value.where).startswith(str(CONTAINERS / "compressed.fatbin"))


@needs_sh
def test_it_hangs(monkeypatch, tmp_path, temporary):
    pid = tmp_path / "pid"
    script = program(tmp_path / "cuobjdump", f"sleep 60 & echo $! > {pid}; wait")
    monkeypatch.setenv("CUOBJDUMP", str(script))
    monkeypatch.setattr(tools, "TIME_LIMIT", 0.3)
    start = time.monotonic()
    with pytest.raises(InputError, match=r"cuobjdump did not finish within 0\.3 s"):
        inspect(CONTAINERS / "compressed.fatbin")
    assert time.monotonic() - start < 5
    deadline = time.monotonic() + 5
    while _runs(int(pid.read_text())):
        assert time.monotonic() < deadline, "what the tool started still runs"
        time.sleep(0.01)


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # ended, and nobody has asked how
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@needs_sh
def test_what_it_wrote_before_it_failed_counts(monkeypatch, tmp_path, temporary):
    cubin = DATA / "j01.sm_80.cubin"
    script = f"cp {cubin} image.1.sm_80.cubin; echo 'cuobjdump fatal : stop' >&2; exit 1"
    monkeypatch.setenv("CUOBJDUMP", str(program(tmp_path / "cuobjdump", script)))
    reading = read(CONTAINERS / "compressed.fatbin")
    assert {kernel.arch for kernel in reading.kernels} == {"sm_80"}
    assert any("may have more images" in note and "stop" in note for note in reading.notes)


@needs_sh
def test_code_for_gpus_that_it_no_longer_supports(monkeypatch, tmp_path, temporary):
    """It is asked for each target that it has; sm_90a brings the images for sm_90 once more."""
    cubins = [DATA / "j01.sm_80.cubin", DATA / "zoo.sm_90.nvrtc12.cubin"]
    script = f"""
        case "$*" in
        *--help*) printf -- "--gpu-architecture <x> (-arch)\\n Allowed values for this option: "
                  echo "'sm_80','sm_90','sm_90a'."; echo; echo "--help"; exit 0;;
        *--version*) echo "tools, release 13.5, V13.5.37"; exit 0;;
        *"-arch sm_80"*) cp {cubins[0]} image.1.sm_80.cubin; exit 0;;
        *"-arch sm_90"*) cp {cubins[1]} image.1.sm_90.cubin; exit 0;;
        esac
        echo "x fatal   : Support for 'sm_35' has been removed. Please use X 11 or earlier." >&2
        exit 1"""
    monkeypatch.setenv("CUOBJDUMP", str(program(tmp_path / "cuobjdump", script)))
    reading = read(CONTAINERS / "compressed.fatbin")
    assert len(reading.kernels) == sum(len(inspect(cubin)) for cubin in cubins)
    (note,) = reading.notes
    assert "cuobjdump 13.5 does not read sm_35, that of X 11 or earlier does" in note
