"""Accesses and branches for the golden files."""

from __future__ import annotations

from perfkit.analysis.access import banking, coalescing, indexed, members
from perfkit.analysis.divergence import divergence
from perfkit.analysis.expression import Expression
from perfkit.analysis.layouts import Tile, fixes
from perfkit.analysis.structs import parse
from perfkit.analysis.threads import Block

BLOCK = Block(size=(32, 2, 1))


def values(text):
    return BLOCK.values(Expression(text))


STRUCT = parse("char kind; float v[1]; double mass")
MEMBERS = tuple(coalescing(one, warp=1) for one in members(STRUCT, values("thread")))
MISALIGNED = (
    coalescing(indexed("thread * 2 + 1", values("thread * 2 + 1"), width=4, element=4), warp=1),
)

_COLUMN = values("threadIdx.x * 32 + threadIdx.y")
CONFLICTS = (
    banking(indexed("tile[threadIdx.x][threadIdx.y]", _COLUMN, width=4, element=4)),
    banking(indexed("thread / 2", values("thread / 2"), width=16, element=16)),
    banking(indexed("thread", values("thread"), width=8, element=8)),
)
FIXES = {
    one.access.label: fixes(
        Tile(
            indices=_COLUMN if number == 0 else (),
            width_bytes=4,
            element_bytes=4,
            pitch=32,
            rows=32,
        ),
        one.block_ideal_wavefronts,
    )
    for number, one in enumerate(CONFLICTS)
}

CONDITION = divergence("thread < 40", "condition", values("thread < 40"))
SWITCH = divergence("thread % 3", "switch", values("thread % 3"))
TRIPS = divergence("lane", "trips", Block(size=(40, 1, 1)).values(Expression("lane")))
