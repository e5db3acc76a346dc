"""The child's side of ``perfkit measure``: one run of each item, on the one card it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from perfkit.device.bench import Bench
from perfkit.device.callable_bench import time_callable
from perfkit.device.cuda_card import open_card
from perfkit.device.timing import Sampling, Stopwatch
from perfkit.device.user_code import load, prepared
from perfkit.device.user_kernel import KernelSpec, case_of
from perfkit.device.workloads.library import library
from perfkit.errors import DeviceError, PerfkitError

if TYPE_CHECKING:
    from perfkit.device.backend import Card
    from perfkit.device.nvml import Monitor
    from perfkit.device.workload import Case


class Place:
    """The card and what is set up on it, once for all items."""

    def __init__(self, card: Card, monitor: Monitor | None = None) -> None:
        self.card = card
        self.stopwatch = Stopwatch(card, monitor)
        self.bench = Bench(card, self.stopwatch)


#: what comes first: up to here nothing has to do with any of the items
READY: Final = {"ready": True}


def measure(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Task ``measure``: one run of each of ``items``.

    An item that cannot be asked for is reported and left out; one that fails on the card ends the
    task, because the card's context is of no use afterwards.
    """
    legacy = any(item["kind"] == "python" for item in arguments["items"])
    place = Place(open_card(legacy=legacy))
    yield READY
    yield from measure_on(place, arguments)


def measure_on(place: Place, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The same, on a card that is there."""
    for item in arguments["items"]:
        sampling = Sampling(**arguments["sampling"], cold=item["cold"])
        try:
            found = _KINDS[item["kind"]](place, item, sampling, arguments["check"])
        except DeviceError:
            raise
        except PerfkitError as error:
            found = {"error": told(error)}
        yield {"item": item["key"], **found}


def told(error: PerfkitError) -> dict[str, Any]:
    """An error as JSON."""
    return {
        "message": str(error),
        "hint": error.hint,
        "exit_code": error.exit_code,
        "log": getattr(error, "log", ""),
    }


def _workload(
    place: Place,
    item: Mapping[str, Any],
    sampling: Sampling,
    check: bool,  # noqa: FBT001
) -> dict[str, Any]:
    workload = library()[item["name"]]
    checks = item.get("checks", workload.checks)
    cases = [workload.case(sizes) for sizes in checks] if check else []
    return _measured(place.bench, workload.case(item["sizes"]), cases, sampling)


def _kernel(
    place: Place,
    item: Mapping[str, Any],
    sampling: Sampling,
    check: bool,  # noqa: FBT001
) -> dict[str, Any]:
    spec = item["spec"]
    lists = {name: tuple(spec[name]) for name in ("arguments", "defines")}
    case = case_of(KernelSpec(**{**spec, **lists}))
    return _measured(place.bench, case, [case] if check else [], sampling)


def _python(
    place: Place,
    item: Mapping[str, Any],
    sampling: Sampling,
    check: bool,  # noqa: FBT001, ARG001
) -> dict[str, Any]:
    work, end = prepared(load(item["function"], "--python"))
    timing = time_callable(place.card, place.stopwatch, work, sampling)
    end()
    return {"checks": [], "facts": None, "timing": timing}


def _measured(bench: Bench, case: Case, checks: list[Case], sampling: Sampling) -> dict[str, Any]:
    found = [one for checked in checks for one in bench.check(checked)]
    return {
        "checks": [asdict(one) | {"right": one.is_right} for one in found],
        "facts": asdict(bench.facts(case)),
        "timing": bench.time(case, sampling),
    }


_KINDS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "workload": _workload,
    "kernel": _kernel,
    "python": _python,
}
