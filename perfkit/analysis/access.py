"""Accesses of the warps of a block: what they cost in global and in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from perfkit.analysis.structs import Struct
from perfkit.errors import UsageError
from perfkit.models.banks import SharedAccess, shared_access
from perfkit.models.coalescing import GlobalAccess, global_access
from perfkit.models.lanes import Addresses
from perfkit.record import record

_Cost = TypeVar("_Cost", GlobalAccess, SharedAccess)


@record
class Access:
    """One load or store instruction, as the warps of a block execute it."""

    label: str  #: what it is: an expression, a member of a struct, a file
    layout: str | None = None  #: aos | soa; None: no struct
    width_bytes: int  #: per lane
    warps: tuple[Addresses, ...]  #: byte addresses, lane by lane


@record
class Coalescing:
    """An access to global memory."""

    access: Access
    warp: int  #: the one that ``detail`` is about
    detail: GlobalAccess
    requests: int  #: warps of the block that take part
    block_sectors: int  #: of all warps together
    block_used_bytes: int
    block_moved_bytes: int

    @property
    def block_efficiency(self) -> float:
        return self.block_used_bytes / self.block_moved_bytes if self.block_moved_bytes else 1.0


@record
class Banking:
    """An access to shared memory."""

    access: Access
    store: bool  #: wide loads may pair up, stores never
    warp: int
    detail: SharedAccess
    requests: int
    block_wavefronts: int
    block_ideal_wavefronts: int
    block_conflict_way: int  #: of the worst warp


def indexed(
    label: str,
    indices: Iterable[Iterable[int | None]],
    *,
    width: int,
    element: int,
    offset: int = 0,
) -> Access:
    """An access to an array.

    Args:
        label: what it is.
        indices: element numbers per warp and lane; None: the lane takes no part.
        width: bytes that each lane moves.
        element: bytes per element.
        offset: elements to add to every index.
    """
    return Access(
        label=label,
        width_bytes=width,
        warps=tuple(
            tuple(None if i is None else (i + offset) * element for i in lanes) for lanes in indices
        ),
    )


def members(
    struct: Struct, indices: tuple[tuple[int | None, ...], ...], *, offset: int = 0
) -> tuple[Access, ...]:
    """Every member read, once from an array of structs and once from one array per member."""
    moved = [[None if i is None else i + offset for i in lanes] for lanes in indices]
    return tuple(
        Access(
            label=part.name,
            layout=layout,
            width_bytes=width,
            warps=tuple(
                tuple(None if i is None else i * step + start for i in lanes) for lanes in moved
            ),
        )
        for part in struct.parts
        for layout, width, step, start in (
            ("aos", part.width_bytes, struct.size_bytes, part.offset_bytes),
            ("soa", part.alone_bytes, part.alone_bytes, 0),
        )
        if width
    )


def coalescing(access: Access, warp: int = 0) -> Coalescing:
    """What an access to global memory costs; ``detail`` is about one warp.

    Raises:
        UsageError: as ``models.lanes.addresses``, with the warp.
    """
    costs = _costs(access, global_access)
    return Coalescing(
        access=access,
        warp=warp,
        detail=costs[warp],
        requests=sum(cost.lanes > 0 for cost in costs),
        block_sectors=sum(cost.sectors for cost in costs),
        block_used_bytes=sum(cost.used_bytes for cost in costs),
        block_moved_bytes=sum(cost.moved_bytes for cost in costs),
    )


def banking(access: Access, warp: int = 0, *, store: bool = False) -> Banking:
    """What a load from shared memory, or a store to it, costs; raises as ``coalescing``."""
    costs = _costs(access, partial(shared_access, store=store))
    return Banking(
        access=access,
        store=store,
        warp=warp,
        detail=costs[warp],
        requests=sum(cost.lanes > 0 for cost in costs),
        block_wavefronts=sum(cost.wavefronts for cost in costs),
        block_ideal_wavefronts=sum(cost.ideal_wavefronts for cost in costs),
        block_conflict_way=max(cost.conflict_way for cost in costs),
    )


def _costs(access: Access, cost: Callable[[int, Addresses], _Cost]) -> list[_Cost]:
    found = []
    for number, lanes in enumerate(access.warps):
        try:
            found.append(cost(access.width_bytes, lanes))
        except UsageError as error:
            where = f"warp {number}, {error.message}" if "lane" in error.message else error.message
            raise UsageError(where, hint=error.hint) from None
    return found
