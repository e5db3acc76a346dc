"""Structs as people write them in CUDA C++: the array of structs whose members are read.

Declarations of members, with or without ``struct { }`` around them; structs in structs, defined
before or where they are used; arrays of anything; ``alignas``, ``__align__`` and packed structs.
Where the text only defines structs, the last one is meant. ``struct_types`` lays them out.

Every member that is no struct counts as an access of its own. A compiler that knows a struct to be
aligned to 8 or 16 bytes may read neighbours of one type at once.
"""

from __future__ import annotations

from typing import Final

from perfkit.analysis.struct_text import Reader
from perfkit.analysis.struct_types import MOST_ACCESSES, Field, Part, struct
from perfkit.errors import UsageError
from perfkit.record import record

_MOST_CHARACTERS: Final = 2000


@record
class Struct:
    """A struct of an array of structs."""

    fields: tuple[Field, ...]
    size_bytes: int
    alignment_bytes: int

    @property
    def padding_bytes(self) -> int:
        """All that nobody reads: between members, after them, and inside of them."""
        return self.size_bytes - sum(part.width_bytes for part in self.parts)

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
    >>> [p.name for p in parse("struct P { float x, y; }; P ends[2]").parts]
    ['ends[0].x', 'ends[0].y', 'ends[1].x', 'ends[1].y']
    """
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(f"a struct of {len(text)} characters; {_MOST_CHARACTERS} are the limit")
    reader = Reader(text)
    members = reader.members()
    if not members and reader.last is None:
        raise UsageError("a struct without members", hint="write --struct 'float x; float y'")
    layout, fields = struct(members) if members or reader.last is None else reader.last
    found = Struct(
        fields=fields, size_bytes=layout.size_bytes, alignment_bytes=layout.alignment_bytes
    )
    if not found.parts:
        raise UsageError("a struct without members", hint="write --struct 'float x; float y'")
    if len(found.parts) > MOST_ACCESSES:
        raise UsageError(f"more than {MOST_ACCESSES} accesses per struct")
    return found
