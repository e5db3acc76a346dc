"""A first look at a card: does a kernel run, and is nothing in the way of a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from perfkit.device.backend import launch_1d
from perfkit.device.cuda_card import open_card
from perfkit.device.nvml import Monitor
from perfkit.device.program import build


def probe(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Task ``probe``: hold the card for ``ns`` nanoseconds and say how long that took."""
    import numpy as np

    card = open_card()
    monitor = Monitor(card.device.uuid)
    (hold,) = build(card, "between.cu", ("hold",))
    start = card.mark()
    card.launch(hold, launch_1d(1, 1), (np.uint64(arguments.get("ns", 1_000_000)),))
    end = card.mark()
    yield {
        "name": card.device.name,
        "uuid": card.device.uuid,
        "seconds": card.seconds(start, end),
        "setup": asdict(monitor.setup()),
        "state": asdict(monitor.state()),
        "missing": monitor.missing,
    }
