"""Broken files made from whole ones, with an idea of what is where.

A seed knows the places of its numbers (``fields``), of parts that may change places (``blocks``)
and of words (``spans``), so that most mutations pass the first check and reach what lies behind.
Edits that keep offsets come first, then perhaps one that moves everything behind it.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)

Places = tuple[tuple[int, int], ...]  #: offset and size


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    data: bytes
    fields: Places = ()
    blocks: Places = ()
    spans: Places = ()
    pieces: tuple[bytes, ...] = ()  #: what takes the place of a span


def mutated(seed: Seed, draw: random.Random) -> bytes:
    """One to eight changes."""
    data = bytearray(seed.data)
    edits = draw.choice((1, 1, 2, 4, 8))
    if seed.spans and draw.random() < 0.8:
        return bytes(_words(seed, data, edits, draw))
    for _ in range(edits):
        _in_place(seed, data, draw)
    if draw.random() < 0.3:
        _moving(data, draw)
    return bytes(data)


def _in_place(seed: Seed, data: bytearray, draw: random.Random) -> None:
    kind = draw.random()
    if seed.fields and kind < 0.6:
        at, width = draw.choice(seed.fields)
        data[at : at + width] = _number(seed, data, at, width, draw)
    elif seed.blocks and kind < 0.7:
        (one, size), (other, length) = draw.choice(seed.blocks), draw.choice(seed.blocks)
        size = min(size, length)
        data[one : one + size], data[other : other + size] = (
            data[other : other + size],
            data[one : one + size],
        )
    elif data and kind < 0.9:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif data:
        at = draw.randrange(len(data))
        end = min(len(data), at + draw.choice((1, 2, 4, 8, 64)))
        data[at:end] = draw.randbytes(end - at)


def _number(seed: Seed, data: bytearray, at: int, width: int, draw: random.Random) -> bytes:
    """An extreme number, one next to the right one, one of another field, or one near the end."""
    kind, mask = draw.randrange(6), (1 << 8 * width) - 1
    if kind <= 1:
        number = draw.choice(EXTREMES)
    elif kind == 2:
        number = int.from_bytes(data[at : at + width], "little") + draw.choice((-64, -1, 1, 8))
    elif kind == 3:
        other, size = draw.choice(seed.fields)
        number = int.from_bytes(data[other : other + size], "little")
    elif kind == 4:
        number = len(data) - draw.choice((0, 1, 8, 63, 64, 65)) - draw.choice((0, 0, at))
    else:
        number = draw.randrange(draw.choice((16, 256, 65536, mask + 1)))
    return (number & mask).to_bytes(width, "little")


def _moving(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data) + 1)
    kind = draw.randrange(4)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        del data[at : at + draw.choice((1, 4, 64, 4096))]
    elif kind == 2:
        start = draw.randrange(len(data) + 1)
        data[at:at] = data[start : start + draw.choice((1, 8, 64, 512))]
    else:
        data[at:at] = draw.randbytes(draw.choice((1, 8, 64)))


def _words(seed: Seed, data: bytearray, edits: int, draw: random.Random) -> bytearray:
    """Words changed for others, from the last to the first."""
    for at, size in sorted((draw.choice(seed.spans) for _ in range(edits)), reverse=True):
        kind = draw.randrange(6)
        if kind <= 2:
            data[at : at + size] = draw.choice(seed.pieces)
        elif kind == 3:
            other, length = draw.choice(seed.spans)
            data[at : at + size] = seed.data[other : other + length]
        elif kind == 4:
            del data[at : at + size]
        else:
            data[at:at] = seed.data[at : at + size * draw.choice((1, 3, 20))]
    if draw.random() < 0.1:
        _moving(data, draw)
    return data


# --- what is where ------------------------------------------------------------------------------


def words(data: bytes, pattern: bytes, *pieces: bytes) -> Seed:
    """A text of which the words that match ``pattern`` are changed for ``pieces``."""
    spans = tuple((match.start(), len(match[0])) for match in re.finditer(pattern, data))
    assert len(spans) >= 10
    return Seed(data=data, spans=spans, pieces=pieces)


def elf(data: bytes) -> Seed:
    """Every ELF file in ``data`` (a cubin in a container too): headers, sections, symbols, records.

    Fields of fatbin frames, members of static libraries and sections of Windows files as well.
    """
    fields: list[tuple[int, int]] = []
    blocks: list[tuple[int, int]] = []
    for match in re.finditer(b"\x7fELF\x02\x01", data):
        if match.start() + 64 <= len(data):
            _elf_places(data, match.start(), fields, blocks)
    for match in re.finditer(b"\x50\xed\x55\xba", data):
        fields += _layout(match.start(), 4, 2, 2, 8, 2, 2, 4, 8, 4, 4, 4, 4, 8, 8, 8)
    if data.startswith(b"!<arch>\n"):
        for match in re.finditer(b"`\n", data):
            fields += _layout(match.start() - 58, 16, 12, 6, 6, 8, 10, 2)
    if data.startswith(b"MZ"):
        fields += [(0x3C, 4), *_pe_places(data)]
    inside = tuple((at, width) for at, width in fields if 0 <= at <= len(data) - width)
    return Seed(data=data, fields=inside, blocks=tuple(blocks))


def _layout(at: int, *widths: int) -> Iterator[tuple[int, int]]:
    for width in widths:
        yield at, width
        at += width


def _elf_places(data: bytes, base: int, fields: list, blocks: list) -> None:
    # the header counts as often as the sections do, the flags and counts in it too
    head = list(_layout(base + 16, 2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2))
    table, entry, count = struct.unpack_from("<Q10xHH", data, base + 40)
    fields += head * 3 + [(base + 8, 1)]
    for number in range(count if entry == 64 and base + table + count * 64 <= len(data) else 0):
        at = base + table + number * 64
        fields += _layout(at, 4, 4, 8, 8, 8, 8, 4, 4, 8, 8)
        blocks.append((at, 64))
        kind, offset, size = struct.unpack_from("<4xI16xQQ", data, at)
        start, end = base + offset, base + offset + size
        if kind == 8 or end > len(data) or not size:
            continue
        blocks.append((start, size))
        if kind == 2:  # symbols
            for symbol in range(start, end - 23, 24):
                fields += _layout(symbol, 4, 1, 1, 2, 8, 8)
        elif kind == 0x70000000 or kind == 0x70000001:  # .nv.info, .nv.callgraph
            fields += [(word, 4) for word in range(start, end - 3, 4)]
            fields += [place for word in range(start, end - 3, 4) for place in _record(word)]


def _record(at: int) -> Iterator[tuple[int, int]]:
    """Format, attribute and size of a record of .nv.info, if one begins here."""
    return _layout(at, 1, 1, 2)


def _pe_places(data: bytes) -> Iterator[tuple[int, int]]:
    (header,) = struct.unpack_from("<I", data, 0x3C)
    yield from _layout(header + 4, 2, 2, 4, 4, 4, 2, 2)
    count, optional = struct.unpack_from("<H12xH", data, header + 6)
    for number in range(count):
        yield from _layout(header + 24 + optional + number * 40, 8, 4, 4, 4, 4)


def archive(data: bytes) -> Seed:
    """A zip archive: its local headers, central directory and end record."""
    layouts = {
        b"PK\3\4": (2, 2, 2, 2, 2, 4, 4, 4, 2, 2),
        b"PK\1\2": (2, 2, 2, 2, 2, 2, 4, 4, 4, 2, 2, 2, 2, 2, 4, 4),
        b"PK\5\6": (2, 2, 2, 2, 4, 4, 2),
    }
    fields = [
        place
        for match in re.finditer(b"PK(?:\1\2|\3\4|\5\6)", data)
        for place in _layout(match.start() + 4, *layouts[match[0]])
    ]
    return Seed(data=data, fields=tuple(fields))
