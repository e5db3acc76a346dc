"""The child's side of ``perfkit measure``: one run of each item, on the one card it sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from perfkit.device.bench import Bench
from perfkit.device.cuda_card import open_card
from perfkit.device.timing import Sampling, Stopwatch
from perfkit.device.workloads.library import library
from perfkit.errors import DeviceError, PerfkitError

if TYPE_CHECKING:
    pass


def measure(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Task ``measure``: one run of each of ``items``.

    An item that cannot be asked for is reported and left out; one that fails on the card ends the
    task, because the card's context is of no use afterwards.
    """
    bench: Bench | None = None
    for item in arguments["items"]:
        try:
            bench = bench or _open()
            yield {"item": item["key"], **_one(bench, item, arguments)}
        except DeviceError:
            raise
        except PerfkitError as error:
            yield {"item": item["key"], "error": told(error)}


def _open() -> Bench:
    card = open_card()
    return Bench(card, Stopwatch(card))


def told(error: PerfkitError) -> dict[str, Any]:
    """An error as JSON."""
    return {
        "message": error.message,
        "hint": error.hint,
        "where": error.where,
        "exit_code": error.exit_code,
    }


def _one(bench: Bench, item: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    workload = library()[item["workload"]]
    sizes = item["sizes"]
    found: dict[str, Any] = {"checks": []}
    if arguments["check"]:
        for check in workload.checks:
            case = workload.case(check)
            found["checks"] += [asdict(one) | {"right": one.is_right} for one in bench.check(case)]
    case = workload.case(sizes)
    found["facts"] = asdict(bench.facts(case))
    found["timing"] = bench.time(case, _sampling(item, arguments))
    return found


def _sampling(item: Mapping[str, Any], arguments: Mapping[str, Any]) -> Sampling:
    return Sampling(**arguments["sampling"], cold=item["cold"])
