"""The public functions behind ``import perfkit``: the models with names instead of dataclasses.

A ``target`` is a product (``"h100"``), a capability (``"9.0"``, ``"sm_90a"``) or one of the
dataclasses that ``perfkit.capability`` and ``perfkit.gpu`` return. Integers may be NumPy's.
"""

from __future__ import annotations

from perfkit.analysis import bounds
from perfkit.api.arrays import blocks_per_sm, configured_shared_bytes, fits, sweep
from perfkit.api.kernels import inspect, recommend
from perfkit.api.launches import (
    available_smem,
    block_sizes_reaching,
    carveout_bytes,
    max_potential_block_size,
    max_registers,
    occupancy,
)
from perfkit.api.targets import TargetLike
from perfkit.arch import catalog
from perfkit.errors import PerfkitError
from perfkit.models import banks, coalescing

__all__ = [
    "PerfkitError",
    "TargetLike",
    "available_smem",
    "block_sizes_reaching",
    "blocks_per_sm",
    "capability",
    "carveout_bytes",
    "configured_shared_bytes",
    "fits",
    "gemm",
    "gpu",
    "inspect",
    "max_potential_block_size",
    "max_registers",
    "occupancy",
    "recommend",
    "roofline",
    "sectors",
    "sweep",
    "wavefronts",
]

capability = catalog.capability
gpu = catalog.gpu
sectors = coalescing.sectors
wavefronts = banks.wavefronts
roofline = bounds.roofline
gemm = bounds.gemm
