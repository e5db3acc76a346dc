"""One tiling of a matrix product on one product: what it needs, moves, and takes at least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.analysis.gemm_block import GemmBlock, block
from perfkit.analysis.gemm_schedule import GemmMachine, Schedule, schedules
from perfkit.analysis.products import product
from perfkit.analysis.roofline import RooflineQuestion, roof_and_levels
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.cluster import ClusterOccupancy, active_clusters, check_cluster
from perfkit.models.gemm_instructions import instruction
from perfkit.models.gemm_tile import is_whole
from perfkit.models.gemm_traffic import Problem
from perfkit.models.operations_matrix import gemm as operation
from perfkit.models.roofline import Bound, bound
from perfkit.models.roofs import compute_load, memory_load
from perfkit.models.waves import Waves, waves
from perfkit.models.work import product_type
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Target
    from perfkit.models.gemm_tile import Tiling

#: sizes of a product are 32-bit integers in cuBLAS and CUTLASS
_MOST: Final = 2**31 - 1
_MOST_SPLIT: Final = 1024
_MOST_SWIZZLE: Final = 64


@record
class GemmQuestion:
    """A matrix product, and how it is computed."""

    m: int
    n: int
    k: int
    roofs: RooflineQuestion  #: types, clock and ceilings
    out: DType | None = None  #: of the result; None: the usual one
    swizzle: int = 1  #: width of the bands in which tiles come, in tiles
    regs: int | None = None  #: registers per thread, where they are known
    instruction: tuple[int, int, int] | None = None  #: None: the usual one of a warp


@record
class GemmEstimate:
    """The answer for one tiling on one product."""

    target: Target
    problem: Problem
    machine: GemmMachine
    tiling: Tiling
    swizzle: int
    block: GemmBlock
    cluster: ClusterOccupancy | None  #: None: blocks load for themselves
    schedule: Schedule | None  #: None: the block does not fit on an SM
    others: tuple[Schedule, ...]  #: other ways to share out the same tiles
    waves: Waves | None  #: of resident blocks, which clusters may leave some SMs without
    shape: Bound  #: of the product, whatever computes it
    fused_bytes: int  #: read once and written once less, if the next operation is fused
    fused_s: float | None  #: what that takes; None: without a known bandwidth

    @property
    def share_of_peak(self) -> float | None:
        """Of the compute roof, at the least time of this tiling, 0..1."""
        if self.schedule is None:
            return None
        # in this order a product without any loss has exactly all of it
        return self.problem.flops / self.machine.roof.flop_per_s / self.schedule.bound.time_s

    @property
    def flops_per_byte(self) -> float:
        """Reuse: FLOP for each byte of the operands that a tile loads."""
        t = self.tiling
        loaded = (t.tile_m + t.tile_n) * self.problem.dtype.bits / 8
        return float(2 * t.tile_m * t.tile_n / loaded)


def estimate(target: Target, question: GemmQuestion, tiling: Tiling) -> GemmEstimate:
    """Everything that follows from a tiling.

    Raises:
        UnknownTarget: a bare capability.
        UsageError: sizes that are none or that no kernel can have, or a missing roof.
    """
    p, machine = ask(target, question)
    _check(target, tiling)
    one = instruction(target.capability, p.dtype, machine.roof.unit, question.instruction)
    needs = block(target.capability, p, tiling, one, question.regs)
    resident = needs.driver.blocks_per_sm
    found = (
        schedules(p, tiling, one, machine, resident=resident, swizzle=question.swizzle)
        if resident
        else ()
    )
    cluster = _cluster(target, tiling, resident)
    result = operation(p.dtype, p.m, p.n, p.k, out=p.out)
    bandwidth = machine.levels["dram"].bytes_per_s
    return GemmEstimate(
        target=target,
        problem=p,
        machine=machine,
        tiling=tiling,
        swizzle=question.swizzle,
        block=needs,
        cluster=cluster,
        schedule=found[0] if found else None,
        others=found[1:],
        waves=_waves(found[0], machine, resident, cluster) if found else None,
        shape=bound(
            [
                compute_load(machine.roof, result.matrix_flops),
                *(memory_load(level, result.bytes) for level in machine.levels.values()),
            ]
        ),
        fused_bytes=result.write_bytes,
        fused_s=2 * result.write_bytes / bandwidth if bandwidth else None,
    )


def ask(target: Target, question: GemmQuestion) -> tuple[Problem, GemmMachine]:
    """The product with its types, and what the GPU offers.

    Raises:
        UnknownTarget: a bare capability.
        UsageError: sizes that are none, or a roof that the product does not have.
    """
    gpu = product(target)
    for name in ("m", "n", "k"):
        _whole(name, getattr(question, name), 1, _MOST)
    _whole("swizzle", question.swizzle, 1, _MOST_SWIZZLE)
    roof, levels = roof_and_levels(target, question.roofs)
    if roof.sparsity != "dense":
        raise UsageError("tiles are modelled for dense products", hint="leave out the sparsity")
    found = Problem(
        m=question.m,
        n=question.n,
        k=question.k,
        dtype=roof.dtype,
        accumulate=roof.accumulate,
        out=question.out or product_type(roof.dtype),
    )
    return found, GemmMachine(
        target=target,
        sm_count=gpu.sm_count,
        roof=roof,
        levels=levels,
        l2_bytes=gpu.memory.l2_bytes or 0,
        ceilings=next((one for one in question.roofs.ceilings if one.gpu == gpu.key), None),
    )


def _check(target: Target, tiling: Tiling) -> None:
    _whole("split_k", tiling.split_k, 0, _MOST_SPLIT)
    size = tiling.cluster_m * tiling.cluster_n
    if size == 1:
        return
    check_cluster(target.capability, size)
    if tiling.split_k == 0:
        raise UsageError("stream-K is modelled without clusters")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if not is_whole(value, low, high):
        # an integer may have too many digits to be printed
        is_long = isinstance(value, int) and abs(value) >= 10**30
        shown = "too large" if is_long else repr(value)
        raise UsageError(f"{name} = {shown}: must be a whole number from {low} to {high}")


def _cluster(target: Target, tiling: Tiling, resident: int) -> ClusterOccupancy | None:
    size = tiling.cluster_m * tiling.cluster_n
    if size == 1 or target.gpu is None:
        return None
    return active_clusters(target.capability, target.gpu, size=size, blocks_per_sm=resident)


def _waves(
    found: Schedule, machine: GemmMachine, resident: int, cluster: ClusterOccupancy | None
) -> Waves | None:
    # clusters come and go whole, but what is counted is blocks, as everywhere
    held = machine.sm_count * resident if cluster is None else cluster.active_blocks
    return waves(grid=found.grid.blocks, sm_count=held, blocks_per_sm=1)
