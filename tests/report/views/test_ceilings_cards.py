"""Ceilings of several cards beside each other."""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.measured_ceilings import Compared
from perfkit.report.views import ceilings_cards
from tests.report.measured import CEILINGS_OF_TWO, ceiling


def latencies(*figures):
    """Of one card, by unit, as the chase through L2 gives them."""
    return tuple(
        Compared(
            ceiling=ceiling("latency", "l2", value, unit),
            datasheet=None,
            share=None,
            share_at_clock=None,
        )
        for value, unit in figures
    )


def test_a_latency_in_cycles_and_in_seconds_is_two_figures():
    first, second = CEILINGS_OF_TWO
    reports = (
        replace(first, ceilings=latencies((294.0, "cycles"), (1.5e-7, "s"))),
        replace(second, ceilings=latencies((294.0, "cycles"), (1.8e-7, "s"))),
    )
    (table, _) = ceilings_cards.document(reports).tables
    keys = [column.key for column in table.columns]
    shown = [dict(zip(keys, row, strict=True)) for row in table.rows]
    assert [one["card_1"].text for one in shown] == ["294 cycles", "180 ns"]
    # the clock of the second is lower: its cycles are as many, and take longer
    assert [one["slowest"] for one in shown] == [None, "device 1"]
