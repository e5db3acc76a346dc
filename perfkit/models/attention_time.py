"""The time to expect of attention whose scores never leave the registers.

Each warp has 16 queries and walks along the keys: for every tile of them it multiplies queries and
keys, takes the largest score and the exponentials, scales what was summed so far, and multiplies
with the values. All of that is one thing after another, so that warps of a partition of the SM
share its tensor core, its special function unit, its issue slots and a part of shared memory
(``models.contention``). What a warp does with one tile of keys, of 2-byte operands:

Formula:
    multiply    = 4 * 16 keys head FLOP
    shared      = (1 + 1 / warps of the block) 2 keys head * 2 bytes
    exponential = 16 keys + 2 * 32 lanes
    issue       = 2 * 16 keys head / (16 * 8 * 16) products + shared / 512 loads and copies
                + head / 2 to scale sums + 6 * 16 keys / 32 for scores + 16 for rows

Units: FLOP, bytes, lanes and instructions of a warp, each over a quarter of the SM's rate.

Source: O. Rabe, C. Staats (2021) and T. Dao, "FlashAttention-2" (2023) for the algorithm; PTX ISA
9.0: a product of 16 x 8 x 16 and ``ldmatrix.x4`` of 512 bytes; special functions per clock as in
the database.

Valid: kernels with one warp for 16 queries and ``mma.sync``. A score is scaled, compared, made
smaller, its power taken and added; half an instruction each goes to clearing and packing it. A
row's largest goes over four lanes in two halves, in two steps of two instructions, as does its sum.

>>> from perfkit.models.attention_time import Tile
>>> tile = Tile(keys=32, head_size=128, warps=4)
>>> tile.flops, tile.shared_bytes, tile.exponentials, tile.instructions
(262144, 20480.0, 576, 280.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.models.contention import time_per_piece
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.models.gemm_time import Rates

ROWS: Final = 16  #: queries of a warp
_WARP: Final = 32
_OPERAND_BYTES: Final = 2
_PRODUCT: Final = 16 * 8 * 16
_LOADED_BYTES: Final = 512
_OF_A_SCORE: Final = 6
_OF_ROWS: Final = 16


@record
class Tile:
    """What one warp does with one tile of keys and values."""

    keys: int
    head_size: int
    warps: int  #: of the block, which share what is copied

    @property
    def flops(self) -> int:
        return 4 * ROWS * self.keys * self.head_size

    @property
    def copied_bytes(self) -> int:
        """Keys and values of the block."""
        return 2 * self.keys * self.head_size * _OPERAND_BYTES

    @property
    def shared_bytes(self) -> float:
        return self.copied_bytes * (1 + 1 / self.warps)

    @property
    def exponentials(self) -> int:
        return ROWS * self.keys + 2 * _WARP

    @property
    def instructions(self) -> float:
        products = 2 * ROWS * self.keys * self.head_size / _PRODUCT
        loads = self.shared_bytes / _LOADED_BYTES
        scores = _OF_A_SCORE * ROWS * self.keys / _WARP
        return products + loads + self.head_size / 2 + scores + _OF_ROWS


def tile_time(
    tile: Tile, *, resident_warps: int, rates: Rates, special_per_s: float | None
) -> float:
    """Seconds of one partition of an SM for each tile of one of its warps.

    Args:
        tile: what there is to do.
        resident_warps: on the SM.
        rates: of one SM.
        special_per_s: special functions of one SM; None: nobody knows.
    """
    parts = rates.partitions
    units = [parts * tile.flops / rates.flop_per_s]
    if rates.shared_bytes_per_s:
        units.append(parts * tile.shared_bytes / rates.shared_bytes_per_s)
    if special_per_s:
        units.append(parts * tile.exponentials / special_per_s)
    if rates.clock_hz:
        units.append(tile.instructions / rates.clock_hz)
    found: float = time_per_piece(units, max(1, resident_warps // parts))
    return found
