"""Random structs in structs, for compilers to lay out."""

from __future__ import annotations

import random

from perfkit.analysis.structs import parse
from perfkit.errors import UsageError

#: scalars and vectors of every size; half and the like are named by CUDA's headers
TYPES = (
    "bool", "char", "unsigned char", "short", "unsigned short int", "int", "unsigned",
    "unsigned int", "float", "long", "unsigned long", "long long", "unsigned long long", "double",
    "char2", "char3", "uchar4", "short4", "float2", "float3", "float4", "double2", "double3",
    "int4", "longlong2", "int1", "float *", "const char *", "half", "half2",
)  # fmt: skip
ALIGNMENTS = (16, 32)  #: none is too little for any of the types; one for all of a text


#: what a random text may break
LIMITS = ("accesses per struct", "2000 are the limit")


def definitions(chance: random.Random, name: str) -> str:
    """A few structs of which later ones hold earlier ones; the last is called ``name``."""
    while True:
        text = _definitions(chance, name)
        try:
            parse(text)
        except UsageError as error:
            if not any(limit in error.message for limit in LIMITS):
                raise
        else:
            return text


def _definitions(chance: random.Random, name: str) -> str:
    align = chance.choice(ALIGNMENTS)
    names: list[str] = []
    lines = []
    for number in range(chance.randint(1, 3)):
        names.append(f"{name}_{number}")
        lines.append(_struct(chance, names[-1], names[:-1], align))
    lines.append(_struct(chance, name, names, align))
    return " ".join(lines)


def _struct(chance: random.Random, name: str, known: list[str], align: int) -> str:
    attributes = {
        0.15: f"alignas({align}) ",
        0.3: "__attribute__((packed)) ",
        0.35: f"__attribute__((packed, aligned({align}))) ",
        1: "",
    }
    kind = chance.random()
    before = next(text for limit, text in attributes.items() if kind < limit)
    members = [_member(chance, f"m{n}", known, align) for n in range(chance.randint(1, 4))]
    return f"struct {before}{name} {{ {' '.join(members)} }};"


def _member(chance: random.Random, name: str, known: list[str], align: int) -> str:
    before = f"alignas({align}) " if chance.random() < 0.1 else ""
    length = "".join(
        f"[{chance.randint(1, 3)}]" for _ in range(chance.choice((0, 0, 0, 0, 1, 1, 2)))
    )
    kind = chance.random()
    if kind < 0.35 and known:
        which = chance.choice(known)
        return f"{before}{chance.choice(('', 'struct '))}{which} {name}{length};"
    if kind < 0.45:
        inner = " ".join(f"{chance.choice(TYPES)} i{n};" for n in range(chance.randint(1, 3)))
        return f"{before}struct {{ {inner} }} {name}{length};"
    return f"{before}{chance.choice(TYPES)} {name}{length};"
