"""The shared-memory capacity a launch is configured with, for one launch or many."""

from __future__ import annotations

from typing import Any

from perfkit.arch.types import Capability
from perfkit.models.carveout import NO_PREFERENCE, configured_bytes
from perfkit.models.occupancy import occupancy


def configured_shared_bytes(
    capability: Capability, threads: Any, regs: Any, smem: Any, carveout: Any = NO_PREFERENCE
) -> Any:
    """Bytes of shared memory per SM; 0 where the launch is impossible.

    Integers give an int and need no NumPy; anything else broadcasts like the inputs of a ufunc.
    The rule is ``models.carveout.configured_bytes``; raises what ``models.occupancy`` and
    ``analysis.sweep`` raise for bad input.
    """
    inputs = (threads, regs, smem, carveout)
    if all(isinstance(value, int) for value in inputs):
        percent = None if carveout == NO_PREFERENCE else carveout
        # only checks the preference: residency is that of a launch without one
        occupancy(capability, threads=threads, regs=regs, smem=smem, carveout=percent)
        resident = occupancy(capability, threads=threads, regs=regs, smem=smem).blocks_per_sm
        if resident == 0:
            return 0
        return configured_bytes(
            capability, threads=threads, smem_bytes=smem, blocks_per_sm=resident, percent=carveout
        )
    return _arrays(capability, *inputs)


def _arrays(capability: Capability, threads: Any, regs: Any, smem: Any, carveout: Any) -> Any:
    import numpy as np

    from perfkit.analysis.sweep import blocks_per_sm

    t, r, s, c = (np.asarray(value) for value in (threads, regs, smem, carveout))
    # the carveout takes no part in residency here, but must be one
    resident = blocks_per_sm(capability, t, r, s, np.full(c.shape, NO_PREFERENCE))
    blocks_per_sm(capability, 32, 0, 0, c)
    launchable = np.minimum(s, capability.shared_memory.max_per_block_optin_bytes).astype(np.int64)
    configured = configured_bytes(
        capability,
        threads=np.clip(t, 1, capability.limits.max_threads_per_block).astype(np.int64),
        smem_bytes=launchable,
        blocks_per_sm=resident.astype(np.int64),
        percent=c.astype(np.int64),
        ops=np,
    )
    return np.where(resident == 0, 0, configured)
