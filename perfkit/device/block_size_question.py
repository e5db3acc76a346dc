"""What the model is asked about a kernel whose block size is free, from one launch of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.block_scores import preference
from perfkit.analysis.block_sizes import Request, Wish, choose
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from perfkit.analysis.measurement import LaunchFacts
    from perfkit.arch.types import Target
    from perfkit.device.workload import Case

MOST_THREADS: Final = 1024


def request(target: Target, facts: LaunchFacts, *, usual: int, most: int) -> Request:
    """The kernel on ``target``.

    Args:
        target: the card.
        facts: what driver and compiler say of it at the usual block size.
        usual: that block size; dynamic shared memory that it divides grows with the block.
        most: the largest block size that the kernel takes.
    """
    per_thread, rest = divmod(facts.dynamic_shared_bytes, usual)
    return Request(
        target=target,
        regs=facts.registers,
        static_bytes=facts.static_shared_bytes,
        dynamic_bytes=facts.dynamic_shared_bytes if rest else 0,
        bytes_per_thread=0 if rest else per_thread,
        max_threads=most,
    )


def wish(cases: Iterable[Case]) -> Wish:
    """The problem: a grid that grows as blocks shrink has one thread for each element."""
    totals = {case.launch.blocks * case.launch.threads for case in cases}
    even = max(totals) - min(totals) <= MOST_THREADS
    return Wish(elements=max(totals) if even else None)


def order(asked: Request, problem: Wish, sizes: Collection[int]) -> list[int]:
    """Block sizes as the model likes them: its choice, what ties with it, then by resident threads.

    Raises:
        DoesNotFit: none of them launches.
    """
    best = choose([asked], problem)
    rest: dict[int, int] = {}
    for threads in sizes:
        try:
            one = choose([replace(asked, exact_threads=threads)], problem)
        except UsageError:  # it launches at no such size
            continue
        rest[threads] = one.places[0].resident_threads
    warp = asked.target.capability.limits.warp_size
    return sorted(
        rest,
        key=lambda t: (t == best.threads, t in best.tied, rest[t], preference(t, warp)),
        reverse=True,
    )
