"""``run_child`` without a process: the task runs here, on a made-up card."""

from __future__ import annotations

from perfkit.device.child import End, Failure, Outcome
from perfkit.device.measure_task import READY, Place, measure_on
from perfkit.device.workloads.library import library
from perfkit.errors import DeviceError
from tests.device.fake_card import FakeCard, FakeMonitor


class Children:
    """``run_child`` in this process: each call is one child, with a card of its own."""

    def __init__(self, prepare=lambda card, number: None, monitor=FakeMonitor):
        self.prepare = prepare
        self.monitor = monitor
        self.requests = []
        self.before = lambda number: None

    def __call__(self, task, arguments, *, uuid, limits, monitor, on_result, stop):
        assert task == "measure"
        number = len(self.requests)
        self.requests.append({**arguments, "uuid": uuid, "limits": limits})
        if (failure := self.before(number)) is not None:
            return Outcome(results=(), failure=failure)
        card = FakeCard()
        for item in arguments["items"]:
            if item["kind"] == "workload":
                for sizes in library()[item["name"]].checks:
                    card.answer(library()[item["name"]].case(sizes))
        self.prepare(card, number)
        results, failure = [READY], None
        try:
            for result in measure_on(Place(card, self.monitor()), arguments):
                results.append(result)
                on_result(result)
        except DeviceError as error:
            failure = Failure(end=End.ERROR, message=error.message, hint=error.hint)
        return Outcome(results=tuple(results), failure=failure)
