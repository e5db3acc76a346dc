"""NVIDIA GPU occupancy and performance analysis, with no GPU needed.

Importing perfkit costs next to nothing: the names below load what they need on first use.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing would take longer to load than the rest of this file
if TYPE_CHECKING:
    from typing import Any

    from perfkit import errors, gate
    from perfkit.api import (
        PerfkitError,
        available_smem,
        block_sizes_reaching,
        blocks_per_sm,
        capability,
        carveout_bytes,
        configured_shared_bytes,
        fits,
        gemm,
        gpu,
        inspect,
        max_potential_block_size,
        max_registers,
        occupancy,
        recommend,
        roofline,
        sectors,
        sweep,
        wavefronts,
    )

__all__ = [
    "PerfkitError",
    "__version__",
    "available_smem",
    "block_sizes_reaching",
    "blocks_per_sm",
    "capability",
    "carveout_bytes",
    "configured_shared_bytes",
    "errors",
    "fits",
    "gate",
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'perfkit' has no attribute {name!r}")
    if name in {"errors", "gate"}:
        from importlib import import_module

        return import_module(f"perfkit.{name}")
    from perfkit import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted(__all__)
