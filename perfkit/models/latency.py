"""Little's law: how much must be under way at once so that a latency does not show.

What is under way comes from resident warps. With fewer of them than it takes, the rate is a share
of the peak. Bytes or instructions, seconds or cycles: the law only asks that rate and latency use
the same unit of time.

Formula:
    in flight    = rate per SM * latency
    per warp     = lanes * width * ilp bytes, or ilp instructions
    warps needed = in flight / per warp
    share        = resident warps * per warp / in flight, at most 1

Units: bytes or warp instructions, per second or per cycle; ``ilp`` counts accesses of a thread that
do not wait for one another.

Source: J. D. C. Little (1961) for the law itself. For arithmetic the CUDA C++ Programming Guide 12,
5.2.3 "Multiprocessor Level", draws the same conclusion: 4 L instructions hide L cycles where four
schedulers issue one each (2 L on 6.0), so 16 warps for the 4 cycles of 7.x, which is the example.

Valid: a steady state with equal accesses. Under load a latency is longer than the one measured
alone: the warps asked for here are then the least that can be enough.

>>> from perfkit.models.latency import concurrency, memory_per_warp
>>> concurrency(rate=4, latency=4, per_warp=1).warps_needed
16
>>> dram = concurrency(
...     rate=3350e9 / 132, latency=600e-9, per_warp=memory_per_warp(width_bytes=16, ilp=4)
... )
>>> round(dram.needed), dram.warps_needed
(15227, 8)
"""

from __future__ import annotations

import math
from typing import Final

from perfkit.errors import UsageError
from perfkit.record import record

#: what one lane of a warp can move with one instruction, in bytes (PTX ``ld``/``st``)
ACCESS_WIDTHS: Final = (1, 2, 4, 8, 16)


@record
class Concurrency:
    """What one SM needs under way, and how far its resident warps get.

    Amounts are bytes or warp instructions, as the rate is.
    """

    needed: float  #: under way on one SM: rate * latency
    per_warp: float
    warps_needed: int
    resident_warps: int | None  #: None: nobody asked about a launch
    share: float | None  #: of the peak rate that the resident warps can keep up, 0..1


def positive(name: str, value: float, *, most: float = 1e18) -> float:
    """``value``, or ``UsageError`` where it is no number above zero, or more than ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} must be a number, not {value!r}")
    if not 0 < value <= most:  # NaN fails as well
        # an integer may have too many digits to be printed
        too_long = isinstance(value, int) and abs(value) > most
        shown = "out of range" if too_long else f"{value:g}"
        raise UsageError(f"{name} = {shown}: must be above 0 and at most {most:g}")
    return float(value)


def memory_per_warp(*, width_bytes: int, ilp: int, lanes: int = 32) -> float:
    """Bytes that one warp has under way.

    Args:
        width_bytes: what one lane moves with one instruction: 1, 2, 4, 8 or 16.
        ilp: accesses of a thread that do not wait for one another.
        lanes: active lanes, 1..32.

    >>> memory_per_warp(width_bytes=16, ilp=4)
    2048.0
    """
    if width_bytes not in ACCESS_WIDTHS:
        known = ", ".join(map(str, ACCESS_WIDTHS))
        raise UsageError(f"width = {width_bytes}: a lane moves {known} bytes")
    if not 1 <= lanes <= 32:
        raise UsageError(f"lanes = {lanes}: a warp has 1 to 32 active lanes")
    return positive("ilp", ilp, most=10**6) * width_bytes * lanes


def concurrency(
    *, rate: float, latency: float, per_warp: float, resident_warps: int | None = None
) -> Concurrency:
    """What hides ``latency`` on one SM.

    Args:
        rate: of one SM, bytes or warp instructions per unit of time.
        latency: in the same unit of time.
        per_warp: what one warp has under way, in bytes or instructions.
        resident_warps: warps on an SM, from ``models.occupancy``; None: not asked.

    Raises:
        UsageError: an input that is not a finite number above zero.

    The guide's example for 7.x, four schedulers and 4 cycles:

    >>> concurrency(rate=4, latency=4, per_warp=1).warps_needed
    16
    """
    needed = positive("rate", rate) * positive("latency", latency)
    per_warp = positive("in flight per warp", per_warp)
    share = None
    if resident_warps is not None:
        share = min(1.0, resident_warps * per_warp / needed)
    return Concurrency(
        needed=needed,
        per_warp=per_warp,
        # not one warp too many because 0.1 * 30 is 3.0000000000000004
        warps_needed=max(1, math.ceil(round(needed / per_warp, 9))),
        resident_warps=resident_warps,
        share=share,
    )
