"""JSON content of a result -> charts, one module a topic.

Content, not records: what a command draws and what ``perfkit report`` draws from a file months
later is the same by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perfkit.report.chart.model import Chart

#: topic of the content -> module in this package
TOPICS: Final = {
    "occupancy": "occupancy",
    "sweep": "sweep",
    "carveout": "carveout",
    "roofline": "roofline",
    "gemm": "gemm",
    "gemm-rank": "gemm_rank",
    "tuning": "tuning",
    "access-banks": "banks",
    "overlap": "overlap",
    "measure": "measure",
    "validate": "validate",
}


def of(topic: str, content: Mapping[str, Any], *, most: int | None = None) -> tuple[Chart, ...]:
    """The charts of one result; none for a topic without, or where there is nothing to draw.

    Args:
        topic: of the content.
        content: of the result.
        most: how many; None: all. The others are not even worked out.
    """
    if topic not in TOPICS:
        return ()
    module = import_module(f"perfkit.report.charts.{TOPICS[topic]}")
    found: Iterable[Chart] = module.charts(content)
    return tuple(islice(found, most))


def overview(topic: str, contents: Sequence[Mapping[str, Any]]) -> tuple[Chart, ...]:
    """Charts of many results of one topic at once, for topics that have such."""
    if topic != "occupancy":
        return ()
    from perfkit.report.charts import occupancy

    return occupancy.overview(contents)
