"""One block of a tiled matrix product on an SM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.errors import UsageError
from perfkit.models import gemm_tile
from perfkit.models.occupancy import Occupancy, occupancy
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Capability
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem


@record
class Block:
    """What a block needs, and how many fit."""

    instruction: Instruction
    warps: int  #: that compute
    threads: int  #: those included that only load
    stage_bytes: int
    shared_bytes: int
    accumulators: int  #: 32-bit registers per thread
    fragments: int  #: likewise, of one step
    registers: int  #: per thread: estimated, or as given
    registers_given: bool
    spills: bool  #: more than a thread can have
    tensor_memory_columns: int
    driver: Occupancy
    hardware: Occupancy


def block(
    capability: Capability, p: Problem, t: Tiling, one: Instruction, regs: int | None
) -> Block:
    """The block of a tiling.

    Raises:
        UsageError: a tiling that no kernel can have, or a register count that is none.
    """
    gemm_tile.check(t, one, capability)
    threads, shared = gemm_tile.threads(t, one), gemm_tile.shared_bytes(t, p.dtype)
    most = capability.registers.max_per_thread
    if regs is not None and not gemm_tile.is_whole(regs, 1, most):
        raise UsageError(f"regs = {regs}: {capability.label} takes 1 to {most} per thread")
    needed = regs or gemm_tile.registers(t, one, capability, p.dtype, p.accumulate)
    driver, hardware = (
        occupancy(capability, threads=threads, regs=min(needed, most), smem=shared, rule=rule)
        for rule in ("driver", "hardware")
    )
    return Block(
        instruction=one,
        warps=gemm_tile.warps(t),
        threads=threads,
        stage_bytes=gemm_tile.stage_bytes(t, p.dtype),
        shared_bytes=shared,
        accumulators=gemm_tile.accumulators(t, one, p.accumulate),
        fragments=gemm_tile.fragments(t, one, p.dtype),
        registers=needed,
        registers_given=regs is not None,
        spills=needed > most,
        tensor_memory_columns=gemm_tile.tensor_memory_columns(t, one),
        driver=driver,
        hardware=hardware,
    )
