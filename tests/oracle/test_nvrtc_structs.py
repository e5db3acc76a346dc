"""Layouts of structs against NVRTC: assertions that it has to find true."""

from __future__ import annotations

import random

import pytest

from perfkit.access import require_nvrtc
from perfkit.analysis.structs import parse
from perfkit.compiled.nvrtc import compile_source
from perfkit.errors import CompileError, Unavailable
from tests.oracle.random_structs import definitions

COUNT = 300

#: without a library; ``offsetof`` as the front end has it
HEAD = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#define OFFSET(type, member) __INTADDR__(&(((type *)0)->member))
extern "C" __global__ void nothing() {}
"""

#: what random structs lack
MORE = {
    "M0": "struct M0 { __half a; __nv_bfloat16 b; __nv_bfloat162 c; __nv_fp8_e4m3 d; half2 e; };",
    "M1": "struct M1 { char a; dim3 b; char c; double4 d; long3 e; ulonglong4 f; ushort2 g; };",
    "M2": "struct M2 { char a; signed char b; char16_t c; char32_t d; wchar_t e; bool f; };",
    "M4": "struct __align__(16) M3 { float x, y, z; }; struct M4 { char c; M3 m[2]; };",
    "M5": "struct E0 {}; struct M5 { char c; E0 e; double d; E0 f[3]; };",
    "M6": "struct M6 { struct { struct { char c; short s; } a[2]; int *p; } b; float3 v[2]; };",
    "M7": "struct M7 { char a; alignas(float4) struct { char c; } b; alignas(8) int i, j; };",
    "M8": "struct M8 { char a; alignas(double) char b; alignas(2) alignas(8) int c; int d; };",
}


def assertions(name: str, text: str) -> list[str]:
    found = parse(text)
    facts = {f"sizeof({name})": found.size_bytes, f"alignof({name})": found.alignment_bytes}
    facts |= {f"OFFSET({name}, {f.name})": f.offset_bytes for f in found.fields}
    for part in found.parts:
        # halves of a vector, and pieces of what is read in pieces, have no names
        path = part.name.partition(":")[0].replace(".xy", ".x").replace(".zw", ".z")
        facts.setdefault(f"OFFSET({name}, {path})", part.offset_bytes)
    return [
        f'static_assert({fact} == {value}, "{fact} is not {value}");'
        for fact, value in facts.items()
    ]


def test_every_offset_is_the_compilers(tmp_path, monkeypatch):
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(error.message)
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    chance = random.Random(11)
    lines = [HEAD]
    texts = {f"S{number}": definitions(chance, f"S{number}") for number in range(COUNT)} | MORE
    for name, text in texts.items():
        lines += [text, *assertions(name, text)]
    checks = sum("static_assert" in line for line in lines)
    assert checks > 5 * COUNT
    source = tmp_path / "layouts.cu"
    source.write_text("\n".join(lines))
    try:
        compile_source(source, arch="9.0")
    except CompileError as error:
        pytest.fail(error.log)
