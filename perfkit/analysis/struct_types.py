"""Types of struct members as CUDA C++ lays them out: size, alignment, and how they are read.

Source: CUDA C++ Programming Guide 13, 5.3.1 "Built-in Vector Types", Table 42 (alignments), and the
System V ABI for x86-64, which device code shares so that host and device agree. ``tests/oracle``
holds all of it against a C++ compiler and against NVRTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from perfkit.errors import UsageError
from perfkit.models.ops import round_up
from perfkit.record import record

#: fundamental type -> bytes, which is also its alignment; as on Linux (``long`` has 8)
SIZES: Final = {
    "bool": 1, "char": 1, "uchar": 1, "char8_t": 1, "int8_t": 1, "uint8_t": 1, "fp8": 1,
    "short": 2, "ushort": 2, "char16_t": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "bfloat16": 2,
    "int": 4, "uint": 4, "char32_t": 4, "wchar_t": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
    "long": 8, "ulong": 8, "longlong": 8, "ulonglong": 8, "int64_t": 8, "uint64_t": 8,
    "size_t": 8, "ptrdiff_t": 8, "intptr_t": 8, "uintptr_t": 8, "double": 8,
}  # fmt: skip
_ALIASES: Final = {
    "__half": "half",
    "__half2": "half2",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "__nv_bfloat162": "bfloat162",
    "nv_bfloat162": "bfloat162",
    "__nv_fp8_e4m3": "fp8",
    "__nv_fp8_e5m2": "fp8",
    "cuComplex": "float2",
    "cuFloatComplex": "float2",
    "cuDoubleComplex": "double2",
    "dim3": "uint3",
}
#: elements of vector types, and how many they may be
_VECTORS: Final = dict.fromkeys(
    ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong",
     "float", "double"),
    "1234",
) | {"half": "2", "bfloat16": "2"}  # fmt: skip
_WIDEST: Final = 16  #: bytes of one access, and the largest alignment of a vector type
MOST_ACCESSES: Final = 64
MOST_BYTES: Final = 2**20


@record
class Part:
    """What one access of a lane reads, from the start of the type."""

    name: str
    offset_bytes: int
    width_bytes: int
    alone_bytes: int  #: the width in an array of its own; 0: a piece of what is read with others


@record
class Field:
    """One member."""

    name: str
    type: str
    offset_bytes: int
    size_bytes: int
    alignment_bytes: int
    padding_bytes: int  #: unused bytes after it; those inside of a nested struct are its own
    parts: tuple[Part, ...]


@record
class Layout:
    """Any type: bytes, alignment, and its accesses, of which no more than needed are listed."""

    size_bytes: int
    alignment_bytes: int
    parts: tuple[Part, ...]


POINTER: Final = Layout(
    size_bytes=8,
    alignment_bytes=8,
    parts=(Part(name="", offset_bytes=0, width_bytes=8, alone_bytes=8),),
)


def built_in(words: Sequence[str]) -> Layout:
    """A fundamental or a vector type of CUDA.

    Raises:
        UsageError: no such type, or one whose layout on the device is another.

    >>> built_in(["unsigned", "long", "int"]).size_bytes
    8
    >>> [part.name for part in built_in(["float3"]).parts]
    ['.x', '.y', '.z']
    """
    name = _short(words)
    if name in SIZES:
        return _of_elements(SIZES[name], ("",))
    base, lanes = name[:-1], name[-1:]
    if lanes and lanes in _VECTORS.get(base, ""):
        size = SIZES[base] * int(lanes)
        if lanes == "3":  # aligned as one element, so read one by one
            return _of_elements(SIZES[base], (".x", ".y", ".z"))
        width = min(size, _WIDEST)
        return _of_elements(width, ("",) if width == size else (".xy", ".zw"))
    shown = " ".join(words)
    if name == "longdouble":
        raise UsageError(
            f"{shown!r} is not the same on host and device, where it is a double",
            hint="write double",
        )
    known = ", ".join(sorted(SIZES))
    raise UsageError(
        f"unknown type {shown!r}", hint=f"{known}; vectors such as float4, pointers, and structs"
    )


def _short(words: Sequence[str]) -> str:
    """One word for a type.

    >>> _short(["unsigned", "long", "long", "int"]), _short(["signed", "char"]), _short(["__half2"])
    ('ulonglong', 'char', 'half2')
    """
    sign = "u" if "unsigned" in words else ""
    left = [word for word in words if word not in {"unsigned", "signed"}]
    if len(left) > 1 and "int" in left:
        left.remove("int")
    word = "".join(left) or "int"
    return sign + _ALIASES.get(word, word)


def _of_elements(width: int, names: Sequence[str]) -> Layout:
    parts = tuple(
        Part(name=name, offset_bytes=number * width, width_bytes=width, alone_bytes=width)
        for number, name in enumerate(names)
    )
    return Layout(size_bytes=width * len(names), alignment_bytes=width, parts=parts)


def array(element: Layout, lengths: Iterable[int]) -> Layout:
    """An array of arrays, as long as ``lengths`` say from the outside in.

    Raises:
        UsageError: no element, or more than 1 MiB.
    """
    found = element
    for length in reversed([*lengths]):
        size = found.size_bytes * length
        if not 0 < size <= MOST_BYTES:
            raise UsageError("an array is empty, or larger than 1 MiB")
        listed = range(min(length, MOST_ACCESSES + 1))
        parts = [
            _moved(part, f"[{n}]{part.name}", n * found.size_bytes)
            for n in listed
            for part in found.parts
        ]
        found = Layout(
            size_bytes=size,
            alignment_bytes=found.alignment_bytes,
            parts=tuple(parts[: MOST_ACCESSES + 1]),
        )
    return found


@record
class Member:
    """A member before it has a place."""

    name: str
    type: str
    layout: Layout
    align: int = 1  #: by ``alignas``


def struct(
    members: Sequence[Member], *, align: int = 1, packed: bool = False
) -> tuple[Layout, tuple[Field, ...]]:
    """Members one after another, each at the next multiple of its alignment.

    Args:
        members: in their order.
        align: by ``alignas`` of the struct.
        packed: no member is aligned but by its own ``alignas``. Compilers read such members in
            pieces as wide as the alignment that is left.
    """
    starts, end = [], 0
    aligned = [max(1 if packed else one.layout.alignment_bytes, one.align) for one in members]
    for one, alignment in zip(members, aligned, strict=True):
        starts.append(round_up(end, alignment))
        end = starts[-1] + one.layout.size_bytes
    alignment = max([align, 1, *aligned])
    total = round_up(max(end, 1), alignment)  # objects have addresses of their own: not empty
    if total > MOST_BYTES:
        raise UsageError("a struct is larger than 1 MiB")
    fields = tuple(
        Field(
            name=one.name,
            type=one.type,
            offset_bytes=start,
            size_bytes=one.layout.size_bytes,
            alignment_bytes=own,
            padding_bytes=following - start - one.layout.size_bytes,
            parts=tuple(
                _moved(piece, one.name + piece.name, start)
                for part in one.layout.parts
                for piece in (_pieces(part, own) if packed else (part,))
            ),
        )
        for one, own, start, following in zip(
            members, aligned, starts, [*starts, total][1:], strict=True
        )
    )
    parts = tuple(_moved(part, f".{part.name}", 0) for field in fields for part in field.parts)[
        : MOST_ACCESSES + 1
    ]
    return Layout(size_bytes=total, alignment_bytes=alignment, parts=parts), fields


def _moved(part: Part, name: str, by: int) -> Part:
    return replace(part, name=name, offset_bytes=part.offset_bytes + by)


def _pieces(part: Part, alignment: int) -> Iterable[Part]:
    """A part of a packed member, read no wider than what its address is a multiple of."""
    width = min(part.width_bytes, alignment)
    if width == part.width_bytes:
        return (part,)
    return [
        Part(
            name=f"{part.name}:{at}",
            offset_bytes=part.offset_bytes + at,
            width_bytes=width,
            alone_bytes=0 if at else part.alone_bytes,
        )
        for at in range(0, part.width_bytes, width)
    ]
