"""Expressions and struct layouts against a C++ compiler, in one program."""

from __future__ import annotations

import random
import re
import shutil
import subprocess

import pytest

from perfkit.analysis.expression import Expression
from perfkit.analysis.structs import parse
from perfkit.errors import UsageError
from tests.oracle.random_structs import definitions

COUNT = 400
LETTERS = "abc"
BINARY = ["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!="]
BINARY += ["&", "^", "|", "&&", "||"]

#: CUDA's vector types as its headers align them
TYPES = """
#include <cstddef>
#include <cstdint>
#include <cstdio>
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;
typedef unsigned long ulong; typedef long long longlong; typedef unsigned long long ulonglong;
typedef int16_t half; typedef int16_t bfloat16;
struct alignas(2) char2 {char x, y;}; struct char3 {char x, y, z;};
struct alignas(4) uchar4 {uchar x, y, z, w;}; struct alignas(8) short4 {short x, y, z, w;};
struct alignas(4) half2 {half x, y;}; struct alignas(8) float2 {float x, y;};
struct float3 {float x, y, z;}; struct alignas(16) float4 {float x, y, z, w;};
struct alignas(16) double2 {double x, y;}; struct double3 {double x, y, z;};
struct alignas(16) int4 {int x, y, z, w;}; struct alignas(16) longlong2 {long long x, y;};
struct int1 {int x;};
"""
#: a number of 64 bits, whatever it meets
WIDE = """
struct W { long long v; W(long long x) : v(x) {} explicit operator bool() const { return v; } };
static W operator""_w(unsigned long long x) { return W((long long)x); }
#define BINARY(op) static W operator op(W a, W b) { return W(a.v op b.v); }
BINARY(+) BINARY(-) BINARY(*) BINARY(/) BINARY(%) BINARY(<<) BINARY(>>) BINARY(&) BINARY(^)
BINARY(|) BINARY(<) BINARY(<=) BINARY(>) BINARY(>=) BINARY(==) BINARY(!=)
#define UNARY(op) static W operator op(W a) { return W(op a.v); }
UNARY(-) UNARY(+) UNARY(~) UNARY(!)
static W min(W a, W b) { return a.v < b.v ? a : b; }
static W max(W a, W b) { return a.v > b.v ? a : b; }
"""
MEMBER_TYPES = [
    "bool", "char", "unsigned char", "short", "unsigned short int", "half", "int", "unsigned",
    "unsigned int", "float", "long", "unsigned long", "long long", "unsigned long long", "double",
    "int8_t", "uint16_t", "int32_t", "uint64_t", "size_t", "char2", "char3", "uchar4", "short4",
    "half2", "float2", "float3", "float4", "double2", "double3", "int4", "longlong2", "int1",
    "float *", "const char *",
]  # fmt: skip


def expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.15:
        return chance.choice([*LETTERS, str(chance.randrange(40)), hex(chance.randrange(40))])
    kind = chance.random()
    inner = [expression(chance, depth - 1) for _ in range(3)]
    if kind < 0.65:
        return f"{inner[0]} {chance.choice(BINARY)} {inner[1]}"
    if kind < 0.75:
        return f"({inner[0]})"
    if kind < 0.85:
        return f"{chance.choice('-~!+')} {inner[0]}"
    if kind < 0.95:
        return f"({inner[0]} ? {inner[1]} : {inner[2]})"
    return f"{chance.choice(['min', 'max'])}({inner[0]}, {inner[1]})"


def computable(chance: random.Random) -> tuple[str, dict[str, int], int]:
    """An expression that has a value, with parentheses only where chance put them."""
    while True:
        text = expression(chance, 4)
        names = {letter: chance.randrange(-20, 1000) for letter in LETTERS}
        try:
            return text, names, Expression(text).value(names)
        except UsageError:
            continue


def struct(chance: random.Random) -> str:
    """Members alone, without a struct around them."""
    members = []
    for number in range(chance.randint(1, 6)):
        length = f"[{chance.randint(1, 3)}]" if chance.random() < 0.2 else ""
        members.append(f"{chance.choice(MEMBER_TYPES)} m{number}{length};")
    return " ".join(members)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the compiler says of COUNT expressions, then of COUNT structs."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    chance = random.Random(4)
    expressions = [computable(chance) for _ in range(COUNT)]
    structs = [struct(chance) for _ in range(COUNT // 2)]
    structs = [f"struct s{number} {{ {members} }};" for number, members in enumerate(structs)]
    structs += [definitions(chance, f"s{number}") for number in range(COUNT // 2, COUNT)]
    lines = [TYPES, WIDE]
    body = []
    for number, (text, names, _) in enumerate(expressions):
        parameters = ", ".join(f"W {letter}" for letter in LETTERS)
        values = ", ".join(str(names[letter]) for letter in LETTERS)
        wide = re.sub(r"\b(0x[0-9a-f]+|[0-9]+)\b", r"\1_w", text)
        lines.append(f"static W e{number}({parameters}) {{ return {wide}; }}")
        body.append(f'printf("%lld\\n", e{number}({values}).v);')
    for number, members in enumerate(structs):
        lines.append(members)
        names = [f.name for f in parse(members).fields]
        offsets = ", ".join(f"(int)offsetof(s{number}, {name})" for name in names)
        form = " ".join(["%d"] * (len(names) + 2))
        body.append(
            f'printf("{form}\\n", (int)sizeof(s{number}), (int)alignof(s{number}), {offsets});'
        )
    source = "\n".join([*lines, "int main() {", *body, "}"])
    folder = tmp_path_factory.mktemp("oracle")
    (folder / "a.cpp").write_text(source)
    subprocess.run([compiler, "-w", "-O0", "-o", folder / "a", folder / "a.cpp"], check=True)
    done = subprocess.run([folder / "a"], check=True, capture_output=True, text=True)
    found = done.stdout.splitlines()
    assert len(found) == 2 * COUNT
    return list(zip(expressions, found[:COUNT], strict=True)), list(
        zip(structs, found[COUNT:], strict=True)
    )


def test_expressions(answers):
    expressions, _ = answers
    assert len({text for (text, _, _), _ in expressions}) > COUNT // 2
    for (text, names, value), compiled in expressions:
        assert value == int(compiled), (text, names)


def test_structs(answers):
    _, structs = answers
    for members, compiled in structs:
        found = parse(members)
        offsets = [field.offset_bytes for field in found.fields]
        assert [found.size_bytes, found.alignment_bytes, *offsets] == [
            int(number) for number in compiled.split()
        ], members
        # every byte is a member's or padding, and no access reads one twice
        assert found.size_bytes == sum(f.size_bytes + f.padding_bytes for f in found.fields)
        read = [p.offset_bytes + byte for p in found.parts for byte in range(p.width_bytes)]
        assert len(read) == len(set(read)) <= sum(f.size_bytes for f in found.fields)
        assert all(part.offset_bytes % part.width_bytes == 0 for part in found.parts)
