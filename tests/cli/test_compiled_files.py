"""Libraries, Triton's caches and PTX on the command line: what a GPU would load, and the launch."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from io import StringIO
from pathlib import Path

import pytest

from perfkit.compiled import tools
from perfkit.errors import Unavailable
from tests.compiled.containers import CONTAINERS, DATA, temporary, tool, wheel

__all__ = ["temporary", "tool"]  # fixtures

TRITON = DATA / "triton"
SHARED = DATA / "cubin" / "shared.ptx"
LIBRARY = str(CONTAINERS / "shared.so")
LOG = str(DATA / "ptxas" / "b09.log")


@pytest.fixture
def assembler():
    try:
        return tools.find(tools.PTXAS)
    except Unavailable as error:
        pytest.skip(error.message)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "compile cache"))


def rows(done):
    assert done.code == 0, done.err
    return [(row["name"], row["arch"]) for row in csv.DictReader(StringIO(done.out))]


def results(done):
    assert done.code == 0, done.err
    return json.loads(done.out)["results"]


def test_inspect_shows_everything_or_what_a_gpu_loads(perfkit, tool):
    every = [(name, arch) for name in ("saxpy", "tiled_matmul") for arch in ("sm_80", "sm_90")]
    assert rows(perfkit(["inspect", LIBRARY, "-f", "csv"])) == every
    # code for 8.0 runs on 8.9, that for 9.0 does not
    for gpu, arch in (("h100", "sm_90"), ("rtx-4090", "sm_80")):
        found = rows(perfkit(["inspect", LIBRARY, "-g", gpu, "-f", "csv"]))
        assert found == [pair for pair in every if pair[1] == arch]
    assert rows(perfkit(["inspect", LIBRARY, "-g", "h100,a100", "-f", "csv"])) == every


def test_no_code_for_that_gpu(perfkit, tool, refused):
    for command in ("inspect", "occupancy"):
        message = refused([command, LIBRARY, "-g", "b200"])
        assert f"every kernel of {LIBRARY} is compiled for sm_80, sm_90" in message
        assert "does not run on 10.0" in message


def test_some_kernels_without_code_for_that_gpu(perfkit, tool):
    done = perfkit(["inspect", str(CONTAINERS / "refused.fatbin"), "-g", "h100", "-f", "csv"])
    assert {arch for _, arch in rows(done)} == {"sm_90"}
    assert "note: saxpy and 1 more: no code runs on h100-sxm5" in done.err


def test_notes_stand_where_they_are_found(perfkit, tool):
    note = f"{LIBRARY}: also has PTX for compute_90"
    content = json.loads(perfkit(["inspect", LIBRARY, "-f", "json"]).out)
    assert content["notes"][0].startswith(note)
    assert f"note: {note}" in perfkit(["inspect", LIBRARY]).out
    done = perfkit(["occupancy", LIBRARY, "-g", "h100", "-t", "256"])
    assert f"perfkit: note: {note}" in done.err
    assert note not in done.out


def test_occupancy_of_a_library(perfkit, tool):
    found = results(perfkit(["occupancy", LIBRARY, "-t", "256", "-f", "json"]))
    assert [(one["kernel"], one["target"]) for one in found] == [
        ("saxpy", "8.0"),
        ("saxpy", "9.0"),
        ("tiled_matmul", "8.0"),
        ("tiled_matmul", "9.0"),
    ]
    (one,) = results(
        perfkit(["occupancy", LIBRARY, "-g", "a100", "--kernel", "matmul", "-f", "json"])
    )
    # 32 registers and 2 KiB: eight blocks of 256 threads fill 64 warps
    assert (one["block_threads"], one["blocks_per_sm"]) == (256, 8)


def test_the_same_kernel_twice_says_where(perfkit, tool, tmp_path):
    for name in ("one.so", "two.so"):
        shutil.copy(LIBRARY, tmp_path / name)
    done = perfkit(["inspect", str(tmp_path), "-g", "h100"])
    assert "one.so, image 2 for sm_90" in done.out
    assert "two.so, image 4 for sm_90" in done.out
    assert "origin" not in perfkit(["inspect", LIBRARY]).out


def test_the_verdict_on_the_same_kernel_twice_says_where(perfkit, tool, tmp_path):
    members = {f"lib/{name}.so": Path(LIBRARY).read_bytes() for name in ("one", "two")}
    line = ["fits", str(wheel(tmp_path / "a.whl", members)), "-g", "h100", "-t", "256"]
    rows = [row.split() for row in perfkit([*line, "-s", "900K"]).out.splitlines()]
    assert [row[-5:] for row in rows if row[:1] == ["saxpy"]] == [
        [*where, "image", "2", "for", "sm_90"] for where in (["one.so,"], ["two.so,"]) * 2
    ]
    origins = [one["origin"] for one in results(perfkit([*line, "-f", "json"]))]
    assert origins[0] == f"{tmp_path / 'a.whl'}(lib/one.so), image 2 for sm_90"
    assert "origin" not in perfkit(["fits", LIBRARY, "-g", "h100", "-t", "256"]).out


def test_what_many_kernels_lack_is_said_once(perfkit, tmp_path):
    """Six kernels, one of them with launch bounds."""
    log = tmp_path / "build.json"
    kernels = json.loads(perfkit(["inspect", LOG, "-f", "json"]).out)
    one = kernels["kernels"][0]
    kernels["kernels"] = [{**one, "name": f"k{n}", "demangled": f"k{n}"} for n in range(6)]
    kernels["kernels"][0]["max_threads"] = 128
    del kernels["kernels"][0]["unknown"]["max_threads"]
    log.write_text(json.dumps(kernels))
    done = perfkit(["occupancy", str(log)])
    assert done.code == 2
    assert done.out.startswith("k0: 128 threads")
    said = done.err.splitlines()
    assert [line.split()[3] for line in said[:-1]] == ["k1", "k2", "k3"]
    assert said[2].endswith("how many threads per block? (and 2 more like it)")
    assert said[3] == "hint: write --threads 256"


def test_the_launch_comes_from_the_cache(perfkit):
    """128 threads and 27,136 bytes of d11b; of row_sum eight warps, so eight blocks of 64 warps."""
    found = perfkit(["occupancy", str(TRITON / "sm90"), "-f", "json"])
    (result,) = json.loads(found.out)["results"]
    assert result["target"] == "9.0a"
    assert result["block_threads"] == 256
    assert result["shared_bytes_per_block"] == 32
    assert result["blocks_per_sm"] == 8
    found = perfkit(["occupancy", str(TRITON / "metadata" / "d11b.json"), "-r", "32", "-f", "json"])
    (result,) = json.loads(found.out)["results"]
    assert (result["block_threads"], result["blocks_per_sm"]) == (128, 3)
    typed = perfkit(["occupancy", str(TRITON / "sm90"), "-t", "128", "-s", "1K", "-f", "json"])
    (result,) = json.loads(typed.out)["results"]
    assert (result["block_threads"], result["shared_bytes_per_block"]) == (128, 1024)


def test_without_registers_occupancy_asks_for_them(perfkit):
    done = perfkit(["occupancy", str(TRITON / "metadata" / "d11a.json")])
    assert done.code == 2
    assert "registers of add_kernel are unknown" in done.err
    assert "--regs" in done.err


def test_on_the_command_line(assembler, perfkit):
    done = perfkit(["inspect", str(SHARED), "-g", "a100,h100", "--maxrregcount", "32", "-f", "csv"])
    assert done.code == 0, done.err
    assert [line.split(",")[2] for line in done.out.splitlines()[1:]] == [
        *("sm_80", "sm_80"),
        *("sm_90", "sm_90"),
    ]
    done = perfkit(["inspect", str(SHARED), "-g", "a100", "-D", "N=1"])
    assert done.code == 2
    assert "--define is for sources" in done.err
    done = perfkit(["inspect", str(SHARED)])
    assert done.code == 2
    assert "no GPU given" in done.err


def test_ptx_from_standard_input(assembler, perfkit, monkeypatch, refused):
    def given():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SHARED.read_bytes())))

    given()
    done = perfkit(["inspect", "-", "-g", "h100", "-f", "csv"])
    assert rows(done) == [("k", "sm_90"), ("k0", "sm_90")]
    given()
    assert "stdin is PTX for sm_80" in refused(["inspect", "-"])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_long_work_says_what_it_reads(perfkit, monkeypatch, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(TRITON / "sm80", tmp_path / name)
    watched = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", watched)
        patch.setattr("perfkit.cli.progress._PATIENCE_S", 0)
        assert perfkit(["inspect", str(tmp_path), "-f", "csv"]).code == 0
    assert "reading " in watched.getvalue()
    assert watched.getvalue().endswith("\r\x1b[K")
    assert perfkit(["inspect", str(tmp_path), "-f", "csv"]).err == ""


def test_doctor_looks_for_the_tools(perfkit, monkeypatch):
    found = {row["what"]: row for row in json.loads(perfkit("doctor -f json").out)["checks"]}
    assert {"cuobjdump", "ptxas"} <= set(found)
    monkeypatch.setenv("CUOBJDUMP", "/nowhere")
    done = perfkit("doctor -f json")
    row = next(row for row in json.loads(done.out)["checks"] if row["what"] == "cuobjdump")
    assert row["state"] == "broken"
    assert done.code == 1


def test_ptx_may_run_where_no_machine_code_does(perfkit, tool):
    """The library has PTX for 9.0: 10.0 cannot be told, 7.0 can."""
    done = perfkit(["fits", LIBRARY, "-g", "a100,b200,v100", "-t", "256", "-f", "json"])
    found = {(one["kernel"], one["target"]): one for one in results(done)}
    for kernel in ("saxpy", "tiled_matmul"):
        assert found[kernel, "a100-sxm4-80gb"]["launches"] is True
        assert found[kernel, "b200"]["launches"] is None
        assert "the driver compiles PTX for sm_90" in found[kernel, "b200"]["unknown"][0]
        assert found[kernel, "v100-sxm2-16gb"]["launches"] is False
