"""The public functions behind ``import perfkit``: the models with names instead of dataclasses.

A ``target`` is a product (``"h100"``), a capability (``"9.0"``, ``"sm_90a"``) or one of the
dataclasses that ``perfkit.capability`` and ``perfkit.gpu`` return. Integers may be NumPy's.
``perfkit.__all__`` says which of the names here are public.
"""

# ruff: noqa: F401

from __future__ import annotations

from perfkit.api.arrays import blocks_per_sm, configured_shared_bytes, fits, sweep
from perfkit.api.bounds import gemm, roofline
from perfkit.api.kernels import inspect, recommend
from perfkit.api.launches import (
    available_smem,
    block_sizes_reaching,
    carveout_bytes,
    max_potential_block_size,
    max_registers,
    occupancy,
)
from perfkit.arch import catalog
from perfkit.errors import PerfkitError
from perfkit.models import banks, coalescing

capability = catalog.capability
gpu = catalog.gpu
sectors = coalescing.sectors
wavefronts = banks.wavefronts
