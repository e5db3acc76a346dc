"""The checks of ``perfkit validate``, and the tasks that run them in a child process."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.validation import Tally
from perfkit.device.experiments.trial import Trial

_HERE: Final = "perfkit.device.experiments"
#: check -> module and function, a generator that takes a ``Trial``
CHECKS: Final = {
    "attributes": "attributes:attributes",
    "driver-occupancy": "driver_occupancy:driver_occupancy",
    "block-size": "driver_occupancy:block_size",
    "available-shared": "driver_occupancy:available_shared",
    "clusters": "clusters:clusters",
    "residency": "residency:residency",
    "fits": "launches:fits",
    "shared-capacity": "shared_capacity:shared_capacity",
    "access-counters": "access_counters:access_counters",
    "access-timing": "access_timing:access_timing",
    "overlap": "overlap_checks:overlap",
    "latency-hiding": "latency_hiding:latency_hiding",
    "bounds": "library_checks:bounds",
    "recommendation": "library_checks:recommendation",
}
#: check -> module and function that launches what a profiler watches
PROFILED: Final = {
    "shared-capacity": "shared_capacity:launch",
    "access-counters": "access_counters:launch",
}


def _found(place: str) -> Callable[[Trial], Any]:
    module, _, function = place.partition(":")
    found: Callable[[Trial], Any] = getattr(importlib.import_module(f"{_HERE}.{module}"), function)
    return found


def check(trial: Trial) -> Iterator[Tally]:
    """Run the check that the trial names."""
    found: Iterator[Tally] = _found(CHECKS[trial.name])(trial)
    return found


def run_check(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Task ``validate``: the tallies of one check on the card that this process sees."""
    for tally in check(Trial(**arguments)):
        yield asdict(tally)


def launch_profiled(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Task ``launch``: what check ``name`` wants to see under a profiler; says how much it was."""
    trial = Trial(**arguments)
    yield {"launches": _found(PROFILED[trial.name])(trial)}
