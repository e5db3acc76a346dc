"""One access of one warp: where each lane reads or writes."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Final, TypeAlias

from perfkit.errors import UsageError

WARP_LANES: Final = 32

#: bytes that one lane can load or store with one instruction
WIDTHS: Final = (1, 2, 4, 8, 16)

#: beyond every address space of a GPU
_ADDRESS_LIMIT: Final = 2**49

#: the byte address of each lane; None: the lane takes no part
Addresses: TypeAlias = Sequence[int | None]


def addresses(
    width: int, offsets: Sequence[int | None], active: Sequence[bool] | None = None
) -> Addresses:
    """The checked byte addresses of a warp's active lanes.

    Args:
        width: bytes per lane.
        offsets: byte address per lane, lane 0 first; lanes beyond the end are inactive.
        active: which lanes take part; None: all whose offset is a number.

    Returns:
        One entry per lane of ``offsets``, None where the lane is inactive.

    Raises:
        UsageError: a width that no instruction has, more than 32 lanes, an active lane without
            an address, or an address that is negative or not a multiple of the width: the
            hardware stops the kernel there.
    """
    if isinstance(width, float) or width not in WIDTHS:
        raise UsageError(
            f"width = {width!r}: no instruction moves that many bytes per lane",
            hint=f"one of {', '.join(map(str, WIDTHS))}; wider data takes several accesses",
        )
    for name, lanes in (("offsets", offsets), ("active", active)):
        if not (lanes is None and name == "active") and not hasattr(lanes, "__len__"):
            raise UsageError(f"{name} is not one value per lane: {lanes!r}")
    if len(offsets) > WARP_LANES:
        raise UsageError(f"{len(offsets)} lanes: a warp has {WARP_LANES}")
    if active is None:
        active = [offset is not None for offset in offsets]
    elif len(active) != len(offsets):
        raise UsageError(f"active has {len(active)} lanes, offsets has {len(offsets)}")
    return [
        _address(lane, offset, width) if on else None
        for lane, (offset, on) in enumerate(zip(offsets, active, strict=True))
    ]


def _address(lane: int, offset: int | None, width: int) -> int:
    try:
        address = index(offset)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"lane {lane}: {offset!r} is not a byte address") from None
    if address < 0:
        raise UsageError(
            f"lane {lane}: byte address {address} is negative",
            hint="addresses count from the start of the memory: move the pattern up",
        )
    if address >= _ADDRESS_LIMIT:
        raise UsageError(f"lane {lane}: byte address {address} is beyond any memory")
    if address % width:
        raise UsageError(
            f"lane {lane}: byte address {address} is not a multiple of {width}",
            hint=f"an access of {width} bytes at such an address stops the kernel",
        )
    return address
