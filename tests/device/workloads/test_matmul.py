"""The counts of the matrix products, against the code that the compiler makes of them.

nvdisasm is among the tools of ``make oracle``; where ``PERFKIT_ORACLE_DIR`` is set, as it is in
``make test``, a missing one is a failure.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from perfkit.access import nvrtc_targets
from perfkit.analysis.prediction import Machine, predict
from perfkit.arch import catalog
from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.nvrtc import compile_source
from perfkit.device.program import KERNELS
from perfkit.device.workloads.library import library
from perfkit.device.workloads.matmul import slice_instructions
from perfkit.errors import Unavailable

ROOT = Path(__file__).resolve().parents[3]
_LABEL = re.compile(r"^\s*(\.L_x_\d+):")
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\d+\s+)?([A-Z0-9_.]+)(.*);")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")


def nvdisasm() -> Path:
    path = Path(os.environ.get("PERFKIT_ORACLE_DIR", ROOT / ".venv" / "oracle"))
    path = path / "nvidia" / "cu13" / "bin" / "nvdisasm"
    if not path.is_file():
        if "PERFKIT_ORACLE_DIR" in os.environ:
            raise FileNotFoundError(path)
        pytest.skip("make oracle brings nvdisasm")
    try:
        nvrtc_targets()
    except Unavailable as error:
        pytest.skip(str(error))
    return path


def loops(folder: Path, file: str, kernel: str, defines: tuple[str, ...]) -> list[Counter[str]]:
    """How often each instruction stands in each loop without a loop in it, compiled for 9.0."""
    options = CompileOptions(defines=defines, compiler="nvrtc")
    cubin = folder / "kernel.cubin"
    cubin.write_bytes(compile_source(KERNELS / file, arch="sm_90", options=options).cubin)
    command = [nvdisasm(), "-c", cubin]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    body = text.split(f".section\t.text.{kernel},")[1].split(".section\t")[0]
    labels: dict[str, int] = {}
    code: list[str] = []
    ends: list[tuple[int, int]] = []
    for line in body.splitlines():
        if found := _LABEL.match(line):
            labels[found[1]] = len(code)
        elif found := _INSTRUCTION.match(line):
            code.append(found[1])
            target = _TARGET.search(found[2])
            if found[1] == "BRA" and target and target[1] in labels:
                ends.append((labels[target[1]], len(code)))
    return [
        Counter(code[a:b])
        for a, b in ends
        if not any((a, b) != (c, d) and a <= c and d <= b for c, d in ends)
    ]


@pytest.mark.parametrize("threads", [64, 128, 256])
def test_the_tiled_product_issues_what_is_counted(tmp_path, threads):
    case = library()["matmul_tiled"].case({"threads": threads})
    found = loops(tmp_path, "matmul.cu", "matmul_tiled", case.code.defines)
    # the one for blocks in the middle loads fours, that for those at the edges single floats
    (inner,) = [one for one in found if one["LDG.E.128.CONSTANT"]]
    assert inner["FFMA"] == 8 * 8 * 16
    assert inner["LDS.128"] == 8 * (8 + 16) // 4
    assert inner["LDG.E.128.CONSTANT"] == (threads + 128) * 8 // 4 // threads
    assert sum(inner.values()) == pytest.approx(slice_instructions(threads), rel=0.01)


def test_a_round_of_divergence_issues_what_is_counted(tmp_path):
    found = loops(tmp_path, "warps.cu", "divergence", ())
    (inner,) = [one for one in found if one["FFMA"] == 16]
    assert sum(inner.values()) == 16 + 3


@pytest.mark.parametrize("threads", [64, 128, 256])
def test_instructions_are_those_of_all_slices(threads):
    small, large = (
        library()["matmul_tiled"].case({"m": 512, "n": 512, "k": k, "threads": threads}).demand
        for k in (800, 1600)
    )
    warps = 512 * 512 / (32 * 128)
    assert large.instructions - small.instructions == warps * 100 * slice_instructions(threads)
    # of which these are multiply-adds
    share = (large.flow.flops - small.flow.flops) / 64 / (large.instructions - small.instructions)
    assert share == pytest.approx(1024 / slice_instructions(threads))
    assert 0.91 < share < 128 / 134


def test_expected_is_the_time_of_the_issue_slots_on_the_busiest_sm():
    demand = library()["matmul_tiled"].case({}).demand
    machine = Machine(gpu=catalog.gpu("h200"), capability=catalog.capability("9.0"))
    found = predict(machine, demand)
    # 1,024 blocks: 8 on the busiest of 132 SMs
    seconds = demand.instructions / 1024 * 8 / (4 * 1.98e9)
    assert found.expected_s == pytest.approx(seconds)
    assert found.bound_s == pytest.approx(2 * 4096**3 / (132 * 256 * 1.98e9))
    assert found.bound_by == ("simt",)


@pytest.mark.parametrize(
    ("threads", "loads", "stores", "instructions"),
    [
        (64, 201_377_661, 50_479_970, 2_339_819_520),
        (128, 201_392_894, 33_627_077, 2_322_960_384),
        (256, 201_375_744, 25_308_877, 2_316_640_256),
    ],
)
def test_counts_are_those_of_the_profiler(threads, loads, stores, instructions):
    """Of 4096 x 4096 x 4096 on an H200, compiled by NVRTC 13.0, by Nsight Compute.

    ``smsp__inst_executed`` and, of ``l1tex__data_pipe_lsu_wavefronts_mem_shared``, ``op_ld`` and
    ``op_st``; to these come lines of global memory.
    """
    demand = library()["matmul_tiled"].case({"threads": threads}).demand
    lines = (threads + 128) * 4 * 4096 * (4096 // threads * 32) / 128
    assert demand.l1_bytes / 128 - lines == pytest.approx(loads + stores, rel=0.001)
    assert demand.instructions == pytest.approx(instructions, rel=0.005)


def test_divergence_is_counted_as_by_the_profiler():
    """As above; what is before and after its loops is left out."""
    demand = library()["divergence"].case({}).demand
    assert demand.instructions == pytest.approx(1_327_497_216, rel=0.05)
    assert demand.instructions < 1_327_497_216
