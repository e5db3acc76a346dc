"""Ceilings as measured on a card, beside what its data sheet says.

``perfkit.readers.ceilings`` reads them back from a file, as bounds for other questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.models.roofs import levels, roofs
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.analysis.environment import Environment
    from perfkit.arch.types import Target

#: group of memory figures -> level of the model; shared memory and L1 are one there
LEVELS: Final = {"dram": "dram", "l2": "l2", "l1": "l1", "shared": "l1"}

#: the message of a group that Ctrl-C ended
INTERRUPTED: Final = "interrupted"


@record
class Ceiling:
    """A figure of the card.

    ``unit`` is ``bytes_per_s``, ``flop_per_s``, ``op_per_s``, ``s`` or ``cycles``. Rates are the
    best, latencies and times the median.
    """

    group: str  #: what is driven: ``dram``, ``l2``, ``simt``, ``tensor``, ``latency``, ``transfer``
    name: str  #: how: ``read``, ``bf16/f32 wgmma``
    value: float
    unit: str
    how: str  #: the launch shape or instruction that gave it
    tried: int  #: ways that were tried
    median_of: int  #: samples behind the figure
    sm_clock_hz: float | None = None  #: mean while it ran
    throttles: tuple[str, ...] = ()  #: what held the clocks down meanwhile
    dtype: str | None = None
    accumulate: str | None = None
    compute_unit: str | None = None  #: ``simt`` | ``tensor``


@record
class Compared:
    """A ceiling beside the data sheet's; shares are None where the data sheet has no figure."""

    ceiling: Ceiling
    datasheet: float | None  #: in the ceiling's unit
    share: float | None  #: of it
    #: of what the data sheet's rate is at the clock that the SMs had; DRAM has a clock of its own
    share_at_clock: float | None


@record
class Unmeasured:
    """A group that did not finish, and why."""

    group: str
    message: str
    hint: str | None = None


@record
class CeilingsReport:
    """All figures of one card."""

    environment: Environment
    ceilings: tuple[Compared, ...]
    unmeasured: tuple[Unmeasured, ...]

    @property
    def interrupted(self) -> bool:
        return any(one.message == INTERRUPTED for one in self.unmeasured)


def compared(found: Iterable[Ceiling], target: Target | None) -> tuple[Compared, ...]:
    """Each ceiling beside the figure of ``target``'s data sheet; None: an unknown product."""
    return tuple(_compared(ceiling, target) for ceiling in found)


def _compared(ceiling: Ceiling, target: Target | None) -> Compared:
    published, clock_hz = _datasheet(ceiling, target) if target else (None, None)
    share = ceiling.value / published if published else None
    at_clock = None
    if share is not None and clock_hz and ceiling.sm_clock_hz:
        at_clock = share * clock_hz / ceiling.sm_clock_hz
    return Compared(ceiling=ceiling, datasheet=published, share=share, share_at_clock=at_clock)


def _datasheet(ceiling: Ceiling, target: Target) -> tuple[float | None, float | None]:
    """The data sheet's figure for a ceiling, and the clock of the SMs that it is for."""
    if target.gpu is None:
        return None, None
    if ceiling.group in LEVELS:
        for level in levels(target.gpu, target.capability):
            if level.name == LEVELS[ceiling.group]:
                return level.bytes_per_s, level.clock_hz
    if ceiling.compute_unit is not None:
        for roof in roofs(target.gpu, target.capability):
            wanted = (ceiling.dtype, ceiling.accumulate, "dense", ceiling.compute_unit)
            if wanted == (roof.dtype, roof.accumulate, roof.sparsity, roof.unit):
                return roof.flop_per_s, roof.clock_hz
    return None, None
