"""Issue slots: what instructions take, whatever they compute.

An SM has a few schedulers, and each of them issues at most one instruction of one warp per clock.
Where multiply-adds alone could fill every slot (128 lanes of f32 in an SM of four schedulers), each
load, address and branch takes the place of one: how large a part of the peak a kernel can reach is
the share of multiply-adds among its instructions.

A thread that computes a tile of a matrix product loads, for each step along k, a column of A and a
row of B from shared memory, 16 bytes at a time, and multiplies each with each: the larger the tile,
the larger the share.

Formula:
    time        >= warp instructions / (SMs * schedulers * clock)
    tile, per k  = rows * columns multiply-adds + ceil(rows / 4) + ceil(columns / 4) loads

Units: instructions of a warp, per second; rows and columns are f32 results of one thread.

Source: CUDA C++ Programming Guide 12, "Multiprocessor Level": a scheduler issues one instruction
of a warp that is ready at every issue time; four schedulers, ibid., "Compute Capability 9.x" and
before; PTX ISA 9.0, ``ld``: at most four 32-bit values.

Valid: from 7.0 on; schedulers of earlier ones can issue two instructions at once. A least time,
which register banks, latencies and barriers come on top of.

>>> from perfkit.arch import catalog
>>> from perfkit.models.issue import issue_rate, tile_instructions
>>> issue_rate(catalog.capability("9.0"), sm_count=132, clock_hz=1980 * 10**6)
1045440000000
>>> tile_instructions(8, 8), 8 * 8 / tile_instructions(8, 8)
(68, 0.9411764705882353)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.models.ops import ceil_div

if TYPE_CHECKING:
    from perfkit.arch.types import Capability

#: f32 values that a lane loads with one instruction
_VALUES: Final = 4
#: the first whose schedulers issue one instruction each
_FIRST: Final = (7, 0)


def issue_rate(capability: Capability, *, sm_count: int, clock_hz: float) -> float | None:
    """Warp instructions per second, at most; None where a scheduler can issue two at once.

    Args:
        capability: of the SMs.
        sm_count: how many there are.
        clock_hz: of the SMs.
    """
    if capability.compute_capability < _FIRST:
        return None
    # each of the equal parts of the register file belongs to one scheduler
    return sm_count * capability.registers.sub_partitions * clock_hz


def tile_instructions(rows: int, columns: int) -> int:
    """Of a thread for one step along k, the results being ``rows`` x ``columns`` in registers.

    >>> tile_instructions(1, 1), tile_instructions(8, 16)
    (3, 134)
    """
    loads: int = ceil_div(rows, _VALUES) + ceil_div(columns, _VALUES)
    return rows * columns + loads
