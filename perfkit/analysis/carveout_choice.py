"""Which carveout preference to set: the one that leaves L1 most and costs no resident block.

Every percentage is tried. Residency under a preference is that of the hardware rule where it was
measured; elsewhere that of the occupancy API, which is never above it. The capacity that the driver
then configures, and so what is left for L1, is ``models.carveout.configured_bytes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.models.carveout import (
    NO_PREFERENCE,
    configured_bytes,
    l1_bytes,
    shared_block_limit,
)
from perfkit.models.ops import SCALAR
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.launch import Launch
    from perfkit.arch.types import Capability


@record
class CarveoutChoice:
    """What to set for one launch on one capability."""

    percent: int | None  #: None: leave the default, nothing is better
    last_percent: int | None  #: the same up to here
    configured_bytes: int  #: of shared memory, under this preference
    l1_bytes: int
    default_l1_bytes: int  #: without a preference
    evidence: str  #: measured | assumed on this capability; dedicated: nothing to configure


@record
class _Setting:
    """One preference: -1 or 0..100."""

    percent: int
    keeps: bool  #: as many blocks as without a preference
    configured_bytes: int
    l1_bytes: int


def choose(capability: Capability, launch: Launch) -> CarveoutChoice:
    """The preference for ``launch``, which fits."""
    settings = _settings(capability, launch)
    default, best = settings[0], _best(settings)
    same = [
        s.percent
        for s in settings[1:]
        if s.keeps and s.configured_bytes == best.configured_bytes and s.percent >= best.percent
    ]
    last = best.percent
    while last + 1 in same:
        last += 1
    is_default = best.percent == NO_PREFERENCE
    return CarveoutChoice(
        percent=None if is_default else best.percent,
        last_percent=None if is_default else last,
        configured_bytes=best.configured_bytes,
        l1_bytes=best.l1_bytes,
        default_l1_bytes=default.l1_bytes,
        evidence=capability.shared_memory.carveout_evidence or "dedicated",
    )


def choose_for_all(launches: Sequence[tuple[Capability, Launch]]) -> int | None:
    """One percentage that costs no block anywhere; None: none is better than the default.

    Maximises the smallest share of the default's L1 that is left, then the sum of shares.
    """
    tables = [
        _settings(capability, launch)
        for capability, launch in launches
        if capability.shared_memory.configurable
    ]

    def gains(index: int) -> tuple[float, float]:
        shares = [
            table[index].l1_bytes / table[0].l1_bytes if table[0].l1_bytes else 1.0
            for table in tables
        ]
        return round(min(shares), 9), round(sum(shares), 9)

    if not tables:
        return None
    allowed = [index for index in range(102) if all(table[index].keeps for table in tables)]
    best = max(allowed, key=lambda index: (*gains(index), -index))
    return None if best == 0 else tables[0][best].percent


def _best(settings: Sequence[_Setting]) -> _Setting:
    """Most L1; of equals none, then the smallest percentage."""
    return max((s for s in settings if s.keeps), key=lambda s: (s.l1_bytes, -s.percent))


def _settings(capability: Capability, launch: Launch) -> list[_Setting]:
    """No preference first; it is the only one where shared memory is dedicated."""
    shared = capability.shared_memory
    rule = "hardware" if shared.carveout_evidence == "measured" else "driver"
    blocks = replace(launch, carveout=None).on(capability).blocks_per_sm
    found = []
    for percent in range(NO_PREFERENCE, 101) if shared.configurable else (NO_PREFERENCE,):
        # the other limits do not depend on it
        fit = shared_block_limit(shared, launch.smem, percent, rule=rule, opt_in=True, ops=SCALAR)
        configured = configured_bytes(
            capability,
            threads=launch.threads,
            smem_bytes=launch.smem,
            blocks_per_sm=blocks,
            percent=percent,
        )
        found.append(
            _Setting(
                percent=percent,
                keeps=fit >= blocks or percent == NO_PREFERENCE,
                configured_bytes=configured,
                l1_bytes=l1_bytes(capability.l1, configured),
            )
        )
    return found
