"""Which block size: one that is good on every target at once, and those as good as it.

A block size has a score on each target, 1 for the best that there is: the threads resident on an
SM, or, where the problem does not fill the GPU once, how little the busiest SM has to do. The
choice maximises the worst score, then the sum, then the same of resident threads. Of what still
ties, in this order: whole warps; 128 to 256 threads; a power of two; near 256; smaller. So the
answer is the same every time.

Source: ``cudaOccupancyMaxPotentialBlockSize`` for resident threads; CUDA C++ Best Practices Guide,
Thread and Block Heuristics, for whole warps and 128 to 256 threads; Nsight Compute's rule on launch
statistics for grids that leave SMs without a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from perfkit.analysis.steps import Launch
from perfkit.errors import DoesNotFit
from perfkit.models.occupancy import Occupancy, Refusal
from perfkit.models.ops import ceil_div
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Target

#: range that the Best Practices Guide starts from
_FROM: Final = 128
_TO: Final = 256


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
class Choice:
    """A block size, and what it is on every target."""

    threads: int
    tied: tuple[int, ...]  #: block sizes as good as it, ascending, itself among them
    places: tuple[Place, ...]  #: in the order of the requests
    most_warps: tuple[int, ...]  #: on each target, of any block size that launches there
    restrictions: tuple[Restriction, ...]  #: why some target has fewer warps than it could


def choose(requests: Sequence[Request], wish: Wish) -> Choice:
    """The block size for all of ``requests``.

    Raises:
        DoesNotFit: no block size launches on all of them.
        InvalidLaunch: a number that no launch can have.
    """
    known = [_occupancies(request) for request in requests]
    places = {
        t: [_place(r, t, wish, of[t]) for r, of in zip(requests, known, strict=True)]
        for t in _sizes(requests, known, wish)
    }
    fitting = {t: found for t, found in places.items() if all(p.blocks_per_sm for p in found)}
    if not fitting:
        raise _does_not_fit(requests, places)
    key = _score(fitting)
    best = max(key(t) for t in fitting)
    tied = tuple(sorted(t for t in fitting if key(t) == best))
    chosen = max(tied, key=lambda t: _preference(t, requests))
    # what cudaOccupancyMaxPotentialBlockSize answers for each
    most = tuple(
        max(of.values(), key=lambda one: one.blocks_per_sm * one.threads).warps_per_sm
        for of in known
    )
    short = any(p.warps_per_sm < w for p, w in zip(fitting[chosen], most, strict=True))
    return Choice(
        threads=chosen,
        tied=tied,
        places=tuple(fitting[chosen]),
        most_warps=most,
        restrictions=tuple(_restrictions(requests, wish, fitting[chosen])) if short else (),
    )


def _occupancies(request: Request) -> dict[int, Occupancy]:
    """Every block size of the kernel: whole warps up to its limit, that limit, what is asked."""
    capability = request.target.capability
    warp, limit = capability.limits.warp_size, capability.limits.max_threads_per_block
    most = min(limit, request.max_threads or limit)
    sizes = [most, *range((most - 1) // warp * warp, 0, -warp)]
    if request.exact_threads is not None and request.exact_threads not in sizes:
        sizes.append(request.exact_threads)
    if request.only_threads is not None:
        sizes = [request.only_threads]
    return {threads: request.launch(threads).on(capability) for threads in sizes}


def _sizes(
    requests: Sequence[Request], known: Sequence[dict[int, Occupancy]], wish: Wish
) -> list[int]:
    """Those that every kernel has."""
    shared = set(known[0]).intersection(*known[1:])
    for request in requests:
        if request.exact_threads is not None:
            shared &= {request.exact_threads}
    if wish.power_of_two:
        warp = requests[0].target.capability.limits.warp_size
        shared = {t for t in shared if t % warp == 0 and (t // warp).bit_count() == 1}
    return sorted(shared)


def _place(request: Request, threads: int, wish: Wish, found: Occupancy) -> Place:
    capability = request.target.capability
    blocks = found.blocks_per_sm
    if wish.cluster is not None and capability.cluster is not None:
        most = capability.cluster.max_blocks_per_sm
        blocks = blocks if most is None else min(blocks, most)
    return Place(
        request=request,
        threads=threads,
        occupancy=found,
        blocks_per_sm=blocks,
        busiest_sm_threads=_busiest(request, threads, blocks, wish),
    )


def _busiest(request: Request, threads: int, blocks: int, wish: Wish) -> int | None:
    """Threads of the SM with the most work, blocks dealt out evenly; None: more than one wave."""
    needed, gpu = wish.threads_needed, request.target.gpu
    if needed is None or gpu is None or blocks == 0:
        return None
    grid = ceil_div(needed, threads)
    if grid > gpu.sm_count * blocks:
        return None
    of_one: int = ceil_div(grid, gpu.sm_count)
    return of_one * threads


def _score(fitting: dict[int, list[Place]]) -> Callable[[int], tuple[float, ...]]:
    """Score of a block size; the larger the better."""
    columns = list(zip(*fitting.values(), strict=True))
    most = [max(place.resident_threads for place in column) for column in columns]
    # small where even the block size with the most resident threads does not fill the GPU
    small = [
        all(p.busiest_sm_threads is not None for p in column if p.resident_threads == best)
        for column, best in zip(columns, most, strict=True)
    ]
    least = [
        min((p.busiest_sm_threads for p in column if p.busiest_sm_threads is not None), default=1)
        for column in columns
    ]

    def score(threads: int) -> tuple[float, ...]:
        places = fitting[threads]
        resident = [p.resident_threads / best for p, best in zip(places, most, strict=True)]
        reach = [
            (low / p.busiest_sm_threads if p.busiest_sm_threads is not None else 0.0)
            if is_small
            else share
            for p, low, is_small, share in zip(places, least, small, resident, strict=True)
        ]
        # rounded, so that the last bit of a division decides nothing
        parts = (min(reach), sum(reach), min(resident), sum(resident))
        return tuple(round(part, 9) for part in parts)

    return score


def _preference(threads: int, requests: Sequence[Request]) -> tuple[float, ...]:
    warp = max(r.target.capability.limits.warp_size for r in requests)
    return (
        threads % warp == 0,
        _FROM <= threads <= _TO,
        threads.bit_count() == 1,
        -abs(round(math.log2(threads / _TO), 9)),
        -threads,
    )


def _restrictions(
    requests: Sequence[Request], wish: Wish, places: list[Place]
) -> list[Restriction]:
    reasons = {
        Restriction.FIXED: any(r.exact_threads is not None for r in requests),
        Restriction.POWER_OF_TWO: wish.power_of_two,
        Restriction.CLUSTER: any(p.is_cluster_limited for p in places),
        Restriction.SMALL_PROBLEM: any(p.busiest_sm_threads is not None for p in places),
        Restriction.SEVERAL_TARGETS: len(requests) > 1,
    }
    return [reason for reason, holds in reasons.items() if holds]


def _does_not_fit(requests: Sequence[Request], places: dict[int, list[Place]]) -> DoesNotFit:
    """Says on which target nothing launches, or that no size does on all of them."""
    for number, request in enumerate(requests):
        found = [of_size[number] for of_size in places.values()]
        if not any(place.blocks_per_sm for place in found):
            least = found[0].occupancy if found else None
            return DoesNotFit(
                f"no block of {request.kernel or 'this kernel'} launches on "
                f"{request.target.label}{_because(least.refusal if least else None)}",
                hint="'perfkit fits' says what would make it fit",
            )
    labels = ", ".join(request.target.label for request in requests)
    return DoesNotFit(
        f"no block size launches on all of {labels}", hint="ask for each of them on its own"
    )


def _because(refusal: Refusal | None) -> str:
    if refusal is None:
        return ""
    name = refusal.resource.replace("_", " ")
    return f": {refusal.needed} {name}, {refusal.allowed} allowed"
