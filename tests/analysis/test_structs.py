"""Structs by hand; tests/oracle holds their layout against compilers."""

from __future__ import annotations

import pytest

from perfkit.analysis.structs import parse
from perfkit.errors import UsageError


def test_padding_between_members_and_at_the_end():
    found = parse("struct Particle { char kind; double mass; float3 position; half h[2]; };")
    assert [(f.name, f.type, f.offset_bytes, f.padding_bytes) for f in found.fields] == [
        ("kind", "char", 0, 7),
        ("mass", "double", 8, 0),
        ("position", "float3", 16, 0),
        ("h", "half[2]", 28, 0),
    ]
    assert (found.size_bytes, found.alignment_bytes, found.padding_bytes) == (32, 8, 7)


def test_accesses_are_as_wide_as_the_alignment_allows():
    found = parse("float4 a; float3 b; double4 c; half2 d; int e[2], *f")
    assert [(p.name, p.offset_bytes, p.width_bytes) for p in found.parts] == [
        ("a", 0, 16),
        ("b.x", 16, 4), ("b.y", 20, 4), ("b.z", 24, 4),
        ("c.xy", 32, 16), ("c.zw", 48, 16),
        ("d", 64, 4),
        ("e[0]", 68, 4), ("e[1]", 72, 4),
        ("f", 80, 8),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "struct P { float x, y; }; struct S { char c; P ends[2]; };",
        "struct S { char c; struct P { float x, y; } ends[2]; }",
        "struct P { float x, y; }; char c; P ends[2]",
        "struct P { float x; float y; };\n// it; float z\nchar c; /* ; */ struct P ends[0x2];",
        "char c; struct { float x, y; } ends[2];",
    ],
)
def test_structs_in_structs_however_they_are_written(text):
    found = parse(text)
    assert [(p.name, p.offset_bytes, p.width_bytes) for p in found.parts] == [
        ("c", 0, 1),
        ("ends[0].x", 4, 4), ("ends[0].y", 8, 4), ("ends[1].x", 12, 4), ("ends[1].y", 16, 4),
    ]  # fmt: skip
    assert (found.size_bytes, found.alignment_bytes, found.padding_bytes) == (20, 4, 3)
    assert [field.name for field in found.fields] == ["c", "ends"]


def test_members_of_packed_structs_are_read_in_pieces():
    found = parse("struct __attribute__((packed)) S { char c; float x; alignas(2) short s; };")
    assert [(f.name, f.offset_bytes) for f in found.fields] == [("c", 0), ("x", 1), ("s", 6)]
    assert found.size_bytes == 8
    assert [(p.name, p.offset_bytes, p.width_bytes) for p in found.parts] == [
        ("c", 0, 1),
        ("x:0", 1, 1), ("x:1", 2, 1), ("x:2", 3, 1), ("x:3", 4, 1),
        ("s", 6, 2),
    ]  # fmt: skip


def test_padding_inside_of_members_is_padding_too():
    found = parse("struct P { char c; int i; }; P a[2]; char d")
    assert [field.padding_bytes for field in found.fields] == [0, 3]
    assert (found.size_bytes, found.padding_bytes) == (20, 9)


def test_more_alignment_than_needed():
    found = parse("struct alignas(16) S { float x, y, z; }")
    assert (found.size_bytes, found.alignment_bytes, found.padding_bytes) == (16, 16, 4)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a struct without members"),
        (";;", "a struct without members"),
        ("struct { }", "a struct without members"),
        ("float", "'float' declares no member"),
        ("quad x", "unknown type 'quad'"),
        ("float5 x", "unknown type 'float5'"),
        ("long double x", "'long double' is not the same on host and device"),
        ("float3[2] x", "declares no member"),
        ("half3 x", "unknown type 'half3'"),
        ("union { int i; float f; } u", "'union' is not laid out"),
        ("enum E e", "'enum' is not laid out"),
        ("struct A { virtual void f(); }", "'virtual' is not laid out"),
        ("struct A : B { int x; }", "'A' has a base class"),
        ("struct A a", "unknown struct 'A'"),
        ("struct A", "unknown struct 'A'"),
        ("A a; struct A { int x; };", "unknown type 'A'"),
        ("struct A { int x;", "struct A has no end"),
        ("struct { int x; } }", "a '}' too many"),
        ("struct A { int x; int x; } a", "two members 'x'"),
        ("struct A { }", "a struct without members"),
        ("struct A { int x[0]; } a", "is empty"),
        ("int flags : 3", "':' in 'int flags : 3' is no name"),
        ("void f()", "unknown type 'void'"),
        ("int f()", "'(' in 'int f ( )' is no name"),
        ("int (*f)(int)", "declares no member"),
        ("int &r", "declares no member"),
        ("alignas(3) int x", "an alignment of 3: must be a power of two"),
        ("alignas(0) int x", "an alignment of 0: must be a power of two"),
        ("alignas(2) double x", "an alignment of 2 is less than that of x"),
        ("struct alignas(4) A { double x; } a", "an alignment of 4 is less than that of struct A"),
        ("alignas 4 int x", "'alignas' without its parentheses"),
        ("alignas(4 int x", "a ')' is missing"),
        ("struct __attribute__((hot)) A { int x; } a", "the attribute 'hot'"),
        ("struct A { " * 20 + "int x;" + "} a;" * 20, "more than 16 deep"),
        ("struct A { double x[1000]; }; A a[2][1000]", "larger than 1 MiB"),
        ("float x; int x", "two members 'x'"),
        ("float x, ", "'float x ,' declares no member"),
        ("float 1x", "declares no member"),
        ("float x[0]", "is empty"),
        ("float x[-1]", "the length of an array is a whole number"),
        ("float x[n]", "the length of an array is a whole number"),
        ("float x[99999999999999999999]", "larger than 1 MiB"),
        ("float x[1000]", "more than 64 accesses per struct"),
        ("float x = 3", "is no name of a member"),
        ("float é", "declares no member"),
        ("float x;" * 251, "characters; 2000 are the limit"),
    ],
)
def test_what_is_no_struct(text, says):
    with pytest.raises(UsageError) as error:
        parse(text)
    assert says in str(error.value)
