"""Predictions held against a card: each check with numbers as what was measured over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from perfkit.analysis.environment import name_in
from perfkit.report.chart.model import Chart
from perfkit.report.charts import pairs

#: quantities of one check beside each other
_PANELS: Final = 3


def charts(content: Mapping[str, Any]) -> Iterator[Chart]:
    """A scatter for every check of every card that kept numbers."""
    return (
        chart
        for card in content["cards"]
        for check in card["checks"]
        for chart in _check(name_in(card["environment"]), check)
    )


def _check(device: str, check: Mapping[str, Any]) -> Iterator[Chart]:
    # a file of an earlier perfkit has none
    kept = check.get("pairs") or ()
    quantities = list(dict.fromkeys(one["what"] for one in kept))
    for start in range(0, len(quantities), _PANELS):
        here = quantities[start : start + _PANELS]
        yield Chart(
            title=f"{check['name']}: {device}",
            summary=_summary(check),
            panels=tuple(
                pairs.panel([one for one in kept if one["what"] == what], title=what)
                for what in here
            ),
        )


def _summary(check: Mapping[str, Any]) -> str:
    differing = f"{check['differing']:,} differ" if check["differing"] else "none differs"
    text = f"{check['compared']:,} compared, {differing}"
    if left := check.get("pairs_left_out"):
        text += f"; {left:,} more are not drawn"
    return text
