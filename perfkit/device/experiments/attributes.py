"""The database against what the driver says of the card, capability and product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perfkit.analysis.validation import Tally
from perfkit.device.differences import Verdict, compare
from perfkit.device.experiments.trial import Ledger

if TYPE_CHECKING:
    from perfkit.device.experiments.trial import Trial


def attributes(trial: Trial) -> Iterator[Tally]:
    """Every fact that both know."""
    card = trial.card
    ledger = Ledger()
    for row in compare(card.device, card.target):
        if row.verdict is Verdict.NOT_COMPARED:
            ledger.add("not told by the driver, or not known")
            continue
        ledger.compare(row.database, row.device, row.fact, agrees=row.verdict is Verdict.AGREES)
    if card.target.gpu is None:
        ledger.figures["product"] = f"the database has no {card.device.name!r}"
    else:
        ledger.figures["product"] = card.target.gpu.key
    yield ledger.tally()
