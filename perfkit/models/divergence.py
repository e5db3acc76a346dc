"""Divergence: what it costs when the lanes of a warp do not go the same way.

A warp issues one instruction for all its lanes. Lanes that take another path wait: the paths of a
branch run one after the other, and a loop runs as often as its longest lane needs.

Formula:
    branch:  serial factor = number of distinct paths that the warp's threads take
             idle share    = 1 - threads / (32 * paths), all paths equally long;
                             1 - taken lanes / 32 where nothing stands in the else branch
    loop:    serial factor = longest trip count / mean trip count
             idle share    = 1 - sum of trip counts / (32 * longest)

Units: lanes, paths, iterations; shares are those of the warp's lane slots, 0..1.

Source: CUDA C++ Programming Guide 13.0, "SIMT Architecture"; arithmetic.

Valid: every capability: since 7.0 the paths of a warp may interleave, they still do not run at the
same time. An upper bound: short branches become predicated instructions, which all lanes issue
once.

>>> from perfkit.models.divergence import branch, loop
>>> odd = branch([lane % 2 for lane in range(32)])
>>> odd.serial_factor, odd.idle_share, loop(range(32)).idle_share
(2, 0.5, 0.5)
"""

from __future__ import annotations

from collections.abc import Sequence

from perfkit.errors import UsageError
from perfkit.models.lanes import WARP_LANES
from perfkit.record import record


@record
class Path:
    """One way through a branch."""

    value: int  #: of the condition or the switch
    lanes: tuple[int, ...]


@record
class Branch:
    """A branch as one warp takes it."""

    threads: int  #: lanes that hold a thread and reach the branch
    paths: tuple[Path, ...]  #: those with a lane, by value

    @property
    def serial_factor(self) -> int:
        """Paths that run one after the other; 1: the warp does not diverge."""
        return max(len(self.paths), 1)

    @property
    def diverges(self) -> bool:
        return len(self.paths) > 1

    @property
    def idle_share(self) -> float:
        """Lane slots without work, 0..1, if all paths are equally long."""
        return 1 - self.threads / (WARP_LANES * self.serial_factor) if self.threads else 0.0

    @property
    def taken(self) -> int:
        """Lanes with a value other than 0: for them a condition is true."""
        return sum(len(path.lanes) for path in self.paths if path.value)

    @property
    def idle_share_without_else(self) -> float:
        """Lane slots without work, 0..1, of a body that runs where the condition is true."""
        return 1 - self.taken / WARP_LANES if self.taken else 0.0


@record
class Loop:
    """A loop as one warp runs it."""

    threads: int
    iterations: int  #: of the warp: those of its longest lane
    lane_iterations: int  #: of all lanes together

    @property
    def serial_factor(self) -> float:
        """Iterations of the warp over the mean of its lanes; 1: all lanes run equally often."""
        if not self.lane_iterations:
            return 1.0
        return self.iterations * self.threads / self.lane_iterations

    @property
    def diverges(self) -> bool:
        return self.iterations * self.threads > self.lane_iterations

    @property
    def idle_share(self) -> float:
        """Lane slots without work, 0..1."""
        slots = WARP_LANES * self.iterations
        return 1 - self.lane_iterations / slots if slots else 0.0


def branch(values: Sequence[int | None]) -> Branch:
    """A branch on a value per lane; None: no thread there, or it does not reach the branch.

    Raises:
        UsageError: more than 32 lanes.

    >>> odd = branch([lane % 2 for lane in range(32)])
    >>> odd.serial_factor, odd.idle_share
    (2, 0.5)
    >>> branch([7] * 32).idle_share
    0.0
    """
    _check(values)
    by_value: dict[int, list[int]] = {}
    for lane, value in enumerate(values):
        if value is not None:
            by_value.setdefault(value, []).append(lane)
    return Branch(
        threads=sum(map(len, by_value.values())),
        paths=tuple(Path(value=v, lanes=tuple(by_value[v])) for v in sorted(by_value)),
    )


def loop(trips: Sequence[int | None]) -> Loop:
    """A loop with a trip count per lane; None: no thread there.

    Raises:
        UsageError: more than 32 lanes, or a negative count.

    >>> triangle = loop(range(32))
    >>> triangle.iterations, triangle.serial_factor, triangle.idle_share
    (31, 2.0, 0.5)
    """
    _check(trips)
    for lane, count in enumerate(trips):
        if count is not None and count < 0:
            raise UsageError(f"lane {lane}: a loop cannot run {count} times")
    counts = [count for count in trips if count is not None]
    return Loop(threads=len(counts), iterations=max(counts, default=0), lane_iterations=sum(counts))


def _check(lanes: Sequence[int | None]) -> None:
    if len(lanes) > WARP_LANES:
        raise UsageError(f"{len(lanes)} lanes: a warp has {WARP_LANES}")
