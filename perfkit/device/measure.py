"""``perfkit measure``: several runs of kernels, each run in a child, on one card or several.

One child takes all items in turn, so that a run costs one start. An item that hangs, crashes or
fails ends its child; the next child goes on with the items after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.environment import prefix
from perfkit.analysis.measurement import Device as Measured
from perfkit.analysis.measurement import Failed, MeasureReport
from perfkit.device.cards import Cards, number
from perfkit.device.child import End, Failure, Limits, Outcome, run_child
from perfkit.device.environment import environment, neighbours
from perfkit.device.machine import ceilings_of, machine_of
from perfkit.device.measured import measurement
from perfkit.device.nvml import Monitor
from perfkit.device.timing import Sampling
from perfkit.errors import UnknownTarget
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.prediction import Demand, Machine
    from perfkit.device.properties import Device
    from perfkit.device.workload import Case
    from perfkit.models.roofs import Ceilings

#: what opening the card and compiling may take on top of the items
_START_S: Final = 60.0
Run = Callable[..., Outcome]


@record
class Item:
    """One thing to measure. ``payload`` is what the child gets, JSON."""

    key: str
    name: str
    summary: str
    sizes: Mapping[str, int]
    cold: bool
    payload: Mapping[str, Any]
    demand: Demand
    case: Case | None = None  #: None: Python code
    not_on: frozenset[str] = frozenset()  #: UUIDs of cards that cannot run it


@record
class Plan:
    """How much is measured, and what it may take."""

    runs: int = 3
    samples: int = 30
    most_seconds: float = 3.0  #: of samples of one item in one run
    warmup_s: float = 0.05
    rest_s: float = 0.0  #: before each burst
    time_limit_s: float = 60.0  #: of one item in one run, without its rests
    memory_limit_bytes: int | None = None  #: of host and card each; None: 64 GiB, the whole card

    @property
    def sampling(self) -> dict[str, Any]:
        """What ``Sampling`` is made of in the child, the caches apart."""
        return {
            "samples": self.samples,
            "most_seconds": self.most_seconds,
            "warmup_s": self.warmup_s,
            "rest_s": self.rest_s,
        }

    def limit_s(self, item: Item) -> float:
        """What a run of an item may take: rests must not pass for a kernel that hangs."""
        staged = item.case.staged if item.case else None
        # Python code by marks, and where they do not see it by the host's clock
        timed = 1 + (len(staged.stages) if staged else item.case is None)
        return self.time_limit_s + timed * Sampling(**self.sampling).most_resting_s


def measure(
    items: Sequence[Item],
    devices: Sequence[Device],
    plan: Plan,
    *,
    ceilings: Sequence[Ceilings] = (),
    tell: Callable[[str], None] = lambda _: None,
    run: Run = run_child,
) -> MeasureReport:
    """Measure every item on every device, the devices at the same time.

    Ctrl-C ends what runs and keeps what is done.

    Args:
        items: what to measure.
        devices: where.
        plan: how much.
        ceilings: measured ones, in place of the data sheet: of each card of a file.
        tell: called with what is being done.
        run: how a child is run.

    Raises:
        UsageError: the ceilings are those of another card.
    """
    cards = Cards()
    sessions = [
        _Session(device, number(device, devices), plan, ceilings, tell, run, cards)
        for device in devices
    ]
    found = cards.side_by_side([partial(session.all, items) for session in sessions])
    interrupted = cards.stopped() or any(session.interrupted for session in sessions)
    return MeasureReport(devices=found, interrupted=interrupted)


class _Session:
    """All runs on one device."""

    def __init__(
        self,
        device: Device,
        index: int | None,
        plan: Plan,
        ceilings: Sequence[Ceilings],
        tell: Callable[[str], None],
        run: Run,
        cards: Cards,
    ) -> None:
        self._device = device
        self._index = index
        self._plan = plan
        self._tell = tell
        self._run = run
        self._cards = cards
        self._monitor = Monitor(device.uuid)
        self._machine: Machine | None = None
        self._lacks: tuple[str, ...] = ()
        try:
            self._machine = machine_of(device, ceilings_of(device, ceilings))
            self._lacks = self._machine.missing
        except UnknownTarget as error:
            self._lacks = (error.message,)
        self._results: dict[str, list[dict[str, Any]]] = {}
        self._failures: dict[str, Failed] = {}
        self._failure: Failed | None = None  # of the card, whatever the item
        self._known: set[int] = set()  # other processes that were on the card
        self._late: list[str] = []  # notes about those that came while it was measured
        self.interrupted = False

    def all(self, items: Sequence[Item]) -> Measured:
        """Every run of every item."""
        setup = self._monitor.setup()
        about = environment(self._device, self._monitor, setup, index=self._index)
        items = [item for item in items if self._device.uuid not in item.not_on]
        self._known = set(neighbours(setup))
        self._refuse_too_large(items)
        for run in range(self._plan.runs):
            if not self.interrupted and self._failure is None:
                self._once(items, run)
                self._look_around()
        machine = self._machine
        return Measured(
            environment=replace(about, notes=(*about.notes, *self._late)),
            measurements=tuple(
                measurement(
                    item,
                    self._results.get(item.key, []),
                    self._failures.get(item.key),
                    self._device,
                    machine,
                    rest_s=self._plan.rest_s,
                )
                for item in items
                if item.key in self._results or item.key in self._failures
            ),
            basis=_basis(machine),
            missing=self._lacks,
            failure=self._failure,
        )

    def _look_around(self) -> None:
        """Who has come onto the card; between runs no child of this process is."""
        for pid, note in neighbours(self._monitor.setup()).items():
            if pid not in self._known:
                self._known.add(pid)
                self._late.append(note)

    def _refuse_too_large(self, items: Sequence[Item]) -> None:
        limit, whose = self._device.memory_bytes, "the card has"
        cap = self._plan.memory_limit_bytes
        if cap is not None and cap < limit:
            limit, whose = cap, "--memory-limit is"
        for item in items:
            if item.case is not None and item.case.footprint_bytes > limit:
                needs = f"{item.case.footprint_bytes / 2**30:.1f}"
                self._failures[item.key] = Failed(
                    message=f"its data take {needs} GiB, {whose} {limit / 2**30:.1f} GiB",
                    hint="take smaller sizes",
                    exit_code=2,
                )

    def _once(self, items: Sequence[Item], run: int) -> None:
        """Run number ``run`` of all that can still be run, in as many children as it takes."""
        left = [item for item in items if item.key not in self._failures]
        while left and not self.interrupted:
            outcome = self._child(left, run)
            done = {result.get("item") for result in outcome.results}
            left = [item for item in left if item.key not in done]
            failure = outcome.failure
            if failure is None:
                return
            if failure.end is End.INTERRUPTED:
                self.interrupted = True
            elif not outcome.results:  # not even the card could be opened
                self._failure = failed(failure)
                return
            elif left:
                self._failures[left.pop(0).key] = failed(failure)

    def _child(self, items: Sequence[Item], run: int) -> Outcome:
        plan = self._plan
        waiting = {item.key: item.name for item in items}

        def took(result: dict[str, Any]) -> None:
            key = result.get("item")
            if key is not None:
                waiting.pop(key, None)
                self._take(key, result)
            if waiting:
                what = f"{next(iter(waiting.values()))}, run {run + 1} of {plan.runs}"
                self._tell(prefix(self._index) + what)

        cap = plan.memory_limit_bytes
        limits = {} if cap is None else {"host_bytes": cap, "device_bytes": cap}
        return self._run(
            "measure",
            {
                "items": [{"key": item.key, "cold": item.cold, **item.payload} for item in items],
                "sampling": plan.sampling,
                "check": run == 0,
            },
            uuid=self._device.uuid,
            limits=Limits(
                seconds=_START_S + sum(map(plan.limit_s, items)),
                silent_seconds=max(map(plan.limit_s, items)),
                **limits,
            ),
            monitor=self._monitor,
            on_result=took,
            stop=self._cards.stopped,
        )

    def _take(self, key: str, result: dict[str, Any]) -> None:
        if "error" in result:
            self._failures[key] = Failed(**result["error"])
        else:
            self._results.setdefault(key, []).append(result)


def failed(failure: Failure) -> Failed:
    """A child's failure, as a report has it."""
    return Failed(
        message=failure.told,
        hint=failure.hint,
        exit_code=failure.exit_code,
        log=failure.log,
    )


def _basis(machine: Machine | None) -> str:
    if machine is None:
        return "nothing"
    if machine.ceilings is not None:
        return f"measured ceilings: {machine.ceilings.origin}"
    return "the driver's answers" if machine.missing else f"the data sheet of {machine.gpu.key}"
