"""Compile CUTLASS kernels with NVRTC and write what they need: the 8.0 rows of ``kernels.csv``.

    pip download --no-deps nvidia-cutlass==4.2.0.0 && unzip nvidia_cutlass-*.whl -d cutlass
    python tests/data/cutlass/build.py cutlass/cutlass_library/source/include

Takes minutes. CUTLASS is NVIDIA's, under the BSD 3-clause licence; nothing of it is kept here.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from pathlib import Path

from cuda.bindings import nvrtc
from elftools.elf.elffile import ELFFile

import perfkit
from perfkit.access import header_directories, require_nvrtc

SOURCE = """
#include <cutlass/cutlass.h>
#include <cutlass/gemm/kernel/default_gemm.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle.h>
#include <cutlass/epilogue/thread/linear_combination.h>
using A = {operand};
using C = {result};
using Sum = {sum};
using Epilogue = cutlass::epilogue::thread::LinearCombination<C, {vector}, Sum, Sum>;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Kernel = typename cutlass::gemm::kernel::DefaultGemm<
    A, Row, {align}, A, Column, {align}, C, Row, Sum, cutlass::arch::{op_class},
    cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<{tile}>, cutlass::gemm::GemmShape<{warp}>,
    cutlass::gemm::GemmShape<{instruction}>, Epilogue,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, {stages}, false,
    cutlass::arch::{operator}>::GemmKernel;
extern "C" __global__ void __launch_bounds__(Kernel::kThreadCount) gemm(Kernel::Params p) {{
  extern __shared__ int memory[];
  Kernel kernel;
  kernel(p, *reinterpret_cast<typename Kernel::SharedStorage *>(memory));
}}
__device__ char storage_size[sizeof(typename Kernel::SharedStorage)];
"""
TENSOR = {
    "result": "cutlass::half_t",
    "sum": "float",
    "vector": 8,
    "align": 8,
    "op_class": "OpClassTensorOp",
    "instruction": "16,8,16",
    "operator": "OpMultiplyAdd",
}
F64 = {"vector": 1, "align": 1, "instruction": "8,8,4"}
S8 = {"vector": 4, "align": 16, "instruction": "16,8,32", "operator": "OpMultiplyAddSaturate"}
KINDS = {
    ("f16", "f32"): {"operand": "cutlass::half_t"},
    ("f16", "f16"): {"operand": "cutlass::half_t", "sum": "cutlass::half_t"},
    ("tf32", "f32"): {"operand": "cutlass::tfloat32_t", "result": "float", "vector": 4, "align": 4}
    | {"instruction": "16,8,8"},
    ("f64", "f64"): {"operand": "double", "result": "double", "sum": "double"} | F64,
    ("s8", "s32"): {"operand": "int8_t", "result": "int32_t", "sum": "int32_t"} | S8,
    ("f32", "f32"): {"operand": "float", "result": "float", "vector": 1, "align": 1}
    | {"op_class": "OpClassSimt", "instruction": "1,1,1"},
}


def compiled(source: str, include: str) -> bytes:
    """The cubin."""
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"gemm.cu", 0, None, None)
    folders = [include, *map(str, header_directories().values())]
    flags = ["-arch=sm_80", "-std=c++17", "-default-device", *(f"-I{one}" for one in folders)]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(flags), [one.encode() for one in flags])
    if int(result):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = bytearray(size)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(log.decode())
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = bytearray(size)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return bytes(cubin)


def needs(cubin: bytes) -> tuple[int, int, int]:
    """Threads, registers and bytes of shared memory."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        (kernel,) = [one for one in perfkit.inspect(file.name) if one.name == "gemm"]
    symbols = ELFFile(io.BytesIO(cubin)).get_section_by_name(".symtab").iter_symbols()
    (shared,) = [symbol["st_size"] for symbol in symbols if symbol.name == "storage_size"]
    return kernel.max_threads, kernel.registers_per_thread, shared


def main() -> None:
    require_nvrtc()
    table = Path(__file__).with_name("kernels.csv")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    for row in rows:
        kind = KINDS[row["operand"], row["accumulate"]]
        if row["threads"] == "384":
            continue
        tiles = {name: row[name].replace("x", ",") for name in ("tile", "warp")}
        source = SOURCE.format(**(TENSOR | kind | tiles | {"stages": row["stages"]}))
        found = needs(compiled(source, sys.argv[1]))
        print(row["operand"], row["tile"], row["warp"], row["stages"], found, flush=True)
        for name, value in zip(("threads", "registers", "shared_bytes"), found, strict=True):
            row[name] = value
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
