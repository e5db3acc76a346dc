"""Logs and resource reports on the command line: in every command that takes kernels."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.compiled.logs import DATA

LOG, REPORT = DATA / "b13.log", DATA / "c05.txt"


def results(done, key, code=0):
    assert done.code == code, done.err
    return json.loads(done.out)[key]


def test_inspect(perfkit):
    found = results(perfkit(f"inspect {LOG} -f json"), "kernels")
    assert len(found) == 6
    assert [k["registers_per_thread"] for k in found] == [10, 8, 110, 10, 8, 254]
    table = perfkit(f"inspect {DATA / 'b09.log'}").out
    assert "callee spill stores" in table
    assert "4612 B" in table
    # no column that says nothing
    assert "callee" not in perfkit(f"inspect {DATA / 'b12.log'} -f csv").out


def test_gpu_chooses(perfkit):
    found = results(perfkit(f"inspect {LOG} -g rtx-5090 -f json"), "kernels")
    assert {kernel["arch"] for kernel in found} == {"sm_120"}
    found = results(perfkit(f"occupancy {LOG} -t 256 -g a100 -f json"), "results")
    # 110 registers: 112 x 32 per warp, 4 warps of each of 4 partitions, 2 blocks of 8
    assert [(one["kernel"], one["blocks_per_sm"]) for one in found] == [
        ("app::detail::second", 8),
        ("app::detail::first", 8),
        ("(anonymous namespace)::anon_k", 2),
    ]
    both = results(perfkit(f"occupancy {LOG} -t 256 -f json"), "results")
    assert [one["target"] for one in both] == ["8.0"] * 3 + ["12.0"] * 3


def test_gpu_names_what_the_text_does_not(perfkit, refused):
    assert "--gpu" in refused(f"inspect {REPORT}")
    assert "--gpu" in refused(f"inspect {REPORT} -g a100,h100")
    found = results(perfkit(f"occupancy {REPORT} -g l40s -t 128 --kernel b8_w4 -f json"), "results")
    # 5,440 + 1,024 B, in units of 128: 6,528 B of 102,400
    assert [(one["shared_bytes_per_block"], one["limits"]["shared_memory"]) for one in found] == [
        (5440, 15)
    ]


def test_what_is_not_known_is_asked_for(perfkit, refused, tmp_path):
    path = tmp_path / "k.log"
    record = (
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Function properties for k\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    )
    path.write_text(record)
    error = refused(f"occupancy {path} -t 256")
    assert "registers of k are unknown: line 1 begins the record" in error
    path.write_text(record + "ptxas info    : Used 40 registers, used 1 barriers")
    error = refused(f"occupancy {path} -t 256")
    assert "static shared memory of k is unknown: the line with the registers breaks off" in error
    assert "--smem-static" in error
    assert perfkit(f"occupancy {path} -t 256 --smem-static 1K").code == 0


def test_a_target_too_old_is_refused_by_occupancy_alone(perfkit, refused):
    old = DATA / "b06.log"
    assert len(results(perfkit(f"inspect {old} -f json"), "kernels")) == 4
    assert "sm_30" in refused(f"occupancy {old} -t 256")


def test_diff_and_fits(perfkit, tmp_path):
    worse = tmp_path / "new.log"
    worse.write_bytes((DATA / "b12.log").read_bytes().replace(b"284 bytes", b"300 bytes"))
    assert perfkit(f"diff {DATA / 'b12.log'} {worse} --check").code == 1
    assert perfkit(f"diff {DATA / 'b12.log'} {DATA / 'b12.log'} --check").code == 0
    found = results(perfkit(f"fits {DATA / 'b12.log'} -g rtx-4090 -t 512 -f json"), "results")
    # field_step is for 6.0; 255 registers for 512 threads are twice what a block may have
    assert [one["launches"] for one in found] == [False, False]


def test_what_could_not_be_used_is_said(perfkit, tmp_path):
    path = tmp_path / "k.log"
    path.write_bytes(b"ptxas info    : Used 40 registers\n" + (DATA / "b12.log").read_bytes())
    done = perfkit(f"occupancy {path} -t 64 --kernel attn")
    assert done.code == 0
    assert f"perfkit: note: {path}: line 1: registers of a kernel that cannot be told" in done.err
    assert "cannot be told" in perfkit(f"inspect {path}").out


def test_no_kernel(refused, tmp_path):
    path = tmp_path / "build.log"
    path.write_text("[100%] Built target app\n")
    error = refused(f"inspect {path}")
    assert "no kernel in 1 line of text: looked for what ptxas -v, nvlink -v and cuobjdump" in error
    assert "-Xptxas -v" in error


@pytest.mark.parametrize("name", ["b13.log", "c02.txt"])
def test_from_a_pipe(name):
    command = [sys.executable, "-m", "perfkit", "inspect", "-", "-f", "csv"]
    done = subprocess.run(
        command, input=(DATA / name).read_bytes(), capture_output=True, check=True, timeout=60
    )
    assert done.stdout.count(b"\n") >= 5
    assert done.stderr == b""
