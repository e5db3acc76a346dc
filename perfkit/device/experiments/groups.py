"""The groups of ceilings, and the task that measures one of them in a child process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.cuda_card import open_card
from perfkit.device.experiments.bandwidth import dram, l1, l2, shared
from perfkit.device.experiments.ceiling import Bench
from perfkit.device.experiments.issue import simt
from perfkit.device.experiments.latency import latency
from perfkit.device.experiments.tensor import tensor
from perfkit.device.experiments.transfer import launch, transfer
from perfkit.device.timing import Stopwatch

#: group -> experiment, in the order in which they are reported
GROUPS: Final[dict[str, Callable[[Bench], Iterator[Ceiling]]]] = {
    "dram": dram,
    "l2": l2,
    "l1": l1,
    "shared": shared,
    "simt": simt,
    "tensor": tensor,
    "latency": latency,
    "transfer": transfer,
    "launch": launch,
}


def measure_group(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Task ``ceilings``: the figures of ``group`` on the card that this process sees."""
    card = open_card()
    bench = Bench(card=card, stopwatch=Stopwatch(card), quick=bool(arguments.get("quick")))
    for ceiling in GROUPS[arguments["group"]](bench):
        yield asdict(ceiling)
    card.close()
