"""The database against what the driver says of the card, capability and product."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.device.differences import Verdict, compare

pytestmark = pytest.mark.gpu


def test_the_card_is_known(card, figure):
    figure("card", f"{card.device.name}, {card.device.compute_capability}: {card.target.label}")
    assert card.target.gpu is not None, f"add {card.device.name!r} to archdb/gpu"


@pytest.mark.parametrize("what", ["capability", "product"])
def test_attributes(card, figure, what):
    target = card.target
    if what == "capability":
        (target,) = catalog.targets(str(card.device.compute_capability))
    rows = compare(card.device, target)
    for verdict in Verdict:
        figure(str(verdict), sum(row.verdict is verdict for row in rows))
    for row in rows:
        print(f"{row.verdict:12} {row.fact} = {row.database} / {row.device} {row.note or ''}")
    assert [row for row in rows if row.verdict is Verdict.DIFFERS] == []
    assert sum(row.verdict is Verdict.AGREES for row in rows) >= 15
