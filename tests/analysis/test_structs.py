"""Structs by hand; tests/oracle holds their layout against a compiler."""

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
        ("b[0]", 16, 4), ("b[1]", 20, 4), ("b[2]", 24, 4),
        ("c[0]", 32, 16), ("c[1]", 48, 16),
        ("d", 64, 4),
        ("e[0]", 68, 4), ("e[1]", 72, 4),
        ("f", 80, 8),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a struct without members"),
        (";;", "a struct without members"),
        ("struct { }", "a struct without members"),
        ("float", "'float' declares no member"),
        ("quad x", "unknown type 'quad'"),
        ("float5 x", "unknown type 'float5'"),
        ("long double x", "unknown type 'longdouble'"),
        ("float x; int x", "two members 'x'"),
        ("float x, ", "'' in 'float x,' is no name"),
        ("float 1x", "declares no member"),
        ("float x[0]", "is empty"),
        ("float x[-1]", "is no name of a member"),
        ("float x[n]", "is no name of a member"),
        ("float x[99999999999999999999]", "larger than 1 MiB"),
        ("float x[1000]", "accesses per struct; 64 are the limit"),
        ("float x = 3", "is no name of a member"),
        ("float é", "declares no member"),
        ("float x;" * 251, "characters; 2000 are the limit"),
    ],
)
def test_what_is_no_struct(text, says):
    with pytest.raises(UsageError) as error:
        parse(text)
    assert says in str(error.value)
