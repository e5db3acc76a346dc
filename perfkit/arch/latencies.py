"""Latencies as somebody measured them: of a load by one thread alone, on an idle GPU.

In clocks of the SM, from a load to the use of what it loads. What belongs to an SM is a fact of the
capability, what the SMs share one of the product.
"""

from __future__ import annotations

from perfkit.record import record


@record
class SmLatency:
    shared_cycles: int | None = None
    l1_cycles: int | None = None


@record
class MemoryLatency:
    l2_cycles: int | None = None
    dram_cycles: int | None = None
