"""``perfkit gate run``: programs in turn, until the gate can tell or there is no more time.

Each pair is a run of both sides in random order, so that what drifts hits both alike and a change
of the order changes nothing where the code is the same. After each pair the comparison is asked, at
a share of the risk that is fixed beforehand (``gate.looks``). Against a recorded baseline only the
candidate runs.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.device.collect import Side, interruptible, results
from perfkit.errors import UsageError
from perfkit.gate.collected import Attempt, GateRun, Stopped
from perfkit.gate.looks import Looks, least_p, looks
from perfkit.gate.order import Order
from perfkit.gate.timing import compare
from perfkit.gate.verdict import Reason, Status, Verdict
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.gate.baseline import Chosen
    from perfkit.gate.change import Noise
    from perfkit.gate.evidence import Key
    from perfkit.gate.policy import Policy
    from perfkit.readers.results import ResultFile

#: the smallest risk that a policy takes: where nothing is left the figures show, and nothing fails
_NONE_LEFT: Final = 1e-6
BASELINE: Final = "baseline"
CANDIDATE: Final = "candidate"


@record
class Plan:
    policy: Policy
    seed: int
    most: int = 30  #: pairs
    budget_s: float | None = None
    warm_up: int = 1  #: runs of each side that do not count
    environment: Mapping[str, str]  #: of this machine


def gate_run(
    plan: Plan,
    baseline: Side | Chosen,
    candidate: Side,
    *,
    tell: Callable[[str], None] = lambda _: None,
    keep: Callable[[Sequence[Attempt]], None] = lambda _: None,
) -> GateRun:
    """Run until decided; ``keep`` is called after every run with all of them.

    Raises:
        UsageError: so few pairs, or so few recorded runs, that no result of them could be a FAIL.
    """
    stored = None if isinstance(baseline, Side) else baseline
    session = _Session(plan, baseline, candidate, _looks(plan, stored), tell, keep)
    started = time.monotonic()
    _load_numerics()
    with interruptible() as interrupted:
        session.run()
    stopped = Stopped.INTERRUPTED if interrupted else session.stopped
    verdicts, risk = session.verdict(stopped)
    asked = [*session.asked]
    if risk is not None and (not asked or asked[-1][0] != session.pairs):
        asked.append((session.pairs, risk))
    return GateRun(
        attempts=tuple(session.attempts),
        verdicts=tuple(verdicts),
        stopped=stopped,
        pairs=session.pairs,
        looks=tuple(asked),
        seed=plan.seed,
        seconds=time.monotonic() - started,
        baseline=session.side(BASELINE) if stored is None else None,
        candidate=session.side(CANDIDATE),
        notes=stored.notes if stored else (),
    )


def _load_numerics() -> None:
    """Before an interrupt can leave them half loaded, which the verdict could not mend."""
    import numpy  # noqa: F401, ICN001
    import scipy.special  # noqa: F401


def _looks(plan: Plan, stored: Chosen | None) -> Looks:
    count: int | None = None
    if stored is not None:
        runs = Counter((run.benchmark, run.metric) for one in stored.files for run in one.runs)
        count = min(runs.values())
    found = looks(plan.policy.false_alarm, plan.most, lambda n: least_p(n, count))
    if found.shares and min(found.shares.values()) < _NONE_LEFT:
        raise UsageError(
            f"a risk of {plan.policy.false_alarm:g} is too small for {plan.most} looks",
            hint="take fewer --max-pairs",
        )
    if found.shares:
        return found
    fewest = next((n for n in range(2, 200) if _decides(n, plan, count)), None)
    allow = f"allow --max-pairs {fewest}" if fewest is not None else "allow more --max-pairs"
    if count is not None:
        raise UsageError(
            f"the baseline has {count} run{'' if count == 1 else 's'}: of at most {plan.most} "
            "of the candidate no result could be a FAIL",
            hint=f"record a baseline with more runs, or {allow}",
        )
    raise UsageError(f"--max-pairs {plan.most}: no result of so few could be a FAIL", hint=allow)


def _decides(runs: int, plan: Plan, stored: int | None) -> bool:
    return bool(looks(plan.policy.false_alarm, runs, lambda n: least_p(n, stored)).shares)


class _Session:
    def __init__(
        self,
        plan: Plan,
        baseline: Side | Chosen,
        candidate: Side,
        plan_of_looks: Looks,
        tell: Callable[[str], None],
        keep: Callable[[Sequence[Attempt]], None],
    ) -> None:
        self._plan = plan
        self._sides = [baseline, candidate] if isinstance(baseline, Side) else [candidate]
        self._stored = None if isinstance(baseline, Side) else baseline
        self._looks = plan_of_looks
        self._tell = tell
        self._keep = keep
        self._order = random.Random(plan.seed)  # noqa: S311 - the order of runs, no secret
        self.attempts: list[Attempt] = []
        self.pairs = 0
        self.asked: list[tuple[int, float]] = []
        self.stopped = Stopped.MOST
        self._decided: list[Verdict] | None = None

    def run(self) -> None:
        for number in [0] * self._plan.warm_up:
            if not self._pair(number):
                return
        started = time.monotonic()
        longest = 0.0
        for number in range(1, self._plan.most + 1):
            before = time.monotonic()
            budget = self._plan.budget_s
            if budget is not None and number > 1 and before - started + longest > budget:
                self.stopped = Stopped.BUDGET
                return
            if not self._pair(number):
                return
            longest = max(longest, time.monotonic() - before)
            self.pairs = number
            if self._is_over(number):
                return

    def _pair(self, number: int) -> bool:
        """Run the sides in random order; whether both gave results."""
        sides = list(self._sides)
        self._order.shuffle(sides)
        for place, side in enumerate(sides):
            what = f"pair {number} of at most {self._plan.most}" if number else "warm-up"
            self._tell(f"{what}, {side.name}")
            self.attempts.append(side.attempt(number, first=place == 0))
            self._keep(self.attempts)
            if self.attempts[-1].failure is not None:
                self.stopped = Stopped.FAILED
                return False
        return True

    def _is_over(self, number: int) -> bool:
        """Ask the comparison; what cannot be compared now will not be later."""
        share = self._looks.shares.get(number)
        verdicts = self._compare(share or self._plan.policy.false_alarm)
        if any(one.status is Status.INCONCLUSIVE and one.reason.blocking for one in verdicts):
            self.stopped = Stopped.FAILED
            return True
        if share is None:
            return False
        self.asked.append((number, share))
        if any(one.status is Status.INCONCLUSIVE for one in verdicts):
            return False
        self.stopped = Stopped.DECIDED
        self._decided = verdicts
        return True

    def side(self, name: str) -> ResultFile:
        return results(self.attempts, name, dict(self._plan.environment))

    def _compare(self, risk: float) -> list[Verdict]:
        before: Sequence[ResultFile] = self._stored.files if self._stored else [self.side(BASELINE)]
        noise: dict[Key, Noise] = {}
        if self._stored:
            noise = {key: floor.noise for key, floor in self._stored.floors.items()}
        policy = replace(self._plan.policy, false_alarm=risk)
        order = Order.AFTER if self._stored else None
        return compare(before, [self.side(CANDIDATE)], policy, noise, order)

    def verdict(self, stopped: Stopped) -> tuple[list[Verdict], float | None]:
        """The last word, and the risk that it took; None: nothing was compared."""
        if self._decided is not None:
            return self._decided, None
        names = {BASELINE, CANDIDATE} if self._stored is None else {CANDIDATE}
        if any(not self.side(name).runs for name in names):
            return self._nothing(stopped), None
        risk = self._looks.shares.get(self.pairs)
        if risk is None or stopped is not Stopped.MOST:
            # the end has nothing to do with the result: what is left of the risk may be spent
            risk = max(self._looks.unspent(self.pairs), _NONE_LEFT)
        return self._compare(risk), risk

    def _nothing(self, stopped: Stopped) -> list[Verdict]:
        """Verdicts where a side has no runs at all: it failed at once, or was interrupted."""
        found = []
        for one in self.attempts:
            broken = [run for run in one.runs if run.failure]
            found += [
                Verdict(
                    benchmark=run.benchmark,
                    metric=run.metric,
                    unit=run.unit,
                    status=Status.INCONCLUSIVE,
                    reason=Reason.FAILED,
                    message=f"{run.source}: {run.failure}",
                    next_step="mend what the reason names, then run the gate again",
                )
                for run in broken
            ]
        assert found or stopped is Stopped.INTERRUPTED, "a side without runs has a failure"  # noqa: S101
        return found
