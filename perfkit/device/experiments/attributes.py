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
    device, target = trial.card.device, trial.target
    ledger = Ledger()
    for row in compare(device, target):
        if row.verdict is Verdict.NOT_COMPARED:
            ledger.add("not told by the driver, or not known")
            continue
        ledger.compare(row.database, row.device, row.fact, agrees=row.verdict is Verdict.AGREES)
    known = f"the database has no {device.name!r}" if target.gpu is None else target.gpu.key
    ledger.figures["product"] = known
    yield ledger.tally()
