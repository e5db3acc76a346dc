"""Structs as CUDA C++ lays them out: offsets, padding, and the accesses that reading one takes."""

from __future__ import annotations

import re
from typing import Final

from perfkit.errors import UsageError
from perfkit.models.ops import round_up
from perfkit.record import record

#: fundamental type -> bytes, which is also its alignment; as on Linux (``long`` has 8)
_SIZES: Final = {
    "bool": 1, "char": 1, "uchar": 1, "int8_t": 1, "uint8_t": 1,
    "short": 2, "ushort": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "bfloat16": 2,
    "int": 4, "uint": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
    "long": 8, "ulong": 8, "longlong": 8, "ulonglong": 8, "int64_t": 8, "uint64_t": 8,
    "size_t": 8, "double": 8,
}  # fmt: skip
_ALIASES: Final = {
    "__half": "half",
    "__half2": "half2",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "__nv_bfloat162": "bfloat162",
    "nv_bfloat162": "bfloat162",
}
_WIDEST: Final = 16  #: bytes of one access, and the largest alignment of a vector type
_MOST_ACCESSES: Final = 64
_MOST_CHARACTERS: Final = 2000
_DECLARATOR: Final = re.compile(r"(\**)\s*([A-Za-z_]\w*)\s*((?:\[\s*[0-9]+\s*\]\s*)*)", re.ASCII)
_DECLARATION: Final = re.compile(
    r"(?:const\s+|volatile\s+)*((?:(?:unsigned|signed|long|short)\s+)*[A-Za-z_]\w*?)"
    r"(\s*\*[\s*]*|\s+)([A-Za-z_].*)",
    re.ASCII | re.DOTALL,
)
_WRAPPED: Final = re.compile(r"\s*struct\b[^{]*\{(.*)\}[^}]*", re.DOTALL)


@record
class Part:
    """What one access of a lane reads of a struct."""

    name: str
    offset_bytes: int
    width_bytes: int


@record
class Field:
    """One member."""

    name: str
    type: str
    offset_bytes: int
    size_bytes: int
    alignment_bytes: int
    padding_bytes: int  #: unused bytes after it
    parts: tuple[Part, ...]


@record
class Struct:
    """A struct of an array of structs."""

    fields: tuple[Field, ...]
    size_bytes: int
    alignment_bytes: int

    @property
    def padding_bytes(self) -> int:
        return sum(field.padding_bytes for field in self.fields)

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(part for field in self.fields for part in field.parts)


def parse(text: str) -> Struct:
    """Lay out ``float x; float3 v; half h[2]``, with or without ``struct { }`` around it.

    Raises:
        UsageError: not declarations, an unknown type, a name twice, or more than 64 accesses.

    >>> particle = parse("float x; double y; char c")
    >>> [(f.name, f.offset_bytes, f.padding_bytes) for f in particle.fields], particle.size_bytes
    ([('x', 0, 4), ('y', 8, 0), ('c', 16, 7)], 24)
    """
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(f"a struct of {len(text)} characters; {_MOST_CHARACTERS} are the limit")
    wrapped = _WRAPPED.fullmatch(text)
    members = [
        member
        for declaration in (wrapped[1] if wrapped else text).split(";")
        if declaration.strip()
        for member in _members(declaration.strip())
    ]
    if not members:
        raise UsageError("a struct without members", hint="write --struct 'float x; float y'")
    names = [name for name, *_ in members]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"the struct has two members {twice!r}")
    alignment = max(member[3] for member in members)
    starts, end = [], 0
    for _, _, size, aligned, _ in members:
        starts.append(round_up(end, aligned))
        end = starts[-1] + size
    total = round_up(end, alignment)
    fields = tuple(
        Field(
            name=name,
            type=kind,
            offset_bytes=start,
            size_bytes=size,
            alignment_bytes=aligned,
            padding_bytes=following - start - size,
            parts=_parts(name, start, size, width),
        )
        for (name, kind, size, aligned, width), start, following in zip(
            members, starts, [*starts[1:], total], strict=True
        )
    )
    found = Struct(fields=fields, size_bytes=total, alignment_bytes=alignment)
    if len(found.parts) > _MOST_ACCESSES:
        raise UsageError(f"{len(found.parts)} accesses per struct; {_MOST_ACCESSES} are the limit")
    return found


def _members(declaration: str) -> list[tuple[str, str, int, int, int]]:
    """Name, type, size, alignment and bytes per access of each declared member."""
    split = _DECLARATION.fullmatch(declaration)
    if split is None:
        raise UsageError(
            f"{declaration!r} declares no member", hint="write 'float x', 'int a, b' or 'half h[4]'"
        )
    base, stars, rest = " ".join(split[1].split()), split[2].strip(), split[3]
    found = []
    for number, text in enumerate(rest.split(",")):
        match = _DECLARATOR.fullmatch((stars if number == 0 else "") + text.strip())
        if match is None:
            raise UsageError(f"{text.strip()!r} in {declaration!r} is no name of a member")
        kind = base + match[1]
        size, alignment, width = (8, 8, 8) if match[1] else _type(base)
        count = 1
        for length in re.findall(r"[0-9]+", match[3]):
            count *= min(int(length), 2**20)
        if not 0 < count * size <= 2**20:
            raise UsageError(f"{text.strip()!r} in {declaration!r} is empty, or larger than 1 MiB")
        found.append((match[2], kind + "".join(match[3].split()), count * size, alignment, width))
    return found


def _type(name: str) -> tuple[int, int, int]:
    """Size, alignment and bytes per access."""
    name = _short(name)
    if name in _SIZES:
        return (_SIZES[name],) * 3
    base, lanes = name[:-1], name[-1:]
    if base in _SIZES and lanes in "1234" and not base.endswith("_t"):
        size = _SIZES[base] * int(lanes)
        if lanes == "3":  # aligned as one element, so read one by one
            return size, _SIZES[base], _SIZES[base]
        alignment = min(size, _WIDEST)
        return size, alignment, alignment
    known = ", ".join(sorted(_SIZES))
    raise UsageError(
        f"unknown type {name!r}", hint=f"{known}; vectors such as float4, and pointers"
    )


def _short(name: str) -> str:
    """One word for a type.

    >>> _short("unsigned long long int"), _short("signed char"), _short("__half2")
    ('ulonglong', 'char', 'half2')
    """
    sign = "u" if "unsigned" in name.split() else ""
    words = [word for word in name.split() if word not in {"unsigned", "signed"}]
    if len(words) > 1:
        words = [word for word in words if word != "int"]
    word = "".join(words) or "int"
    return sign + _ALIASES.get(word, word)


def _parts(name: str, start: int, size: int, width: int) -> tuple[Part, ...]:
    count = size // width
    return tuple(
        Part(
            name=name if count == 1 else f"{name}[{number}]",
            offset_bytes=start + number * width,
            width_bytes=width,
        )
        for number in range(min(count, _MOST_ACCESSES + 1))
    )
