"""``perfkit validate``: every check in a child of its own, so that one may fail alone."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.validation import (
    MOST_PAIRS,
    QUESTIONS,
    SHOWN,
    CardReport,
    Check,
    Figure,
    Mismatch,
    Pair,
    Question,
    ValidationReport,
    scope,
    verdict,
)
from perfkit.device.cards import Cards, number
from perfkit.device.child import Limits, run_child
from perfkit.device.environment import environment
from perfkit.device.nvml import Monitor
from perfkit.device.properties import target_of
from perfkit.errors import EXIT_INTERRUPTED, Unavailable, UnknownTarget, UsageError

if TYPE_CHECKING:
    from perfkit.arch.types import Target
    from perfkit.device.child import Outcome
    from perfkit.device.properties import Device

#: seeds are small enough to be typed
_MOST_SEED: Final = 10**6


def check_names() -> tuple[str, ...]:
    """What can be checked."""
    return tuple(question.name for question in QUESTIONS)


def questions(only: Sequence[str]) -> tuple[Question, ...]:
    """Those of these names, or all.

    Raises:
        UsageError: a name that no check has.
    """
    for name in only:
        if name not in check_names():
            hint = f"one of: {', '.join(check_names())}"
            raise UsageError(f"there is no check {name!r}", hint=hint)
    return tuple(question for question in QUESTIONS if not only or question.name in only)


def fresh_seed() -> int:
    """Another one each time."""
    return random.SystemRandom().randrange(_MOST_SEED)


def validate(
    devices: Sequence[Device],
    *,
    only: Sequence[str] = (),
    quick: bool = False,
    seed: int | None = None,
    seconds: float | None = None,
    on_start: Callable[[int | None, str], None] = lambda *_: None,
    on_check: Callable[[int | None, Check], None] = lambda *_: None,
) -> ValidationReport:
    """Hold predictions against cards, all cards at the same time.

    What they share they take in turns. Ctrl-C ends what runs and keeps what is done.

    Args:
        devices: the cards.
        only: some of ``check_names``; empty: all.
        quick: fewer configurations.
        seed: of the configurations; None: a fresh one.
        seconds: limit on the time of each check; None: each has its own.
        on_start: called with the name of each check before it runs, and the card's number where
            there are several.
        on_check: called with the same and each check when it is done.

    Raises:
        UsageError: an unknown check.
    """
    seed = fresh_seed() if seed is None else seed
    chosen, cards = questions(only), Cards()
    found = cards.side_by_side(
        [
            partial(
                _Card(device, cards, seed=seed, quick=quick, seconds=seconds).report,
                chosen,
                number(device, devices),
                on_start,
                on_check,
            )
            for device in devices
        ]
    )
    return ValidationReport(seed=seed, quick=quick, cards=found)


class _Card:
    """One card and the checks on it."""

    def __init__(
        self, device: Device, cards: Cards, *, seed: int, quick: bool, seconds: float | None
    ) -> None:
        self._device = device
        self._cards = cards
        self._monitor = Monitor(self._device.uuid)
        self._seed, self._quick, self._seconds = seed, quick, seconds
        self._target: Target | None = None
        self._unknown: UnknownTarget | None = None
        try:
            self._target = target_of(self._device)
        except UnknownTarget as error:
            self._unknown = error

    def report(
        self,
        questions: Sequence[Question],
        index: int | None,
        on_start: Callable[[int | None, str], None],
        on_check: Callable[[int | None, Check], None],
    ) -> CardReport:
        about = environment(self._device, self._monitor, index=index)
        done: dict[Question, Check] = {}
        ended = False
        for question in self._cards.in_turn(questions, lambda one: one.shares):
            on_start(index, question.name)
            done[question], ended = self._check(question)
            on_check(index, done[question])
            if ended:
                break
        return CardReport(
            environment=about,
            checks=tuple(done[question] for question in questions if question in done),
            interrupted=ended or len(done) < len(questions),
        )

    def _check(self, question: Question) -> tuple[Check, bool]:
        """The check, and whether it was interrupted."""
        started, sums = time.monotonic(), _Sums(self._monitor)
        if self._unknown is not None:
            sums.nothing, sums.hint = self._unknown.message, self._unknown.hint
            return self._done(question, sums, None, 0.0), False
        outcome = run_child(
            "validate",
            {"name": question.name, "seed": self._seed, "quick": self._quick},
            uuid=self._device.uuid,
            limits=Limits(seconds=self._seconds or question.seconds),
            monitor=self._monitor,
            on_result=sums.add,
            stop=self._cards.stopped,
        )
        interrupted = outcome.failure is not None and outcome.failure.exit_code == EXIT_INTERRUPTED
        return self._done(question, sums, outcome, time.monotonic() - started), interrupted

    def _done(
        self, question: Question, sums: _Sums, outcome: Outcome | None, seconds: float
    ) -> Check:
        failure = outcome.failure if outcome else None
        failed = None
        if failure is not None and failure.exit_code == Unavailable.exit_code:
            sums.nothing = failure.message  # no compiler, no profiler: nothing went wrong
        elif failure is not None:
            failed = failure.told
        status, reason = verdict(
            compared=sums.compared, differing=sums.differing, nothing=sums.nothing, failed=failed
        )
        return Check(
            name=question.name,
            status=status,
            predicted=question.predicted,
            measured=question.measured,
            scope=scope(question, self._target.capability if self._target else None),
            compared=sums.compared,
            differing=sums.differing,
            differences=tuple(sums.differences[:SHOWN]),
            pairs=tuple(replace(pair, count=count) for pair, count in sums.pairs.items()),
            pairs_left_out=sums.pairs_left_out,
            figures=sums.figures,
            reason=reason,
            hint=failure.hint if failure else sums.hint,
            seconds=seconds,
            sm_clock_hz=sums.sm_clock_hz,
            throttles=tuple(sums.throttles),
        )


class _Sums:
    """What the tallies of a check add up to."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self.compared = self.differing = 0
        self.differences: list[Mismatch] = []
        self.pairs: Counter[Pair] = Counter()
        self._kept: Counter[bool] = Counter()
        self.pairs_left_out = 0
        self.figures: dict[str, Figure] = {}
        self.nothing: str | None = None
        self.hint: str | None = None
        self.sm_clock_hz: float | None = None
        self.throttles: dict[str, None] = {}

    def add(self, tally: dict[str, Any]) -> None:
        """Take a tally as it came from the child, and look at the clocks."""
        self.compared += tally["compared"]
        self.differing += tally["differing"]
        self.differences += [Mismatch(**one) for one in tally["differences"]]
        self.figures |= tally["figures"] or {}
        for pair in tally["pairs"]:
            self._add_pair(Pair(**pair | {"count": 1}), pair["count"])
        self.nothing = tally["nothing"] or self.nothing
        state = self._monitor.state()
        if state.sm_clock_hz is not None:
            self.sm_clock_hz = max(self.sm_clock_hz or 0.0, state.sm_clock_hz)
        self.throttles |= dict.fromkeys(state.throttles)

    def _add_pair(self, pair: Pair, count: int) -> None:
        """Those that differ are kept beside many that agree."""
        if pair in self.pairs or self._kept[pair.agrees] < MOST_PAIRS:
            self._kept[pair.agrees] += pair not in self.pairs
            self.pairs[pair] += count
        else:
            self.pairs_left_out += count
