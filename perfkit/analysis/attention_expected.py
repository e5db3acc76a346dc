"""The time to expect of perfkit's own attention on a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.analysis.gemm_expected import rates_of
from perfkit.kernel import DType
from perfkit.models.attention_time import ROWS, Tile, tile_time
from perfkit.models.gemm_instructions import instruction
from perfkit.models.gemm_time import store_time
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.prediction import Machine


@record
class FusedAttention:
    """A problem, and how its kernel cuts it up."""

    dtype: DType
    heads: int
    q_rows: int
    kv_rows: int
    is_causal: bool
    tile: Tile
    usual_blocks_per_sm: int  #: where nobody asked the driver

    def expected_s(self, machine: Machine, blocks_per_sm: int | None) -> float | None:
        """Seconds; None: the card has no such instruction, or its rate is not known.

        Args:
            machine: the card.
            blocks_per_sm: resident blocks; None: as many as the kernel is compiled for.
        """
        gpu, capability = machine.gpu, machine.capability
        one = instruction(capability, self.dtype, "tensor", (16, 8, 16))
        rates = rates_of(machine, one, self.dtype, DType.F32)
        if rates is None:
            return None
        warps, sms = self.tile.warps, gpu.sm_count
        per_block = self._tiles()
        blocks = len(per_block) * self.heads
        resident = min(blocks_per_sm or self.usual_blocks_per_sm, -(-blocks // sms))
        special = capability.throughput.special_function
        per_tile = tile_time(
            self.tile,
            resident_warps=resident * warps,
            rates=rates,
            special_per_s=special * rates.clock_hz if special and rates.clock_hz else None,
        )
        # the warps of a partition take turns; the longest block alone cannot be shared out
        shares = max(sum(per_block) * self.heads / sms, resident * max(per_block))
        stored: float = -(-blocks // sms) * store_time(
            warps * ROWS,
            self.tile.head_size,
            out_bytes=self.dtype.bits / 8,
            write_bytes_per_s=rates.write_bytes_per_s,
        )
        busy = shares * warps / rates.partitions * per_tile
        return rates.launch_s + rates.latency_s + busy + stored / resident

    def _tiles(self) -> list[int]:
        """Tiles of keys that each block of a head sees."""
        rows = self.tile.warps * ROWS
        ahead = self.kv_rows - self.q_rows
        ends = range(rows, self.q_rows + 1, rows)
        seen = [min(self.kv_rows, end + ahead) if self.is_causal else self.kv_rows for end in ends]
        return [-(-keys // self.tile.keys) for keys in seen]
