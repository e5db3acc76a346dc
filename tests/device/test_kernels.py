"""The library's own sources compile, without spills, for the oldest and the newest GPUs."""

from __future__ import annotations

import pytest

from perfkit.access import nvrtc_targets
from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.nvrtc import compile_source
from perfkit.device.program import KERNELS
from perfkit.device.workloads.library import library
from perfkit.errors import Unavailable


def targets() -> list[int]:
    try:
        return sorted(nvrtc_targets())
    except Unavailable:
        return []


KNOWN = targets()
#: file and macros -> one of the workloads that use them; those written by functions have own tests
CODES = {
    (case.code.file, case.code.defines): workload.name
    for workload in library().values()
    for sizes in ({}, *workload.checks)
    if (case := workload.case(sizes)).code.file is not None
}


def test_there_are_sources():
    assert {"streaming.cu", "layout.cu", "rows.cu", "overlap.cu"} <= {file for file, _ in CODES}


@pytest.mark.skipif(not KNOWN, reason="NVRTC is not installed")
@pytest.mark.parametrize(("file", "defines"), CODES, ids=CODES.values())
def test_it_compiles_without_spills(file, defines):
    options = CompileOptions(defines=defines, compiler="nvrtc")
    for arch in {max(KNOWN[0], 70), 90}:
        log = compile_source(KERNELS / file, arch=f"sm_{arch}", options=options).log
        spilled = [line for line in log.splitlines() if "spill stores" in line]
        assert spilled
        assert all(" 0 bytes spill stores" in line for line in spilled), (arch, spilled)


@pytest.mark.skipif(not KNOWN, reason="NVRTC is not installed")
@pytest.mark.parametrize("file", ["between.cu", "data.cu", "streaming.cu"])
def test_the_rest_compiles_for_every_target(file):
    options = CompileOptions(compiler="nvrtc")
    for arch in {KNOWN[0], KNOWN[-1]}:
        assert compile_source(KERNELS / file, arch=f"sm_{arch}", options=options).cubin
