"""Recommendations from keywords instead of records, for ``import perfkit``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from perfkit.analysis import recommend as analysis
from perfkit.analysis.block_sizes import Request, Wish
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from perfkit.analysis.recommend import Recommendation
    from perfkit.arch.types import Target
    from perfkit.kernel import KernelResources


def recommend(
    targets: Iterable[Target],
    *,
    regs: int | None = None,
    kernel: KernelResources | None = None,
    static_smem: int | None = None,
    dynamic_smem: int = 0,
    smem_per_thread: int = 0,
    barriers: int | None = None,
    max_threads: int | None = None,
    threads: int | None = None,
    elements: int | None = None,
    per_thread: int = 1,
    cluster: int | None = None,
    power_of_two: bool = False,
) -> Recommendation:
    """The launch configuration to use, one for all targets.

    Args:
        targets: products and capabilities.
        regs: registers per thread; not given: those of ``kernel``.
        kernel: what ``perfkit.inspect`` read; what is given besides comes first.
        static_smem: bytes per block that the kernel declares.
        dynamic_smem: bytes per block that the launch adds, whatever its size.
        smem_per_thread: bytes that it adds for each thread.
        barriers: named barriers per block; 1 if not known.
        max_threads: the kernel's launch bound.
        threads: the block size, if it is fixed.
        elements: size of the problem.
        per_thread: elements that a thread works on.
        cluster: blocks per cluster; not given: as many as ``kernel`` is compiled for.
        power_of_two: the number of warps has to be one, as in Triton.

    Raises:
        UsageError: neither ``regs`` nor a kernel with a known number of registers.
        DoesNotFit: no block size launches on all targets.
    """
    known = regs if regs is not None or kernel is None else kernel.registers_per_thread
    if known is None:
        raise UsageError("how many registers per thread?", hint="give regs=40")
    declared = kernel.static_shared_bytes if kernel else None
    bound = kernel.max_threads if kernel and max_threads is None else max_threads
    if cluster is None and kernel is not None:
        cluster = kernel.required_cluster_blocks
    wish = Wish(
        elements=elements, per_thread=per_thread, cluster=cluster, power_of_two=power_of_two
    )
    requests = [
        Request(
            target=target,
            kernel=kernel.demangled if kernel else None,
            regs=known,
            static_bytes=_first(static_smem, declared, 0),
            dynamic_bytes=dynamic_smem,
            bytes_per_thread=smem_per_thread,
            barriers=_first(barriers, kernel.barriers if kernel else None, 1),
            max_threads=bound,
            exact_threads=threads,
            only_threads=kernel.required_threads if kernel else None,
        )
        for target in targets
    ]
    return analysis.recommend(requests, wish)


def _first(*values: int | None) -> int:
    """The first that is known; the last one is."""
    return next(value for value in values if value is not None)
