"""Global memory: the sectors that one access of one warp touches.

Memory moves in sectors of 32 bytes; four of them are a cache line of 128 bytes. The cost of an
access is the number of distinct sectors that its active lanes touch, in whatever order. The access
to one sector is what the Best Practices Guide calls a transaction, so that their number is the
same; of a cache line only the sectors that are touched move.

Formula:
    sectors    = |{ floor(b / 32) : b a byte that an active lane reads or writes }| = transactions
    efficiency = distinct bytes used / (32 * sectors)

Units: byte addresses, one per lane; 1, 2, 4, 8 or 16 bytes per lane; efficiency is 0..1.

Source: CUDA C++ Best Practices Guide 13.0, 10.2.1 "Coalesced Access to Global Memory"; Nsight
Compute (``l1tex__t_sectors_pipe_lsu_mem_global_op_ld`` per request) on one H200, tests/data/h200:
every pattern exact.

Valid: from 6.0 on, loads that go through L1; the cache may hold a sector already, so it is an
upper bound for the traffic below L1.

>>> from perfkit.models.coalescing import global_access
>>> shifted = global_access(4, range(4, 132, 4))  # one float too far
>>> strided = global_access(4, range(0, 256, 8))  # every second float
>>> shifted.sectors, shifted.efficiency, strided.sectors, strided.efficiency
(5, 0.8, 8, 0.5)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from perfkit.models.lanes import Addresses, addresses
from perfkit.record import record

SECTOR_BYTES: Final = 32
LINE_BYTES: Final = 128


@record
class GlobalAccess:
    """What one access of a warp moves."""

    width_bytes: int  #: per lane
    lanes: int  #: that take part
    sectors: int
    lines: int  #: cache lines of 128 bytes
    asked_bytes: int  #: by all lanes together; lanes that share an address ask for it each
    used_bytes: int  #: distinct bytes among them
    moved_bytes: int  #: the sectors
    part_lines: int  #: lines with a sector of which the lanes use some bytes and not all
    misaligned_bytes: int  #: the lowest address is this far into its sector
    #: sectors of the same pattern, moved down to the start of a sector
    aligned_sectors: int

    @property
    def efficiency(self) -> float:
        """Used bytes of those moved, 0..1; 1 where nothing moves."""
        return self.used_bytes / self.moved_bytes if self.moved_bytes else 1.0


def global_access(
    width: int, offsets: Sequence[int | None], active: Sequence[bool] | None = None
) -> GlobalAccess:
    """Everything about one access; arguments and errors as in ``lanes.addresses``.

    >>> access = global_access(4, range(4, 132, 4))  # contiguous, one float off
    >>> access.sectors, access.lines, access.efficiency, access.aligned_sectors
    (5, 2, 0.8, 4)
    """
    touched = addresses(width, offsets, active)
    distinct = sorted({address for address in touched if address is not None})
    found = distinct_blocks(touched, SECTOR_BYTES)
    misaligned = distinct[0] % SECTOR_BYTES if distinct else 0
    moved_down = [address - misaligned for address in distinct]
    return GlobalAccess(
        width_bytes=width,
        lanes=sum(address is not None for address in touched),
        sectors=len(found),
        lines=len(distinct_blocks(touched, LINE_BYTES)),
        asked_bytes=width * sum(address is not None for address in touched),
        used_bytes=width * len(distinct),
        moved_bytes=SECTOR_BYTES * len(found),
        part_lines=len(_used_in_part(distinct, width)),
        misaligned_bytes=misaligned,
        aligned_sectors=len({address // SECTOR_BYTES for address in moved_down}),
    )


def _used_in_part(distinct: Sequence[int], width: int) -> set[int]:
    """Lines of the sectors of which some bytes are used, and not all; accesses are aligned."""
    used = Counter(address // SECTOR_BYTES for address in distinct)
    in_part = (sector for sector, times in used.items() if times * width < SECTOR_BYTES)
    return {sector * SECTOR_BYTES // LINE_BYTES for sector in in_part}


def sectors(width: int, offsets: Sequence[int | None], active: Sequence[bool] | None = None) -> int:
    """Distinct 32-byte sectors that one access of a warp touches.

    Args:
        width: bytes per lane: 1, 2, 4, 8 or 16.
        offsets: byte address per lane, a multiple of the width.
        active: which lanes take part; None: all.

    >>> sectors(4, range(0, 128, 4)), sectors(4, range(0, 4096, 128)), sectors(4, [8] * 32)
    (4, 32, 1)
    """
    return len(distinct_blocks(addresses(width, offsets, active), SECTOR_BYTES))


def distinct_blocks(touched: Addresses, block_bytes: int) -> set[int]:
    """Numbers of the blocks that addresses fall in; accesses are aligned, so none spans two."""
    return {address // block_bytes for address in touched if address is not None}
