"""Which block size: one that is good on every target at once, and those as good as it.

``analysis.block_scores`` says what is good. With one target and a large problem the answer has as
many resident threads as that of ``cudaOccupancyMaxPotentialBlockSize``; otherwise ``restrictions``
says why not.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from perfkit.analysis import block_scores
from perfkit.analysis.block_scores import Cell
from perfkit.analysis.launch import Launch
from perfkit.errors import DoesNotFit
from perfkit.models.occupancy import Occupancy, Refusal
from perfkit.models.ops import ceil_div
from perfkit.models.resident import resident_blocks
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Target


#: block sizes that are not as good, shown beside those that are
_NEXT_BEST: Final = 3


class Restriction(StrEnum):
    """Why not the block size with the most resident warps."""

    FIXED = "fixed"  #: asked for, or the only one that the kernel is compiled for
    POWER_OF_TWO = "power_of_two"  #: the number of warps has to be one
    CLUSTER = "cluster"  #: an SM holds fewer blocks of clusters
    SMALL_PROBLEM = "small_problem"  #: smaller blocks reach more SMs
    SEVERAL_TARGETS = "several_targets"  #: best for all together


@record
class Request:
    """A kernel on one target, before its launch is chosen."""

    target: Target
    kernel: str | None = None  #: as shown
    regs: int
    static_bytes: int = 0
    dynamic_bytes: int = 0  #: of a block, whatever its size
    bytes_per_thread: int = 0  #: of dynamic shared memory, besides
    barriers: int = 1
    max_threads: int | None = None  #: the kernel's launch bound
    exact_threads: int | None = None  #: the block size asked for
    only_threads: int | None = None  #: the block size that the kernel is compiled for

    def dynamic(self, threads: int) -> int:
        """Bytes of dynamic shared memory of a block."""
        return self.dynamic_bytes + threads * self.bytes_per_thread

    def launch(self, threads: int, carveout: int | None = None) -> Launch:
        return Launch(
            threads=threads,
            regs=self.regs,
            smem=self.static_bytes + self.dynamic(threads),
            carveout=carveout,
            barriers=self.barriers,
            max_threads=self.max_threads,
        )


@record
class Wish:
    """What the launch is for."""

    elements: int | None = None  #: size of the problem; None: not known, or any
    per_thread: int = 1  #: elements that a thread works on
    cluster: int | None = None  #: blocks per cluster
    power_of_two: bool = False  #: the number of warps has to be one

    @property
    def threads_needed(self) -> int | None:
        return None if self.elements is None else ceil_div(self.elements, self.per_thread)


@record
class Place:
    """One block size on one target."""

    request: Request
    threads: int
    occupancy: Occupancy
    blocks_per_sm: int  #: fewer than ``occupancy`` says where a launch in clusters is limited
    busiest_sm_threads: int | None  #: of the whole problem, if it is small; None: it fills the GPU

    @property
    def resident_threads(self) -> int:
        return self.blocks_per_sm * self.threads

    @property
    def warps_per_sm(self) -> int:
        warps: int = self.blocks_per_sm * ceil_div(self.threads, 32)
        return warps

    @property
    def is_cluster_limited(self) -> bool:
        return self.blocks_per_sm < self.occupancy.blocks_per_sm

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The limits that bind."""
        return ("clusters",) if self.is_cluster_limited else self.occupancy.binding


@record
class Alternative:
    """Another block size, and what it would be on every target."""

    threads: int
    is_tied: bool  #: as good as the one that is taken, by the scores
    places: tuple[Place, ...]  #: in the order of the requests


@record
class Choice:
    """A block size, and what it is on every target."""

    threads: int
    tied: tuple[int, ...]  #: block sizes as good as it, ascending, itself among them
    places: tuple[Place, ...]  #: in the order of the requests
    most_warps: tuple[int, ...]  #: on each target, of any block size that launches there
    restrictions: tuple[Restriction, ...]  #: why some target has fewer warps than it could
    #: from the best on: the one that is taken, those tied with it, the next best few
    alternatives: tuple[Alternative, ...]


