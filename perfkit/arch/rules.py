"""What must hold between the values of one file.

A rule yields what is wrong with which fact. Only what would make an answer wrong is a rule here;
what needs a second file is in ``audit``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.arch.types import ComputeCapability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.arch.latencies import MemoryLatency, SmLatency
    from perfkit.arch.types import Capability, Gpu

    Breaches = Iterator["Breach"]


#: what the tables of ``analysis.sweep`` hold, which are of bytes
_MOST_BLOCKS: Final = 127


class Breach(NamedTuple):
    fact: str  #: the path of its field
    message: str
    hint: str = ""


def capability_breaches(cc: Capability) -> Breaches:
    yield from _limits(cc)
    yield from _registers(cc)
    yield from _shared(cc)
    yield from _l1(cc)
    yield from _tensor(cc)
    yield from _compilation(cc)
    yield from _latency(cc.latency, "shared_cycles", "l1_cycles")
    if cc.cluster and (cc.cluster.max_nonportable or cc.cluster.max_portable) < (
        cc.cluster.max_portable
    ):
        yield Breach("cluster.max_nonportable", "is below the portable cluster size")


def gpu_breaches(gpu: Gpu) -> Breaches:
    yield from _latency(gpu.latency, "l2_cycles", "dram_cycles")
    if gpu.cluster_sm_groups is not None and sum(gpu.cluster_sm_groups) > gpu.sm_count:
        total = sum(gpu.cluster_sm_groups)
        yield Breach("cluster_sm_groups", f"hold {total} SMs, more than sm_count {gpu.sm_count}")
    if gpu.tensor_clock_hz and gpu.boost_clock_hz and gpu.tensor_clock_hz > gpu.boost_clock_hz:
        yield Breach("tensor_clock_hz", "is above the boost clock")
    if gpu.boost_clock_hz is not None and not 10**8 <= gpu.boost_clock_hz <= 10**10:
        yield Breach("boost_clock_hz", f"{gpu.boost_clock_hz} Hz is no plausible clock")


def _latency(latency: SmLatency | MemoryLatency | None, near: str, far: str) -> Breaches:
    if latency is None:
        return
    first, second = getattr(latency, near), getattr(latency, far)
    if first is None and second is None:
        yield Breach("latency", "says nothing", "leave the section out")
    if first is not None and second is not None and first > second:
        yield Breach(f"latency.{near}", f"is above {far}")


def _limits(cc: Capability) -> Breaches:
    limits = cc.limits
    for name in ("max_block_dim", "max_grid_dim"):
        if len(getattr(limits, name)) != 3:
            yield Breach(f"limits.{name}", "must have three dimensions")
    if limits.max_threads_per_block > limits.max_threads_per_sm:
        yield Breach("limits.max_threads_per_block", "is above max_threads_per_sm")
    if limits.max_warps_per_sm * limits.warp_size != limits.max_threads_per_sm:
        yield Breach("limits.max_warps_per_sm", "times warp_size is not max_threads_per_sm")
    if limits.max_blocks_per_sm > limits.max_warps_per_sm:
        yield Breach("limits.max_blocks_per_sm", "is above max_warps_per_sm")
    if limits.max_blocks_per_sm > _MOST_BLOCKS:
        yield Breach("limits.max_blocks_per_sm", f"is above {_MOST_BLOCKS}")


def _registers(cc: Capability) -> Breaches:
    registers = cc.registers
    if registers.max_per_block > registers.per_sm:
        yield Breach("registers.max_per_block", "is above per_sm")
    if registers.per_sm % (registers.sub_partitions * registers.allocation_unit):
        yield Breach("registers.per_sm", "is not whole allocation units in every sub-partition")


def _shared(cc: Capability) -> Breaches:
    shared = cc.shared_memory
    sizes = shared.capacities_bytes
    if any(small >= large for small, large in pairwise(sizes)):
        yield Breach("shared_memory.capacities_bytes", "must ascend")
    if sizes[-1] != shared.per_sm_bytes:
        yield Breach("shared_memory.capacities_bytes", "must end with what an SM has")
    if shared.max_per_block_optin_bytes < shared.max_per_block_bytes:
        yield Breach(
            "shared_memory.max_per_block_optin_bytes", "is below the limit without opting in"
        )
    if shared.max_per_block_optin_bytes + shared.reserved_per_block_bytes > shared.per_sm_bytes:
        yield Breach(
            "shared_memory.max_per_block_optin_bytes", "does not fit an SM with its reservation"
        )
    if (shared.carveout_evidence is not None) != shared.configurable:
        yield Breach(
            "shared_memory.carveout_evidence",
            "must be given where shared memory is configurable",
        )
    if shared.per_sm_bytes % shared.allocation_unit_bytes:
        yield Breach("shared_memory.allocation_unit_bytes", "does not divide what an SM has")


def _l1(cc: Capability) -> Breaches:
    unified = cc.l1.unified_with_shared_bytes
    if (unified is None) == (cc.l1.dedicated_bytes is None):
        yield Breach("l1", "exactly one of unified_with_shared and dedicated must be given")
    if unified is not None and unified < cc.shared_memory.per_sm_bytes:
        yield Breach("l1.unified_with_shared_bytes", "is less than the shared memory of an SM")
    if (unified is not None) != cc.shared_memory.configurable:
        yield Breach("l1", "shared memory can be configured exactly where L1 is unified with it")


def _tensor(cc: Capability) -> Breaches:
    if cc.tensor_core is None:
        return
    operands = {rate.dtype for rate in cc.tensor_core.rates}
    for dtype in sorted(operands - set(cc.tensor_core.input_types)):
        yield Breach("tensor_core.rates", f"{dtype!s} is not among the input types")


def _compilation(cc: Capability) -> Breaches:
    compilation = cc.compilation
    sm = cc.compute_capability.sm
    for target in compilation.targets:
        if target not in {sm, f"{sm}a", f"{sm}f"}:
            yield Breach("compilation.targets", f"{target!r} is no target of {sm}")
    first = _version(compilation.first_cuda)
    last = _version(compilation.last_cuda) if compilation.last_cuda else first
    if first is None:
        yield Breach("compilation.first_cuda", f"{compilation.first_cuda!r} is no CUDA version")
    elif last is None:
        yield Breach("compilation.last_cuda", f"{compilation.last_cuda!r} is no CUDA version")
    elif last < first:
        yield Breach("compilation.last_cuda", "is before first_cuda")


def _version(text: str) -> tuple[int, int] | None:
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        return None
    return ComputeCapability(int(major), int(minor))
