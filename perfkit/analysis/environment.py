"""Where a measurement was made: what must be the same for two of them to be compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


@record
class Environment:
    """The card, what drives it, and perfkit itself. None: not told."""

    index: int | None = None  #: as CUDA counts cards, of one of several; None: it is alone
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

    @property
    def name(self) -> str:
        """The card, for titles: ``NVIDIA H200``, one of several ``device 1: NVIDIA H200``."""
        return prefix(self.index) + self.device

    @property
    def titled(self) -> str:
        """The card and what it is in the database: ``NVIDIA H200 (h200-sxm)``."""
        return self.device + (f" ({self.product})" if self.product else "")

    @property
    def content(self) -> dict[str, Any]:
        """As JSON has it; the number is there where there are several cards to tell apart."""
        found = asdict(self)
        if self.index is None:
            del found["index"]
        return found


def label(index: int | None) -> str:
    """One of several cards, for the heads of columns."""
    return f"device {index}"


def prefix(index: int | None) -> str:
    """What begins a line about one of several cards.

    >>> prefix(1), prefix(None)
    ('device 1: ', '')
    """
    return "" if index is None else f"{label(index)}: "


def name_in(content: Mapping[str, Any]) -> str:
    """``Environment.name`` of one that JSON holds."""
    return f"{prefix(content.get('index'))}{content['device']}"


def whose(indices: Collection[int | None], cards: int) -> str:
    """The same for what is true of these of so many cards.

    >>> whose([0, 3], 8), whose([3], 8), whose([0, 1], 2), whose([None], 1)
    ('devices 0, 3: ', 'device 3: ', 'every card: ', '')
    """
    if cards < 2:
        return ""
    if len(indices) == cards:
        return "every card: "
    return f"device{'s'[: len(indices) - 1]} {', '.join(map(str, indices))}: "


def told(cards: Sequence[tuple[Environment, Iterable[str]]]) -> tuple[str, ...]:
    """What there is to say of each card, each text once; of several with the cards it is about."""
    found: dict[str, dict[int | None, None]] = {}
    for about, texts in cards:
        for text in texts:
            found.setdefault(text, {})[about.index] = None
    return tuple(whose(indices, len(cards)) + text for text, indices in found.items())
