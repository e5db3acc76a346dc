"""Access patterns of one warp, made to tell rules of shared memory apart."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from perfkit.record import record

LANES: Final = 32
#: width in bytes -> share of the patterns; the wide ones are in question
WIDTHS: Final = {1: 0.04, 2: 0.04, 4: 0.12, 8: 0.35, 16: 0.45}
#: no offset of a pattern reaches further
MAX_BYTES: Final = 48 * 1024


@record
class Pattern:
    """Byte offset of each lane; None: inactive."""

    kind: str
    width: int
    offsets: tuple[int | None, ...]

    def __str__(self) -> str:
        """For a report; ``-``: inactive."""
        lanes = " ".join("-" if offset is None else str(offset) for offset in self.offsets)
        return f"{self.width} bytes at {lanes}"


def pattern(chance: random.Random, width: int) -> Pattern:
    """A pattern of a kind that chance decides, with at least one active lane."""
    kind = chance.choice(list(KINDS))
    while True:
        elements = KINDS[kind](chance)
        lanes = ACTIVE[chance.choice(list(ACTIVE))](chance) if chance.random() < 0.5 else ALL
        if any(lanes):
            break
    offsets = tuple(
        element * width if on else None for element, on in zip(elements, lanes, strict=True)
    )
    return Pattern(kind=kind, width=width, offsets=offsets)


def some(chance: random.Random, count: int, together: int) -> list[Pattern]:
    """At least ``count`` patterns, ``together`` of one width after another."""
    found: list[Pattern] = []
    while len(found) < count:
        (width,) = chance.choices(list(WIDTHS), weights=list(WIDTHS.values()))
        found += [pattern(chance, width) for _ in range(together)]
    return found


# --- addresses, in elements ---------------------------------------------------------------------


def pool(chance: random.Random) -> list[int]:
    """Elements to draw from: few or many, dense or far apart."""
    size, reach = chance.choice((2, 4, 8, 16, 64)), chance.choice((8, 16, 32, 64, 512))
    return [chance.randrange(reach) for _ in range(size)]


def drawn(chance: random.Random) -> list[int]:
    elements = pool(chance)
    return [chance.choice(elements) for _ in range(LANES)]


def strided(chance: random.Random) -> list[int]:
    stride, shift = chance.choice((0, 1, 1, 2, 3, 4, 5, 8, 16, 17, 32, 33)), chance.randrange(8)
    return [lane * stride + shift for lane in range(LANES)]


def permuted(chance: random.Random) -> list[int]:
    elements = list(range(LANES))
    chance.shuffle(elements)
    return elements


def tiled(chance: random.Random) -> list[int]:
    """Rows of 2 to 16 lanes, ``pitch`` apart."""
    row, pitch = chance.choice((2, 4, 8, 16)), chance.choice((8, 9, 16, 20, 32, 33, 36))
    return [lane // row * pitch + lane % row for lane in range(LANES)]


def merged(elements: list[int], bit: int, lanes: range = range(LANES)) -> list[int]:
    """Each of ``lanes`` wants what the lane without ``bit`` in its number wants."""
    return [elements[i & ~bit] if i in lanes else e for i, e in enumerate(elements)]


def base(chance: random.Random) -> list[int]:
    return chance.choice((drawn, strided, permuted, tiled))(chance)


def pairs(chance: random.Random) -> list[int]:
    return merged(base(chance), chance.choice((1, 2)))


def other_pairs(chance: random.Random) -> list[int]:
    """Lanes i and i ^ bit for bits that need not count, or several bits at once."""
    return merged(base(chance), chance.choice((4, 8, 16, 3, 5, 6, 12, 24)))


def crossed(chance: random.Random) -> list[int]:
    """Lanes i and i ^ 3, or i and i + 1 of two pairs, want the same."""
    elements = base(chance)
    if chance.random() < 0.5:
        return [elements[min(i, i ^ 3)] for i in range(LANES)]
    return [elements[(i + 1) // 2] for i in range(LANES)]


def partial_pairs(chance: random.Random) -> list[int]:
    """Pairs in one half, quarter or eighth of the warp, or by another bit in each."""
    elements, size = base(chance), chance.choice((4, 8, 16))
    for first in range(0, LANES, size):
        bit = chance.choice((0, 1, 1, 2, 2))
        elements = merged(elements, bit, range(first, first + size))
    return elements


def broken_pairs(chance: random.Random) -> list[int]:
    """Pairs but for one lane."""
    elements = pairs(chance)
    elements[chance.randrange(LANES)] = chance.randrange(64)
    return elements


KINDS: Final[dict[str, Callable[[random.Random], list[int]]]] = {
    "drawn": drawn,
    "strided": strided,
    "permuted": permuted,
    "tiled": tiled,
    "pairs": pairs,
    "pairs again": pairs,
    "partial pairs": partial_pairs,
    "other pairs": other_pairs,
    "crossed": crossed,
    "broken pairs": broken_pairs,
}

# --- active lanes -------------------------------------------------------------------------------

ALL: Final = [True] * LANES


def scattered(chance: random.Random) -> list[bool]:
    share = chance.choice((0.1, 0.3, 0.5, 0.8, 0.95))
    return [chance.random() < share for _ in range(LANES)]


def one_of_each_pair(chance: random.Random) -> list[bool]:
    """At most one, or exactly one, of lanes i and i ^ bit."""
    bit, share = chance.choice((1, 2)), chance.choice((1.0, 0.9, 0.5))
    lanes = [False] * LANES
    for i in range(LANES):
        if not i & bit:
            lanes[chance.choice((i, i | bit))] = chance.random() < share
    return lanes


def groups(chance: random.Random) -> list[bool]:
    """Whole halves, quarters, … of the warp."""
    size = chance.choice((2, 4, 8, 16))
    on = [chance.random() < 0.6 for _ in range(LANES // size)]
    return [on[i // size] for i in range(LANES)]


def all_but_few(chance: random.Random) -> list[bool]:
    off = {chance.randrange(LANES) for _ in range(chance.randint(1, 3))}
    return [i not in off for i in range(LANES)]


def mixed_pairs(chance: random.Random) -> list[bool]:
    """One lane of each pair in some groups of the warp, all lanes or none in the others."""
    size, single = chance.choice((8, 16)), one_of_each_pair(chance)
    how = [chance.choice(("single", "all", "none")) for _ in range(LANES // size)]
    return [single[i] if how[i // size] == "single" else how[i // size] == "all" for i in range(32)]


ACTIVE: Final[dict[str, Callable[[random.Random], list[bool]]]] = {
    "scattered": scattered,
    "one of each pair": one_of_each_pair,
    "groups": groups,
    "all but few": all_but_few,
    "mixed pairs": mixed_pairs,
}
