"""Where a measurement was made: what must be the same for two of them to be compared."""

from __future__ import annotations

from perfkit.record import record


@record
class Environment:
    """The card, what drives it, and perfkit itself. None: not told."""

    device: str  #: as the driver names it
    uuid: str
    product: str | None  #: of the database
    compute_capability: str
    sm_count: int
    driver: str | None  #: 580.159.04
    cuda: str  #: the newest that the driver speaks
    toolkit: str | None  #: of NVRTC
    max_sm_clock_hz: float | None
    mig: bool | None
    ecc: bool | None
    perfkit: str
    python: str
    packages: dict[str, str]
    date: str  #: UTC, ISO 8601
    notes: tuple[str, ...] = ()  #: what may disturb a measurement here
