"""The threads of one block, warp by warp, and what an expression is worth in each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Final

from perfkit.analysis.expression import Expression
from perfkit.errors import InvalidLaunch, UsageError
from perfkit.models.lanes import WARP_LANES
from perfkit.record import record

#: of every compute capability, see archdb
_MOST_THREADS: Final = 1024
_MOST_Z: Final = 64

_AXES: Final = "xyz"


@record
class Block:
    """One block of a launch; warps take its threads in the order x, y, z."""

    size: tuple[int, int, int] = (WARP_LANES, 1, 1)
    index: tuple[int, int, int] = (0, 0, 0)  #: blockIdx
    grid: tuple[int, int, int] | None = None  #: None: not known

    def __post_init__(self) -> None:
        threads = self.threads
        if not 1 <= threads <= _MOST_THREADS:
            raise InvalidLaunch(f"threads = {threads}: a block has 1 to {_MOST_THREADS}")
        if self.size[2] > _MOST_Z:
            raise InvalidLaunch(f"threads: z is {self.size[2]}, at most {_MOST_Z} are possible")
        for axis, at, count in zip(_AXES, self.index, self.grid or (), strict=False):
            if at >= count:
                raise InvalidLaunch(f"block {axis} is {at}: the grid ends at {count - 1}")

    @property
    def threads(self) -> int:
        return self.size[0] * self.size[1] * self.size[2]

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP_LANES)

    def names(self) -> list[dict[str, int]]:
        """The variables of each thread, in the order in which they fill warps."""
        same = {"warpSize": WARP_LANES}
        vectors = {"blockDim": self.size, "blockIdx": self.index, "gridDim": self.grid}
        for name, vector in vectors.items():
            if vector is not None:
                same |= {f"{name}.{a}": v for a, v in zip(_AXES, vector, strict=True)}
        places = product(*(range(count) for count in reversed(self.size)))
        return [
            same
            | {
                "threadIdx.x": x,
                "threadIdx.y": y,
                "threadIdx.z": z,
                "thread": number,
                "warp": number // WARP_LANES,
                "lane": number % WARP_LANES,
            }
            for number, (z, y, x) in enumerate(places)
        ]

    def values(
        self, expression: Expression, active: Expression | None = None
    ) -> tuple[tuple[int | None, ...], ...]:
        """The value in each lane of each warp; None: no thread there, or not active.

        Raises:
            UsageError: an unknown name, or what cannot be computed, with the thread.
        """
        threads = self.names()
        for one in (expression, active) if active else (expression,):
            _check_names(one, threads[0])
        found = [
            None if active and not _value(active, names) else _value(expression, names)
            for names in threads
        ]
        found += [None] * (self.warps * WARP_LANES - len(found))
        return tuple(
            tuple(found[first : first + WARP_LANES]) for first in range(0, len(found), WARP_LANES)
        )

    def check_warp(self, warp: int) -> None:
        """Raise ``UsageError`` if the block has no such warp."""
        if not 0 <= warp < self.warps:
            raise UsageError(
                f"warp {warp}: the block has {self.warps}",
                hint=f"0 to {self.warps - 1}, or a larger block (--threads)",
            )


def _check_names(expression: Expression, known: Mapping[str, int]) -> None:
    for name in sorted(expression.names - known.keys()):
        hint = f"a number, or one of: {', '.join(known)}"
        if name.startswith("gridDim."):
            hint = "gridDim is only known with --grid"
        raise UsageError(f"{expression.text!r}: unknown name {name!r}", hint=hint)


def _value(expression: Expression, names: Mapping[str, int]) -> int:
    try:
        return expression.value(names)
    except UsageError as error:
        place = ", ".join(str(names[f"threadIdx.{axis}"]) for axis in _AXES)
        raise UsageError(f"{error.message} in thread ({place})", hint=error.hint) from None
