"""L2: what its slices take of the accesses of warps, in turns.

A warp's access becomes a request for each line of 128 bytes that it touches, with up to four
sectors. In one turn a slice of L2 looks up one request, gives two sectors, and takes one. A request
that writes any of its sectors in part brings a mask of its bytes, which takes the place of a
sector: a column of a matrix, written float by float, takes twice the turns of as many whole
sectors. What is written to the other half of L2, half of it all, is looked up there as well.

Formula:
    turns  = max(lines read + 1.5 * lines written, sectors read / 2,
                 sectors written + lines written in part)
    time  >= turns * 64 / read bandwidth

Units: turns of one slice, summed over all; 64 bytes are the two sectors that are read in one; bytes
per second; lines and sectors of each access of a warp count anew.

Source: Nsight Compute on one H200, 30 November 2026, docs/validation: the peaks of
``lts__t_sectors_op_read`` and ``op_write`` are 2 and 1 per clock and slice; ``xbar2lts_cycles``
were 2.00 for a sector alone in its line and written in part, 5.00 for four of a line, 1.00 for each
whole one; ``lts__t_tag_requests`` 1.00 for a line read and 1.50 for one written.

Valid: data in L2. Of 30 patterns on that card 29 took 0.99 to 1.26 of this, half of them at most
1.11; warps that fill the same lines one after another took 0.81, as L1 joins some of their stores.
Other cards have not been counted. A sector that is not filled before it leaves L2 is read from
DRAM, too.

>>> from perfkit.models.coalescing import global_access
>>> from perfkit.models.l2 import turns
>>> row, column = (global_access(4, range(0, 32 * step, step)) for step in (4, 4096))
>>> turns(stores=[row]), turns(stores=[column]), turns(loads=[row]), turns(loads=[column])
(4.0, 64.0, 2.0, 32.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perfkit.models.coalescing import SECTOR_BYTES, GlobalAccess

#: that are read in one turn
TURN_BYTES: Final = 2 * SECTOR_BYTES
#: turns of looking up for a line that is written
_WRITTEN: Final = 1.5


def turns(*, loads: Sequence[GlobalAccess] = (), stores: Sequence[GlobalAccess] = ()) -> float:
    """Of L2 for these accesses of warps, which pass L1 and find their lines in L2."""
    looked_up = sum(one.lines for one in loads) + _WRITTEN * sum(one.lines for one in stores)
    taken = sum(one.sectors + one.part_lines for one in stores)
    return max(looked_up, sum(one.sectors for one in loads) / 2, float(taken))
