"""``perfkit diff``: builds in every form, exit codes, every format, inputs that are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from perfkit.access import require_nvrtc
from perfkit.errors import Unavailable
from tests.report.schemas import undescribed, validate

CUBINS = Path(__file__).resolve().parents[1] / "data" / "cubin"
TILE = CUBINS / "j03.cu"  # one kernel; -D MB=n gives it __launch_bounds__(256, n)
BOUNDED = CUBINS / "j03.mb3.sm_86.cubin"  # tile8: 80 registers, stack of 104 B
NAMESPACES = CUBINS / "j07.sm_80.cubin"


def content(done, code=0):
    assert done.code == code, done.err
    found = json.loads(done.out)
    validate("diff", found)
    assert undescribed("diff", found) == []
    return found


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """j03 on 8.6 without bounds and with three of them, as ``inspect -f json`` writes it."""
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(error.message)
    from perfkit.cli.app import main

    folder = tmp_path_factory.mktemp("builds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERFKIT_CACHE", str(folder / "cache"))
        for name, defines in (
            ("plain", []), ("mb2", ["-D", "MB=2"]), ("mb3", ["-D", "MB=3"]),
            ("mb4", ["-D", "MB=4"]), ("maxreg", ["-D", "MAXREG=64"]),
        ):  # fmt: skip
            line = ["inspect", str(TILE), "-g", "8.6", *defines, "-f", "json"]
            assert main([*line, "-o", str(folder / f"{name}.json")]) == 0
        yield folder


def quantities(change):
    return {
        name: (one["old"], one["new"])
        for name, one in change["quantities"].items()
        if one["verdict"] not in {"same", "unknown"}
    }


@pytest.mark.parametrize(
    ("name", "regs", "stores", "loads", "stack", "blocks"),
    [
        ("j03", 122, 0, 0, 0, 2),
        ("j03.mb2", 122, 0, 0, 0, 2),
        ("j03.mb3", 80, 344, 292, 104, 3),
        ("j03.mb4", 64, 1344, 1224, 472, 4),
        ("j03.maxnreg64", 64, 1364, 1244, 496, 4),
    ],
)
def test_logs_of_one_kernel_under_other_bounds(perfkit, name, regs, stores, loads, stack, blocks):
    """What ``ptxas -v`` of CUDA 13.0 printed, against the same without bounds; 8 warps of 48."""
    log = CUBINS / f"{name}.sm_86.ptxas.txt"
    line = f"diff {CUBINS / 'j03.sm_86.ptxas.txt'} {log} -t 256 -f json"
    expected = {
        "occupancy": (16 / 48, blocks * 8 / 48),
        "spill_store_bytes": (0, stores),
        "spill_load_bytes": (0, loads),
        "registers_per_thread": (122, regs),
        "stack_bytes": (0, stack),
    }
    changes = content(perfkit(line))["changes"]
    found = [quantities(change) for change in changes]
    different = {key: pair for key, pair in expected.items() if pair[0] != pair[1]}
    assert found == ([different] if different else [])
    assert perfkit(f"{line} --check").code == (1 if different else 0)


def test_a_log_with_what_the_kernel_calls(perfkit, tmp_path):
    """The kernel of j06 spills nothing itself; the function it calls spills 4 bytes."""
    log = CUBINS / "j06.sm_80.ptxas.txt"
    more = tmp_path / "more.log"
    text = log.read_text()
    assert "4 bytes spill stores" in text
    more.write_text(text.replace("4 bytes spill stores", "40 bytes spill stores"))
    (change,) = content(perfkit(f"diff {log} {more} -f json"))["changes"]
    assert quantities(change) == {"spill_store_bytes": (4, 40)}


def test_fewer_registers_more_spills(perfkit, builds):
    """122 registers and no spills against 80 and some: 2 blocks of 8 warps against 3, of 48."""
    line = f"diff {builds}/plain.json {builds}/mb3.json -t 256 -f json"
    (change,) = content(perfkit(line))["changes"]
    found = quantities(change)
    assert change["status"] == "mixed"
    assert found["occupancy"] == (16 / 48, 24 / 48)
    old, new = found["registers_per_thread"]
    assert (abs(old - 122) <= 4, new) == (True, 80)
    assert found["spill_store_bytes"][0] == 0 < found["spill_store_bytes"][1]
    assert found["stack_bytes"][0] == 0 < found["stack_bytes"][1]
    assert perfkit(f"{line} --check").code == 1


def test_a_bound_that_leaves_room(perfkit, builds):
    """__launch_bounds__(256, 2) allows 128 registers: nothing gets worse."""
    line = f"diff {builds}/plain.json {builds}/mb2.json --check -f json"
    summary = content(perfkit(f"{line} -t 256"))["summary"]
    assert summary["better"] + summary["unchanged"] == summary["compared"] == 1
    # without a block size occupancy was not known before: that is no verdict
    found = content(perfkit(line), code=3)
    assert found["summary"]["not_comparable"] == 1
    known = quantities(found["changes"][0])
    assert (known["occupancy"], known["block_threads"]) == ((None, 16 / 48), (None, 256))


def test_two_ways_to_64_registers(perfkit, builds):
    line = f"diff {builds}/mb4.json {builds}/maxreg.json -t 256 -f json"
    found = content(perfkit(line))
    assert found["summary"]["compared"] == 1
    for change in found["changes"]:
        assert "occupancy" not in quantities(change)


def test_a_cubin_against_a_source(perfkit, builds, monkeypatch):
    """The source is compiled for what the cubin is compiled for; a cubin knows no spills."""
    monkeypatch.setenv("PERFKIT_CACHE", str(builds / "cache"))
    found = content(perfkit(f"diff {BOUNDED} {TILE} -D MB=4 --compiler nvrtc -f json"))
    (change,) = found["changes"]
    assert (change["kernel"], change["arch"]) == ("tile8", "sm_86")
    assert quantities(change)["registers_per_thread"] == (80, 64)
    assert change["quantities"]["spill_store_bytes"]["verdict"] == "not_comparable"
    assert "a cubin does not record spills" in change["quantities"]["spill_store_bytes"]["reason"]


def test_two_sources_for_several_gpus(perfkit, builds, monkeypatch, tmp_path):
    monkeypatch.setenv("PERFKIT_CACHE", str(builds / "cache"))
    other = tmp_path / "other.cu"
    shutil.copy(TILE, other)
    found = content(perfkit(f"diff {TILE} {other} -g 8.0,8.6 -t 256 -f json --check"))
    assert found["summary"]["compared"] == found["summary"]["unchanged"] == 2


def test_sources_need_a_gpu(refused, builds):
    assert "no GPU given" in refused(f"diff {TILE} {TILE}")


def test_of_compiled_files_gpu_chooses(perfkit, refused, tmp_path):
    entry = {"name": "k", "registers_per_thread": 32}
    kernels = [entry | {"arch": arch} for arch in ("sm_80", "sm_90a")]
    path = tmp_path / "k.json"
    path.write_text(json.dumps({"schema": "perfkit.inspect/1", "kernels": kernels}))
    assert content(perfkit(f"diff {path} {path} -f json"))["summary"]["compared"] == 2
    assert content(perfkit(f"diff {path} {path} -g h100 -f json"))["summary"]["compared"] == 1
    assert "kernels for sm_80, sm_90a, and none for --gpu 8.6" in refused(
        ["diff", str(path), str(path), "-g", "8.6"]
    )


def test_nothing_in_common_is_not_green(refused):
    other = CUBINS / "j07.sm_120.cubin"
    for more in ("", " --check"):
        assert "no kernel in common" in refused(f"diff {NAMESPACES} {other}{more}")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"diff {NAMESPACES}", "Missing argument 'new'"),
        (f"diff {NAMESPACES} nowhere.cubin", "nowhere.cubin"),
        (f"diff {NAMESPACES} {NAMESPACES} -D X=1", "compiled already"),
        (f"diff {NAMESPACES} {NAMESPACES} --kernel nothing", "no kernel matches"),
        (f"diff {NAMESPACES} {NAMESPACES} -t 1025", "--threads 1025: "),
        (f"diff {NAMESPACES} {NAMESPACES} -t x", "--threads"),
        (f"diff {NAMESPACES} {NAMESPACES} --smem-dynamic 1Q", "--smem-dynamic"),
        (f"diff {NAMESPACES} {NAMESPACES} -g h900", "unknown GPU"),
    ],
)
def test_refused(refused, line, says):
    assert says in refused(line)


def test_a_build_is_unchanged_against_itself(perfkit):
    done = perfkit(f"diff {NAMESPACES} {NAMESPACES} --check")
    assert done.code == 0
    assert done.out.startswith("3 kernels compared: 3 unchanged\n")


def test_formats(perfkit, builds, tmp_path):
    line = f"diff {builds}/mb3.json {builds}/plain.json -t 256"
    assert perfkit(line).out.startswith("1 kernel compared: 1 mixed\n\nkernel")
    markdown = perfkit(f"{line} -f markdown").out.splitlines()
    assert markdown[0] == "**1 kernel compared: 1 mixed**"
    assert markdown[2].startswith("| kernel | arch | verdict | occupancy |")
    assert "50% → 33.33%" in markdown[4]
    rows = perfkit(f"{line} -f csv").out.splitlines()
    assert [row.split(",")[:3] for row in rows] == [
        ["kernel", "arch", "status"], ["tile8", "sm_86", "mixed"],
    ]  # fmt: skip
    path = tmp_path / "diff.md"
    done = perfkit(f"{line} -f markdown -o {path} --check")
    assert (done.code, done.out) == (1, "")
    assert path.read_text().splitlines() == markdown


def test_stdin_is_not_both_builds(refused):
    assert "stdin is one of the two builds" in refused(["diff", "-", "-", "--check"])
