"""What streams of work get that share units, each of which serves one of them at a time.

Warps that multiply, read shared memory and take exponentials in turn get in each other's way: the
busiest unit is not busy all the time, because now and then all of them wait for another one. Mean
value analysis says how often: a stream that arrives finds as many others at a unit as there are on
average with one stream less.

Formula:
    wait_i(n)  = demand_i (1 + queue_i(n - 1)),  queue_i(0) = 0
    rate(n)    = n / sum of wait_i(n)
    queue_i(n) = rate(n) wait_i(n)

Units: a demand is the time that a piece of work takes of a unit; the rate is pieces per that time.

Source: M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queueing Networks",
J. ACM 27 (1980). Exact for demands that vary at random.

Valid: streams that are alike and do one thing after the other. Where demands never vary and streams
fall into step, up to the busiest unit's full rate is reached; streams that all stop at a barrier
get less.

>>> from perfkit.models.contention import time_per_piece
>>> time_per_piece((3.0, 1.0), 1), time_per_piece((1.0, 1.0), 4)
(4.0, 1.25)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.models.ops import SCALAR, Int, Ops

if TYPE_CHECKING:
    from collections.abc import Sequence

#: two for each of the 16 warps that a part of an SM holds
_MOST_STREAMS: Final = 32


def time_per_piece(demands: Sequence[Int], streams: Int, *, ops: Ops = SCALAR) -> Int:
    """Time from one finished piece to the next.

    Args:
        demands: time that a piece takes of each unit.
        streams: pieces under way at once; at least 1, and more than 32 count as 32.
        ops: ``SCALAR``, or ``numpy`` with arrays.

    Alone, a stream waits for nobody:

    >>> time_per_piece((3.0, 1.0), 1)
    4.0

    With as much to do everywhere, n streams on k units take n + k - 1 for n pieces:

    >>> time_per_piece((1.0, 1.0, 1.0), 5) == 7 / 5
    True
    """
    queues: list[Int] = [0.0] * len(demands)
    found: Int = 0.0
    most = min(int(streams), _MOST_STREAMS) if ops is SCALAR else _MOST_STREAMS
    for n in range(1, most + 1):
        waits = [demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True)]
        together = sum(waits)
        found = ops.where(n <= streams, together / n, found)
        queues = [n * wait / together for wait in waits]
    return found
