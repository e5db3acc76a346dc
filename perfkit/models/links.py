"""How fast a link between host and GPU is: on paper, and what copies were seen to reach.

Packet headers and flow control take a part of the rate on paper, so that copies of page-locked
memory reach about ``seen / paper`` of it, whatever the number of lanes. Both directions at once
slow each other down: either keeps ``duplex_share`` of its rate.

Formula:
    paper = transfers per second * lanes * encoding / 8
    encoding = 8/10 in generation 2, 128/130 in 3 to 5, 236/256 in 6
    copies = seen over 16 lanes * lanes / 16

Units: bytes/s of one direction.

Source: PCI Express Base Specification for the rates; what was seen names its own.

Valid: large copies by a copy engine; what someone measured on their machine is better.

>>> from perfkit.models.links import link
>>> found = link("pcie4x16")
>>> round(found.peak_bytes_per_s / 1e9, 1), found.h2d_bytes_per_s / 1e9, found.source
(31.5, 25.17, 'nvbandwidth 0.5, A10: 25.2 GB/s over PCI Express 4.0')
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from perfkit.errors import UsageError


class _Generation(NamedTuple):
    transfers_per_s: float  #: of one lane
    encoding: float  #: share of what is on the wire that is data
    seen_x16_bytes_per_s: float | None  #: by pinned copies over 16 lanes
    duplex_share: float
    source: str


class Link(NamedTuple):
    """One link between host and GPU; rates of one direction, in bytes/s."""

    name: str
    peak_bytes_per_s: float
    h2d_bytes_per_s: float  #: what copies of pinned memory reach; the peak where nobody looked
    d2h_bytes_per_s: float
    duplex_share: float  #: of its rate that a copy keeps while one goes the other way
    source: str  #: of what copies reach


#: nvbandwidth's own example: 12.36 GB/s alone, 11.16 with copies the other way
_DUPLEX: Final = 0.90
#: one H200 over 5.0 x16: 55.2 GB/s alone, 46.9 and 49.3 with copies the other way
_DUPLEX_H200: Final = 0.87

_PCIE_GENERATIONS: Final = {
    2: _Generation(
        5e9, 8 / 10, 6e9, _DUPLEX, "NVIDIA CUDA FAQ: up to 6.0 GB/s over PCI Express 2.0"
    ),
    3: _Generation(
        8e9,
        128 / 130,
        12e9,
        _DUPLEX,
        "CUDA Best Practices Guide, Pinned Memory: about 12 GB/s over PCI Express 3.0 x16",
    ),
    4: _Generation(
        16e9, 128 / 130, 25.17e9, _DUPLEX, "nvbandwidth 0.5, A10: 25.2 GB/s over PCI Express 4.0"
    ),
    5: _Generation(
        32e9, 128 / 130, 55.2e9, _DUPLEX_H200, "one H200: 55.2 GB/s over PCI Express 5.0 x16"
    ),
    6: _Generation(
        64e9,
        236 / 256,
        None,
        _DUPLEX_H200,
        "the rate on paper, no measurement over PCI Express 6.0 is known",
    ),
}
_LANES: Final = (1, 2, 4, 8, 16)

#: of a Grace Hopper superchip: 900 GB/s in both directions together
NVLINK_C2C: Final = Link(
    name="nvlink-c2c",
    peak_bytes_per_s=450e9,
    h2d_bytes_per_s=337.55e9,
    d2h_bytes_per_s=295.23e9,
    duplex_share=160.02 / 337.55,
    source="nvbandwidth 0.6, GH200: 337.6 GB/s to the GPU, 295.2 GB/s back",
)

#: Pageable copies go through a staging buffer that the CPU fills, so they depend on the CPU and its
#: caches, not on the link: 6.3 to 17.5 GB/s on hosts of an H200, 5.4 and 5.6 on a desktop of 2012
#: (M. Harris, How to Optimize Data Transfers in CUDA C/C++, NVIDIA Developer Blog). Not over
#: NVLink-C2C: there the GPU reads pageable memory by the host's page tables (G. Schieffer et al.,
#: Harnessing Integrated CPU-GPU System Memory for HPC, 2024), and no rate of copies is published.
PAGEABLE_BYTES_PER_S: Final = 6e9

_PCIE: Final = re.compile(r"pcie(?:gen)?([0-9])(?:\.0)?(?:x([0-9]{1,2}))?", re.ASCII)
_HINT: Final = "write pcie4x16, pcie5x8, … or nvlink-c2c"


def link(text: str) -> Link:
    """The link named ``pcie4x16``, ``pcie-gen5`` (16 lanes) or ``nvlink-c2c``.

    Raises:
        UsageError: no link that is known.

    >>> round(link("pcie4x16").peak_bytes_per_s / 1e9, 1)
    31.5
    """
    name = re.sub(r"[\s_-]", "", text.lower())
    if name in {"nvlinkc2c", "c2c"}:
        return NVLINK_C2C
    match = _PCIE.fullmatch(name)
    if match is None:
        raise UsageError(f"{text!r} is not a link that is known", hint=_HINT)
    generation, lanes = int(match[1]), int(match[2] or 16)
    if generation not in _PCIE_GENERATIONS or lanes not in _LANES:
        raise UsageError(f"PCI Express {generation}.0 x{lanes} is not known", hint=_HINT)
    of_16 = _PCIE_GENERATIONS[generation]
    peak = of_16.transfers_per_s * lanes * of_16.encoding / 8
    seen = peak if of_16.seen_x16_bytes_per_s is None else of_16.seen_x16_bytes_per_s * lanes / 16
    return Link(
        name=f"pcie{generation}x{lanes}",
        peak_bytes_per_s=peak,
        h2d_bytes_per_s=seen,
        d2h_bytes_per_s=seen,
        duplex_share=of_16.duplex_share,
        source=of_16.source,
    )
