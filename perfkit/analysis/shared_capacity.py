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
        return _one(capability, *inputs)
    return _arrays(capability, *inputs)


def _one(capability: Capability, threads: int, regs: int, smem: int, carveout: int) -> int:
    percent = None if carveout == NO_PREFERENCE else carveout
    # only checks the preference: residency is that of a launch without one
    occupancy(capability, threads=threads, regs=regs, smem=smem, carveout=percent)
    resident = occupancy(capability, threads=threads, regs=regs, smem=smem).blocks_per_sm
    if resident == 0:
        return 0
    found: int = configured_bytes(
        capability, threads=threads, smem_bytes=smem, blocks_per_sm=resident, percent=carveout
    )
    return found


def _arrays(capability: Capability, threads: Any, regs: Any, smem: Any, carveout: Any) -> Any:
    import numpy as np

    from perfkit.analysis.sweep import blocks_per_sm, check_shapes, integers

    t, r, s, c = (
        integers(name, value, low, high).astype(np.int64)
        for name, value, low, high in (
            ("threads", threads, 0, None),
            ("regs", regs, 0, None),
            ("smem", smem, 0, None),
            ("carveout", carveout, NO_PREFERENCE, 100),
        )
    )
    check_shapes({"threads": t, "regs": r, "smem": s, "carveout": c})
    # the carveout takes no part in residency
    resident = blocks_per_sm(capability, t, r, s)
    configured = configured_bytes(
        capability,
        threads=np.clip(t, 1, capability.limits.max_threads_per_block),
        smem_bytes=np.minimum(s, capability.shared_memory.max_per_block_optin_bytes),
        blocks_per_sm=resident.astype(np.int64),
        percent=c,
        ops=np,
    )
    return np.where(resident == 0, 0, configured)
