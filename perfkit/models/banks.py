"""Shared memory: the wavefronts that one access of one warp takes.

Shared memory has 32 banks, each 4 bytes wide. An access is served in passes: of 32 lanes for up to
4 bytes per lane, of 16 for 8 bytes and of 8 for 16. A pass takes as many wavefronts as the largest
number of distinct words that it wants from one bank; lanes that want the same word share it.

Passes of wide loads are twice as large, hence half as many, when the whole warp pairs up: for
every active lane ``i``, lane ``i ^ 1`` wants the same address or is inactive; or for every one,
lane ``i ^ 2``. Stores never pair up.

Formula:
    word       = floor(address / 4)
    bank       = word mod 32
    wavefronts = sum over passes of max over banks of |{ words of the pass in that bank }|

Units: byte addresses in shared memory, one per lane; 1, 2, 4, 8 or 16 bytes per lane.

Source: Nsight Compute (``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld`` and ``_op_st``) on an
H200 (9.0, driver 580), 3,100 patterns of each, all exact, see docs/validation; pairing first
described by NVIDIA for 7.0 and 7.5 (forums.developer.nvidia.com/t/77228). The example, a column of
a tile and of a padded one, is that of the CUDA C++ Best Practices Guide 13.0, "Shared Memory in
Matrix Multiplication (C=AAT)".

Valid: measured on 9.0, assumed from 7.0 on.

>>> from perfkit.models.banks import wavefronts
>>> column = [4 * 32 * lane for lane in range(32)]
>>> padded = [4 * 33 * lane for lane in range(32)]
>>> wavefronts(4, column), wavefronts(4, padded)
(32, 1)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from perfkit.models.lanes import WARP_LANES, Addresses, addresses
from perfkit.record import record

BANKS: Final = 32
WORD_BYTES: Final = 4
#: what all banks together deliver in one wavefront
ROW_BYTES: Final = BANKS * WORD_BYTES

#: lane i pairs up with lane i ^ each of these, if all lanes do
_PARTNERS: Final = (1, 2)


@record
class Pass:
    """Lanes that are served together."""

    first_lane: int
    last_lane: int
    words_per_bank: tuple[int, ...]  #: distinct words wanted from each of the 32 banks

    @property
    def wavefronts(self) -> int:
        return max(self.words_per_bank)


@record
class SharedAccess:
    """What one access of a warp takes."""

    width_bytes: int  #: per lane
    lanes: int  #: that take part
    passes: tuple[Pass, ...]  #: those with an active lane
    paired: int | None  #: wide lanes pair up with the lane whose number differs in this bit
    broadcast: bool  #: some word is wanted by several lanes of one pass

    @property
    def wavefronts(self) -> int:
        return sum(one.wavefronts for one in self.passes)

    @property
    def ideal_wavefronts(self) -> int:
        """Without any conflict: one per pass."""
        return len(self.passes)

    @property
    def conflict_way(self) -> int:
        """The worst pass is an n-way conflict; 1: there is none."""
        return max((one.wavefronts for one in self.passes), default=1)

    @property
    def conflicting_banks(self) -> tuple[int, ...]:
        """Banks from which some pass wants more than one word."""
        return tuple(
            bank
            for bank in range(BANKS)
            if any(one.words_per_bank[bank] > 1 for one in self.passes)
        )


def wavefronts(
    width: int,
    offsets: Sequence[int | None],
    active: Sequence[bool] | None = None,
    *,
    store: bool = False,
) -> int:
    """Wavefronts of one access of a warp to shared memory.

    Args:
        width: bytes per lane: 1, 2, 4, 8 or 16.
        offsets: byte address per lane, a multiple of the width.
        active: which lanes take part; None: all.
        store: a store instead of a load.

    >>> wavefronts(4, range(0, 4096, 128)), wavefronts(4, range(0, 4224, 132))
    (32, 1)
    >>> wavefronts(16, range(0, 512, 16)), wavefronts(16, [lane // 2 * 16 for lane in range(32)])
    (4, 2)
    """
    return shared_access(width, offsets, active, store=store).wavefronts


def shared_access(
    width: int,
    offsets: Sequence[int | None],
    active: Sequence[bool] | None = None,
    *,
    store: bool = False,
) -> SharedAccess:
    """Everything about one access; arguments and errors as in ``lanes.addresses``."""
    touched = addresses(width, offsets, active)
    paired = None if store else pairing(width, touched)
    size = pass_lanes(width) * (1 if paired is None else 2)
    passes, broadcast = [], False
    for first in range(0, len(touched), size):
        lanes = touched[first : first + size]
        words = list(_words(width, lanes))
        distinct = set(words)
        if not words:
            continue
        broadcast = broadcast or len(distinct) < len(words)
        counts = [0] * BANKS
        for word in distinct:
            counts[word % BANKS] += 1
        passes.append(
            Pass(
                first_lane=first,
                last_lane=first + len(lanes) - 1,
                words_per_bank=tuple(counts),
            )
        )
    return SharedAccess(
        width_bytes=width,
        lanes=sum(address is not None for address in touched),
        passes=tuple(passes),
        paired=paired,
        broadcast=broadcast,
    )


def pass_lanes(width: int) -> int:
    """Lanes per pass when lanes do not pair up: 32, 16 or 8 for up to 4, 8 and 16 bytes."""
    return min(WARP_LANES, ROW_BYTES // width)


def pairing(width: int, touched: Addresses) -> int | None:
    """The bit of the lane number by which wide accesses pair up; None: they do not.

    >>> pairing(8, [lane // 2 * 8 for lane in range(32)])
    1
    """
    if width <= WORD_BYTES:
        return None
    return next((bit for bit in _PARTNERS if _pairs_up(touched, bit)), None)


def _pairs_up(touched: Addresses, bit: int) -> bool:
    return all(
        address == touched[lane ^ bit]
        for lane, address in enumerate(touched)
        if address is not None and lane ^ bit < len(touched) and touched[lane ^ bit] is not None
    )


def _words(width: int, lanes: Addresses) -> Iterator[int]:
    count = max(1, width // WORD_BYTES)
    for address in lanes:
        if address is not None:
            yield from range(address // WORD_BYTES, address // WORD_BYTES + count)
