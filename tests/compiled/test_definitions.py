"""The line on which a kernel is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.compiled.definitions import source_line
from perfkit.compiled.inspect import read
from tests.gate.kernels import kernel

CUBINS = Path(__file__).resolve().parents[1] / "data" / "cubin"

SOURCE = """\
// __global__ void axpy(float* comment) { }
#include <cuda_runtime.h>
/* __global__ void axpy(int) {
} */
__global__ void axpy(const float* x, float* y);  // a declaration
template <typename T, int N>
__global__ void __launch_bounds__(256, 2)
axpy(const T* x, T* y) {
    call(axpy_helper(1));
}
template __global__ void axpy<float, 4>(const float*, float*);
namespace one { __global__ void same(float* x) { x[0] = 1; } }
namespace two {
__global__ void same(float* x) { const char* s = "same(int) {"; }
}
#define KERNEL extern "C" __global__ void
KERNEL plain(float* a) { a[0] = same(1); }
MAKE(generated)
__global__ void cut(
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("shown", "symbol", "line"),
    [
        ("axpy<float, 4>", "_Z4axpyIfLi4EEvPKT_PS0_", 8),
        ("one::same", "_ZN3one4sameEPf", 12),
        ("two::same", "_ZN3two4sameEPf", 14),
        ("plain", "plain", 17),
        ("(anonymous namespace)::plain", "plain", 17),
        ("generated", "generated", None),
        ("cut", "cut", None),
        ("operator()", "operator()", None),
    ],
)
def test_a_definition_is_found_in_a_source(source, shown, symbol, line):
    assert source_line(source, kernel(shown, symbol=symbol)) == line


def test_of_a_log_it_is_the_line_of_the_record():
    log = CUBINS / "j06.sm_80.ptxas.txt"
    (one,) = read(log).kernels
    line = source_line(log, one)
    assert "Compiling entry function 'dispatch'" in log.read_text().splitlines()[line - 1]


def test_of_ptx_it_is_the_entry():
    path = CUBINS / "shared.ptx"
    number = next(i + 1 for i, line in enumerate(path.read_text().splitlines()) if ".entry" in line)
    name = path.read_text().splitlines()[number - 1].split(".entry")[1].split("(")[0].strip()
    assert source_line(path, kernel(name)) == number
    assert source_line(path, kernel("elsewhere")) is None


def test_a_cubin_has_no_lines_and_a_file_that_went_none_either(tmp_path):
    assert source_line(CUBINS / "j06.sm_80.cubin", kernel("dispatch")) is None
    assert source_line(tmp_path / "gone.cu", kernel("dispatch")) is None
