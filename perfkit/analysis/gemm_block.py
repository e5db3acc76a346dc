"""One block of a tiled matrix product on an SM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.errors import UsageError
from perfkit.models import gemm_tile
from perfkit.models.occupancy import Occupancy, Rule, occupancy
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Capability
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem


@record
class GemmBlock:
    """What a block needs, and how many fit."""

    instruction: Instruction
    warps: int  #: that compute
    threads: int  #: those included that only load
    stage_bytes: int
    shared_bytes: int
    accumulators: int  #: 32-bit registers per thread
    fragments: int  #: likewise, of one step
    registers: int  #: per thread, of the launch: estimated, or as given
    registers_held: int  #: of a thread that computes; differs where others give theirs up
    registers_given: bool
    spills: bool  #: that is more than such a thread can have
    tensor_memory_columns: int
    driver: Occupancy
    hardware: Occupancy


def block(
    capability: Capability, p: Problem, t: Tiling, one: Instruction, regs: int | None
) -> GemmBlock:
    """The block of a tiling.

    Raises:
        UsageError: a tiling that no kernel can have, or a register count that is none.
    """
    gemm_tile.check(t, one, capability)
    threads, shared = gemm_tile.threads(t, one), gemm_tile.shared_bytes(t, p.dtype)
    most = capability.registers.max_per_thread
    if regs is not None and not gemm_tile.is_whole(regs, 1, most):
        raise UsageError(f"regs = {regs}: {capability.label} takes 1 to {most} per thread")
    launched = regs or gemm_tile.registers(t, one, capability, p.dtype, p.accumulate)
    held = regs or gemm_tile.held(t, one, p.dtype, p.accumulate)
    rules: tuple[Rule, ...] = ("driver", "hardware")
    driver, hardware = (
        occupancy(capability, threads=threads, regs=min(launched, most), smem=shared, rule=rule)
        for rule in rules
    )
    return GemmBlock(
        instruction=one,
        warps=gemm_tile.warps(t),
        threads=threads,
        stage_bytes=gemm_tile.stage_bytes(t, p.dtype),
        shared_bytes=shared,
        accumulators=gemm_tile.accumulators(t, one, p.accumulate),
        fragments=gemm_tile.fragments(t, one, p.dtype),
        registers=launched,
        registers_held=held,
        registers_given=regs is not None,
        spills=held > gemm_tile.most_held(t, one, capability),
        tensor_memory_columns=gemm_tile.tensor_memory_columns(t, one),
        driver=driver,
        hardware=hardware,
    )
