"""Which reader a file gets, and which of its kernels are wanted."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from perfkit.compiled.inspect import inspect
from perfkit.errors import InputError, UsageError
from tests.compiled.reports import DATA, EXAMPLES

ZOO = DATA / "zoo.sm_90.nvrtc12.cubin"
TOO_MUCH = "Entry function '_Z1kPf' uses too much shared data (0x12000 bytes, 0xc000 max)"


def test_a_cubin_by_its_content(tmp_path):
    renamed = tmp_path / "kernel.cu"
    shutil.copy(ZOO, renamed)
    assert [k.name for k in inspect(renamed)] == [k.name for k in inspect(ZOO)]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("^recursive$", {"recursive"}),
        ("shared", {"static_shared", "dynamic_shared", "both_shared"}),
        ("^(plain|prints)$", {"plain", "prints"}),
    ],
)
def test_kernels_by_pattern(pattern, names):
    assert {kernel.name for kernel in inspect(ZOO, kernel=pattern)} == names


def test_a_pattern_may_mean_either_name():
    for pattern in (r"axpy<float, 256>", "axpyIfLi256E"):
        (kernel,) = inspect(DATA / "j01.sm_80.cubin", kernel=pattern)
        assert kernel.demangled == "axpy<float, 256>"


def test_no_kernel_of_that_name():
    with pytest.raises(UsageError, match="no kernel matches 'nope'") as caught:
        inspect(DATA / "j05.sm_80.cubin", kernel="nope")
    assert caught.value.hint == "the file has flat, rec"
    with pytest.raises(UsageError, match="not a regular expression"):
        inspect(ZOO, kernel="(")


def test_a_source_needs_an_architecture():
    with pytest.raises(UsageError, match="some GPU"):
        inspect(EXAMPLES / "saxpy.cu")


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("k.log", b"ptxas info    : 0 bytes gmem\n", "no kernel in 1 line of text", "-Xptxas -v"),
        (
            "k.log",
            b"nvcc -c k.cu\n1>  \x1b[31mptxas error   :\x1b[0m " + TOO_MUCH.encode() + b"\r\n",
            f"the build failed on line 2: ptxas error : {TOO_MUCH}",
            "-Xptxas -v",
        ),
        ("k.txt", b"__global__ void k() {}", "is CUDA source, which is not", "rename it to .cu"),
        ("k.bin", b"", "is an empty file, which is not", "cubins"),
    ],
)
def test_kinds_that_are_not_read(tmp_path, name, content, message, hint):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        inspect(path, arch="sm_90")
    assert caught.value.exit_code == 2
    assert hint in caught.value.hint


def test_what_is_no_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        inspect(tmp_path / "missing.cu", arch="sm_90")
    with pytest.raises(InputError, match="null byte"):
        inspect("a\0.cu", arch="sm_90")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"include_dirs": [Path("/nowhere")]}, "--include /nowhere: there is no such directory"),
        ({"defines": ["1X"]}, "--define '1X'"),
        ({"defines": ["A B"]}, "--define 'A B'"),
        ({"max_registers": 0}, "--maxrregcount 0: a thread has 1 to 255"),
        ({"max_registers": 256}, "--maxrregcount 256"),
        ({"std": "c++17\0"}, "NUL"),
        ({"arch": "nine"}, "'nine' is not a compute capability"),
    ],
)
def test_bad_options_never_reach_the_compiler(options, message):
    with pytest.raises(UsageError) as caught:
        inspect(EXAMPLES / "saxpy.cu", **{"arch": "sm_90", **options})
    assert message in str(caught.value)
