"""A launch as one value, and its occupancy on any capability."""

from __future__ import annotations

from perfkit.arch.types import Capability
from perfkit.models.cluster import in_clusters
from perfkit.models.occupancy import Occupancy, Rule, occupancy
from perfkit.record import record


@record
class Launch:
    """The inputs of ``models.occupancy``."""

    threads: int
    regs: int
    smem: int
    carveout: int | None = None
    barriers: int = 1
    rule: Rule = "driver"
    max_threads: int | None = None
    fixed_threads: bool = False  #: the kernel is compiled for this block size alone
    cluster: int | None = None  #: blocks per cluster; only the hardware's rule looks at it

    def on(self, capability: Capability) -> Occupancy:
        """By the launch's rule; raises ``InvalidLaunch`` for what no launch there can have."""
        found = occupancy(
            capability,
            threads=self.threads,
            regs=self.regs,
            smem=self.smem,
            carveout=self.carveout,
            barriers=self.barriers,
            rule=self.rule,
            max_threads=self.max_threads,
        )
        if self.cluster is None or self.rule == "driver":
            return found
        return in_clusters(capability, found)
