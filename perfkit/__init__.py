"""NVIDIA GPU occupancy and performance analysis, with no GPU needed.

Importing perfkit costs next to nothing: the names below load what they need on first use.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing would take longer to load than the rest of this file
if TYPE_CHECKING:
    from typing import Any

    from perfkit.api import (
        available_smem,
        blocks_per_sm,
        capability,
        carveout_bytes,
        configured_shared_bytes,
        fits,
        gemm,
        gpu,
        inspect,
        occupancy,
        recommend,
        roofline,
        sectors,
        sweep,
        wavefronts,
    )

__all__ = [
    "__version__",
    "available_smem",
    "blocks_per_sm",
    "capability",
    "carveout_bytes",
    "configured_shared_bytes",
    "fits",
    "gemm",
    "gpu",
    "inspect",
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
    from perfkit import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted(__all__)
