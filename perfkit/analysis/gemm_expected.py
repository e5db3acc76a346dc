"""The time to expect of one of perfkit's own products, by the model of ``perfkit gemm``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.gemm_block import block
from perfkit.analysis.gemm_rates import rates
from perfkit.analysis.gemm_schedule import usable_sms
from perfkit.errors import UsageError
from perfkit.models.gemm_instructions import instructions
from perfkit.models.gemm_time import expected
from perfkit.models.gemm_traffic import Cache, grid, traffic
from perfkit.models.roofs import choose, levels, measured_levels, measured_roofs, roofs
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.prediction import Machine
    from perfkit.arch.types import Capability
    from perfkit.kernel import DType
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_time import Rates
    from perfkit.models.gemm_traffic import Problem


#: warps that only load, in the kernels that have some
_PRODUCERS: Final = 4


@record
class TiledProduct:
    """A product as one of perfkit's kernels computes it."""

    problem: Problem
    tiling: Tiling
    kind: str  #: of the instruction: mma | wgmma
    is_fed: bool  #: by producer warps and TMA
    group: int  #: rows of tiles whose blocks run together, one column after the other

    def expected_s(self, machine: Machine, blocks_per_sm: int | None) -> float | None:
        """Seconds; None: the card has no such instruction, or its rate is not known.

        Args:
            machine: the card.
            blocks_per_sm: resident blocks of the kernel; None: as its registers are estimated.
        """
        one = self._instruction(machine.capability)
        types = self.problem.dtype, self.problem.accumulate
        of_one_sm = None if one is None else rates_of(machine, one, *types)
        if one is None or of_one_sm is None:
            return None
        p, t, sms = self.problem, self.tiling, machine.gpu.sm_count
        if blocks_per_sm is None:
            blocks_per_sm = block(machine.capability, p, t, one, None).driver.blocks_per_sm
        usable = usable_sms(machine.gpu, machine.capability, t.cluster_m * t.cluster_n)
        g = grid(p, t, sm_count=sms, blocks_per_sm=blocks_per_sm, usable_sms=usable)
        cache = Cache(l2_bytes=machine.l2_bytes or 0, swizzle=self.group)
        moved = traffic(p, t, one, g, sm_count=sms, blocks_per_sm=blocks_per_sm, cache=cache)
        found: float = expected(
            p,
            t,
            one,
            g,
            moved,
            blocks_per_sm=blocks_per_sm,
            sm_count=sms,
            rates=of_one_sm,
            together=min(self.group, g.tiles_m),
        )
        return found

    def _instruction(self, capability: Capability) -> Instruction | None:
        """That of the kernel: with wgmma as wide as the tile."""
        found = [
            one
            for one in instructions(capability, self.problem.dtype, "tensor")
            if one.kind == self.kind and (self.kind == "mma" or one.n == self.tiling.tile_n)
        ]
        if not found:
            return None
        return replace(found[-1], producer_warps=_PRODUCERS) if self.is_fed else found[-1]


def rates_of(machine: Machine, one: Instruction, dtype: DType, accumulate: DType) -> Rates | None:
    """What one SM of the card does in a second; None: not even the tensor cores' rate is known."""
    gpu, capability, ceilings = machine.gpu, machine.capability, machine.ceilings
    known = measured_roofs(roofs(gpu, capability), ceilings)
    memory = measured_levels(levels(gpu, capability), ceilings)
    try:
        roof = choose(known, dtype, label=gpu.name, accumulate=accumulate, unit="tensor")
    except UsageError:
        return None
    return rates(gpu, capability, one, roof, {level.name: level for level in memory}, ceilings)