def choose(requests: Sequence[Request], wish: Wish) -> Choice:
    """The block size for all of ``requests``.

    Raises:
        DoesNotFit: no block size launches on all of them.
        InvalidLaunch: a number that no launch can have.
    """
    for request in requests:  # refuses what is no launch, before anything is compared
        request.launch(request.exact_threads or request.only_threads or 1).on(
            request.target.capability
        )
    known = [_blocks(request) for request in requests]
    rows = {
        t: [_cell(r, t, wish, of[t]) for r, of in zip(requests, known, strict=True)]
        for t in _sizes(requests, known, wish)
    }
    fitting = {t: row for t, row in rows.items() if all(cell.blocks for cell in row)}
    if not fitting:
        raise _does_not_fit(requests, known)
    scores = block_scores.scores(fitting)
    best = max(scores.values())
    tied = tuple(sorted(t for t, score in scores.items() if score == best))
    warp = requests[0].target.capability.limits.warp_size
    order = sorted(
        scores, key=lambda t: (scores[t], block_scores.preference(t, warp)), reverse=True
    )
    alternatives = tuple(
        Alternative(
            threads=t,
            is_tied=t in tied,
            places=tuple(_place(r, t, cell) for r, cell in zip(requests, fitting[t], strict=True)),
        )
        for t in order[: len(tied) + _NEXT_BEST]
    )
    threads, places = alternatives[0].threads, alternatives[0].places
    # what cudaOccupancyMaxPotentialBlockSize answers for each
    most = [max(of, key=lambda t: of[t] * t) for of in known]
    warps = tuple(of[t] * ceil_div(t, 32) for of, t in zip(known, most, strict=True))
    short = any(place.warps_per_sm < w for place, w in zip(places, warps, strict=True))
    return Choice(
        threads=threads,
        tied=tied,
        places=places,
        most_warps=warps,
        restrictions=tuple(_restrictions(requests, wish, places)) if short else (),
        alternatives=alternatives,
    )


def _blocks(request: Request) -> dict[int, int]:
    """Resident blocks of every block size: whole warps up to the limit, that, what is asked."""
    capability = request.target.capability
    warp, limit = capability.limits.warp_size, capability.limits.max_threads_per_block
    most = min(limit, request.max_threads or limit)
    sizes = [most, *range((most - 1) // warp * warp, 0, -warp)]
    if request.exact_threads is not None and request.exact_threads not in sizes:
        sizes.append(request.exact_threads)
    if request.only_threads is not None:
        sizes = [request.only_threads]
    return {
        threads: resident_blocks(
            capability,
            threads=threads,
            regs=request.regs,
            smem=request.static_bytes + request.dynamic(threads),
            barriers=request.barriers,
        )
        if threads <= most
        else 0
        for threads in sizes
    }


def _sizes(requests: Sequence[Request], known: Sequence[dict[int, int]], wish: Wish) -> list[int]:
    """Those that every kernel has."""
    shared = set(known[0]).intersection(*known[1:])
    for request in requests:
        if request.exact_threads is not None:
            shared &= {request.exact_threads}
    if wish.power_of_two:
        warp = requests[0].target.capability.limits.warp_size
        shared = {t for t in shared if t % warp == 0 and (t // warp).bit_count() == 1}
    return sorted(shared)


def _cell(request: Request, threads: int, wish: Wish, blocks: int) -> Cell:
    limits = request.target.capability.cluster
    if wish.cluster is not None and limits is not None and limits.max_blocks_per_sm is not None:
        blocks = min(blocks, limits.max_blocks_per_sm)
    gpu, needed = request.target.gpu, wish.threads_needed
    busiest = None
    if gpu is not None and needed is not None and blocks:
        grid = ceil_div(needed, threads)
        if grid <= gpu.sm_count * blocks:  # dealt out evenly
            busiest = ceil_div(grid, gpu.sm_count) * threads
    return Cell(blocks * threads, blocks, busiest)


def _place(request: Request, threads: int, cell: Cell) -> Place:
    return Place(
        request=request,
        threads=threads,
        occupancy=request.launch(threads).on(request.target.capability),
        blocks_per_sm=cell.blocks,
        busiest_sm_threads=cell.busiest,
    )


def _restrictions(
    requests: Sequence[Request], wish: Wish, places: Sequence[Place]
) -> list[Restriction]:
    reasons = {
        Restriction.FIXED: any(r.exact_threads is not None for r in requests),
        Restriction.POWER_OF_TWO: wish.power_of_two,
        Restriction.CLUSTER: any(p.is_cluster_limited for p in places),
        Restriction.SMALL_PROBLEM: any(p.busiest_sm_threads is not None for p in places),
        Restriction.SEVERAL_TARGETS: len(requests) > 1,
    }
    return [reason for reason, holds in reasons.items() if holds]


def _does_not_fit(requests: Sequence[Request], known: Sequence[dict[int, int]]) -> DoesNotFit:
    """Says on which target nothing launches, or that no size does on all of them."""
    for request, blocks in zip(requests, known, strict=True):
        exact = request.exact_threads
        if (exact is None or exact not in blocks) and any(blocks.values()):
            continue
        if exact is not None and blocks.get(exact):
            continue
        asked = exact if exact in blocks else min(blocks)
        found = request.launch(asked).on(request.target.capability)
        what = "no block" if exact is None else f"no block of {asked} threads"
        return DoesNotFit(
            f"{what} of {request.kernel or 'this kernel'} launches on "
            f"{request.target.label}{_because(found.refusal)}",
            hint="'perfkit fits' says what would make it fit",
        )
    labels = ", ".join(request.target.label for request in requests)
    return DoesNotFit(
        f"no block size that is asked for launches on all of {labels}",
        hint="'perfkit fits' says why; without --threads perfkit looks at all of them",
    )


def _because(refusal: Refusal | None) -> str:
    return "" if refusal is None else f": {refusal}"
