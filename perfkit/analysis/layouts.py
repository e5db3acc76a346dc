"""Padding and swizzles that take the conflicts out of an access to shared memory.

Both are found by trying them in ``models.banks`` on every warp of the block: what is reported is
what that model says of the new layout. Neither spoils an access along a row: padding moves whole
rows, and a swizzle moves elements within runs of 128 bytes, which lie in 32 different banks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, lcm

from perfkit.errors import UsageError
from perfkit.models.banks import ROW_BYTES, shared_access
from perfkit.models.layout import Padding, Swizzle
from perfkit.record import record

#: a tile of 2^S elements before the swizzle repeats
_LARGEST_SHIFT = 12


@record
class Tile:
    """An access to a tile in shared memory, by element numbers."""

    indices: tuple[tuple[int | None, ...], ...]  #: per warp and lane, in the plain layout
    width_bytes: int  #: per lane
    element_bytes: int
    pitch: int  #: elements per row
    rows: int | None = None  #: None: not known
    store: bool = False

    def wavefronts(self, layout: Padding | Swizzle | None = None, most: int | None = None) -> int:
        """Of all warps together; it stops counting beyond ``most``."""
        total = 0
        for lanes in self.indices:
            places = [
                None if i is None else (layout.place(i) if layout else i) * self.element_bytes
                for i in lanes
            ]
            total += shared_access(self.width_bytes, places, store=self.store).wavefronts
            if most is not None and total > most:
                break
        return total


@record
class Fix:
    """A layout with fewer wavefronts."""

    layout: Padding | Swizzle
    block_wavefronts: int
    removes_all: bool  #: no conflict is left
    extra_bytes: int | None  #: shared memory that it adds; None: the number of rows is not known


def fixes(tile: Tile, ideal: int) -> tuple[Fix, ...]:
    """The smallest padding and the simplest swizzle with the fewest wavefronts; () if none helps.

    Args:
        tile: the access.
        ideal: wavefronts of all warps without conflicts.
    """
    now = tile.wavefronts()
    if now <= ideal:
        return ()
    found = []
    for layouts in (_paddings(tile), _swizzles(tile)):
        best, fewest = None, now
        for layout in layouts:
            count = tile.wavefronts(layout, fewest - 1)
            if count < fewest:
                best, fewest = layout, count
            if count == ideal:
                break
        if best is not None:
            found.append(
                Fix(
                    layout=best,
                    block_wavefronts=fewest,
                    removes_all=fewest == ideal,
                    extra_bytes=_extra(tile, best),
                )
            )
    return tuple(found)


def _extra(tile: Tile, layout: Padding | Swizzle) -> int | None:
    if isinstance(layout, Swizzle):
        return 0
    return None if tile.rows is None else tile.rows * layout.elements * tile.element_bytes


def _paddings(tile: Tile) -> Iterator[Padding]:
    """Every padding that moves a row to other banks and keeps wide accesses aligned."""
    step = lcm(tile.width_bytes, tile.element_bytes) // tile.element_bytes
    period = ROW_BYTES // gcd(ROW_BYTES, tile.element_bytes)
    if tile.width_bytes > tile.element_bytes and tile.pitch % step:
        return  # an access may lie across two rows
    for elements in range(step, period, step):
        yield Padding(pitch=tile.pitch, elements=elements)


def _swizzles(tile: Tile) -> Iterator[Swizzle]:
    """Those within a row of the banks, simplest first, that keep what a lane moves together."""
    together = max(1, tile.width_bytes // tile.element_bytes).bit_length() - 1
    row = (ROW_BYTES // tile.element_bytes).bit_length() - 1
    size = None if tile.rows is None else tile.rows * tile.pitch
    for bits in range(1, row - together + 1):
        for base in range(together, row - bits + 1):
            for shift in range(bits, _LARGEST_SHIFT):
                swizzle = Swizzle(bits=bits, base=base, shift=shift)
                if size is None or size % swizzle.block == 0:
                    yield swizzle


def row_of_banks(element_bytes: int) -> int:
    """Elements in 128 bytes: the pitch of an array that has no rows of its own."""
    return max(1, ROW_BYTES // element_bytes)


def check_inside(indices: Sequence[Sequence[int | None]], rows: int, columns: int) -> None:
    """Raise ``UsageError`` for an index outside a tile."""
    for warp, lanes in enumerate(indices):
        for lane, index in enumerate(lanes):
            if index is not None and not 0 <= index < rows * columns:
                raise UsageError(
                    f"warp {warp}, lane {lane}: element {index} is not in a tile of {rows} x "
                    f"{columns}, which ends at {rows * columns - 1}"
                )
