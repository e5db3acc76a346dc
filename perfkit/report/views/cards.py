"""Which cards a report on several is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from perfkit.analysis.environment import label
from perfkit.report.document import Column, Table, Unit

if TYPE_CHECKING:
    from perfkit.analysis.environment import Environment

_COLUMNS: Final = (
    Column("card", "card"),
    Column("device", "name"),
    Column("uuid", "UUID"),
    Column("compute_capability", "capability"),
    Column("sm_count", "SMs", "count"),
    Column("max_sm_clock_hz", "highest SM clock", "hertz"),
    Column("ecc", "ECC", "yes"),
    Column("mig", "MIG", "yes"),
)


def title(cards: Sequence[Environment]) -> str:
    """``2 x NVIDIA H200 (h200-sxm)``; one alone has no number."""
    names = Counter(card.titled for card in cards)
    return ", ".join(f"{n} x {name}" if len(cards) > 1 else name for name, n in names.items())


def columns(cards: Sequence[Environment], unit: Unit = "text") -> Iterator[Column]:
    """A column for each card."""
    return (
        Column(f"card_{place}", label(card.index), unit=unit) for place, card in enumerate(cards)
    )


def table(cards: Sequence[Environment]) -> Table:
    """What each of them is."""
    rows = []
    for card in cards:
        values = {**card.content, "card": label(card.index), "device": card.titled}
        rows.append(tuple(values[column.key] for column in _COLUMNS))
    return Table(title="Cards", columns=_COLUMNS, rows=tuple(rows), collapsed=True)
