"""Warnings of the compiler reach whoever asked, through every way that compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.inspect import read
from perfkit.compiled.warnings import warnings

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "kernels" / "tiled_matmul.cu"
#: what ptxas 12.9 says of fewer registers than sm_90 allows
LOWER_BOUND = "For profile sm_90 adjusting per thread register count of 16 to lower bound of 24"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"ptxas warning : {LOWER_BOUND}", [f"a.cu: ptxas: {LOWER_BOUND}"]),
        (
            "ptxas warning : (C7508) Potential Performance Loss: 'setmaxnreg' ignored",
            ["a.cu: ptxas: (C7508) Potential Performance Loss: 'setmaxnreg' ignored"],
        ),
        ("nvlink warning : Stack size cannot be determined", None),
        (
            'x/a.cu(7): warning #177-D: variable "i" is unused',
            ['x/a.cu(7): variable "i" is unused'],
        ),
        ("a.cu:3:5: warning: unused variable 'i'", ["a.cu:3:5: unused variable 'i'"]),
        ("Remark: The warnings can be suppressed with ...", []),
        ("ptxas info    : Used 32 registers", []),
        ("ptxas info    : Compiling entry function 'a_warning' for 'sm_90'", []),
        ('  printf(": warning : ");', []),
    ],
)
def test_lines(line, said):
    expected = ["a.cu: nvlink: Stack size cannot be determined"] if said is None else said
    assert list(warnings(f"{line}\n", "a.cu")) == expected


def test_each_is_said_once_and_many_are_counted():
    lines = [f"a.cu({i}): warning #177-D: never used" for i in (*range(8), *range(8))]
    found = warnings("\n".join(lines), "a.cu")
    assert found[:5] == tuple(f"a.cu({i}): never used" for i in range(5))
    assert found[5:] == ("a.cu: 3 more warnings of the compiler",)


@pytest.mark.parametrize("time", ["compiled", "from the cache"])
def test_fewer_registers_than_the_target_has(time, tmp_path_factory, monkeypatch):
    pytest.importorskip("cuda.bindings.nvrtc", exc_type=ImportError)
    folder = tmp_path_factory.getbasetemp() / "cache-of-warnings"  # the same for both
    monkeypatch.setenv("PERFKIT_CACHE", str(folder))
    found = read(SOURCE, arch="sm_90", options=CompileOptions(max_registers=16))
    assert found.notes == (f"{SOURCE}: ptxas: {LOWER_BOUND}",)
    assert read(SOURCE, arch="sm_90", options=CompileOptions()).notes == ()
