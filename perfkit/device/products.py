"""Which product of the database a card is, from what its driver tells.

The name alone does not decide. Drivers print one name for boards that differ in memory
(``RTX 4060 Ti``) and, on Jetson, only the chip's (``Orin``); a MIG slice carries the name of a
whole card. So the name picks a few products, and SMs, memory and clock pick one of them or none: a
card with other SMs than a product has is not that product.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from perfkit.arch import catalog
from perfkit.errors import UnknownTarget

if TYPE_CHECKING:
    from perfkit.arch.types import ComputeCapability, Gpu

#: what a name says of the memory, and remarks: not part of a product's family
_REMARKS: Final = re.compile(r"\(.*?\)|\b\d+\s?GB\b", re.IGNORECASE)
_GIB: Final = 1024**3
#: Of the data sheet's memory the driver shows less (ECC, firmware, the host's share on Jetson),
#: 0.92 on an 8 GB Jetson; two products of one name differ by a third and more.
_MEMORY_SHARE: Final = (0.85, 1.05)


def product(
    name: str,
    capability: ComputeCapability,
    *,
    sm_count: int,
    memory_bytes: int,
    clock_hz: int | None,
) -> Gpu | None:
    """The product, or None if the database has none that fits.

    Args:
        name: as the driver prints it.
        capability: of the card.
        sm_count: SMs that the driver offers.
        memory_bytes: as the driver reports it.
        clock_hz: highest SM clock, if the driver tells; only chooses among several that fit.
    """
    fitting = [
        gpu
        for gpu in _named(name, capability)
        if gpu.sm_count == sm_count
        and _MEMORY_SHARE[0] <= memory_bytes / (gpu.memory.size_gib * _GIB) <= _MEMORY_SHARE[1]
    ]
    return min(fitting, key=lambda gpu: _distance(gpu, clock_hz), default=None)


def _distance(gpu: Gpu, clock_hz: int | None) -> int:
    if clock_hz is None or gpu.boost_clock_hz is None:
        return 0
    return abs(gpu.boost_clock_hz - clock_hz)


def _named(name: str, capability: ComputeCapability) -> list[Gpu]:
    """Products that the name can mean: the one it names first, then those named alike."""
    try:
        named = catalog.gpu(name)
    except UnknownTarget:
        return []
    if named.compute_capability != capability:
        return []
    alike = [
        gpu
        for gpu in catalog.all_gpus()
        if gpu.key != named.key
        and gpu.compute_capability == capability
        and (_family(gpu) == _family(named) or gpu.segment == named.segment == "embedded")
    ]
    return [named, *alike]


def _family(gpu: Gpu) -> str:
    return catalog.normalise(_REMARKS.sub("", gpu.name))
