"""What makes a block size good, and which of several good ones is taken.

A block size has a score on each target, 1 for the best that there is: the threads resident on an
SM, or, where the problem does not fill the GPU once, how little the busiest SM has to do. The
choice maximises the worst score, then the sum, then the same of resident threads. Of what still
ties, in this order: whole warps; 128 to 256 threads; a power of two; near 256; smaller. So the
answer is the same every time.

Source: ``cudaOccupancyMaxPotentialBlockSize`` for resident threads; CUDA C++ Best Practices Guide,
Thread and Block Heuristics, for whole warps and 128 to 256 threads; Nsight Compute's rule on launch
statistics for grids that leave SMs without a block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

#: range that the Best Practices Guide starts from
_FROM: Final = 128
_TO: Final = 256


class Cell(NamedTuple):
    """One block size on one target."""

    resident_threads: int
    blocks: int  #: per SM
    busiest: int | None  #: threads of the SM with the most work; None: more than one wave


def scores(fitting: Mapping[int, Sequence[Cell]]) -> dict[int, tuple[float, ...]]:
    """Score of each block size; the larger the better."""
    columns = list(zip(*fitting.values(), strict=True))
    most = [max(cell.resident_threads for cell in column) for column in columns]
    # small where even the block size with the most resident threads does not fill the GPU
    small = [
        all(c.busiest is not None for c in column if c.resident_threads == best)
        for column, best in zip(columns, most, strict=True)
    ]
    least = [min((c.busiest for c in column if c.busiest), default=1) for column in columns]
    found = {}
    for threads, row in fitting.items():
        resident = [cell.resident_threads / best for cell, best in zip(row, most, strict=True)]
        reach = [
            (low / cell.busiest if cell.busiest else 0.0) if is_small else share
            for cell, low, is_small, share in zip(row, least, small, resident, strict=True)
        ]
        # rounded, so that the last bit of a division decides nothing
        parts = (min(reach), sum(reach), min(resident), sum(resident))
        found[threads] = tuple(round(part, 9) for part in parts)
    return found


def preference(threads: int, warp: int) -> tuple[float, ...]:
    """Of block sizes with the same score; the larger the better."""
    return (
        threads % warp == 0,
        _FROM <= threads <= _TO,
        threads.bit_count() == 1,
        -abs(round(math.log2(threads / _TO), 9)),
        -threads,
    )
