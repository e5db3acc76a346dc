"""Results of two sides in, one verdict for each benchmark and metric out.

The evidence is one number per run. A FAIL needs all of: the whole confidence interval beyond the
threshold, at a risk shared among all benchmarks (Holm); the best estimate beyond the floors; an
exact rank test that finds the runs worse; no trend that explains the change; and, where clocks were
recorded, SM cycles that agree. A PASS needs the whole interval inside the limit. Everything else is
inconclusive and says what would decide. Error rates and power: docs/gate-calibration.md.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, log, log1p
from statistics import median
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError
from perfkit.gate import words
from perfkit.gate.change import ChangeEstimate, Comparison, quantile
from perfkit.gate.estimate import estimate
from perfkit.gate.evidence import Series, by_pairs, collect, differences, unsaid
from perfkit.gate.guards import guard, nothing_in_common, unmatched
from perfkit.gate.order import Order
from perfkit.gate.order import order as order_of
from perfkit.gate.policy import Policy
from perfkit.gate.ranks import RANK_SHARE
from perfkit.gate.verdict import Reason, Verdict
from perfkit.readers.results import Unit
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.gate.change import Noise
    from perfkit.gate.evidence import Key, Side

#: clocks that differ by less cannot hide a change that matters
_CLOCKS_ALIKE: Final = 0.01
#: where the order of the runs is not known, 5 % at a noise of 1 % is to be seen: a change of so
#: many times the noise, and a scatter that the noise exceeds in one of 1,000 times five runs a side
_SEEN: Final = log1p(0.05) / 0.01
_QUIET: Final = 0.018
#: so many standard errors below it: of independent runs one in a thousand, and their scatter varies
_SURELY: Final = 3.0
#: half-width of an interval that says nothing; its ends are still numbers
_WIDEST: Final = 100.0


@record
class Decision:
    """What the figures say, before words are made of it. Logarithms, positive for worse."""

    reason: Reason
    low: float
    high: float
    limit: float  #: a PASS lies below
    beyond: float  #: a FAIL lies above
    risk: float  #: one-sided, of the interval
    drift: float  #: what drifting may add where one side follows the other; 0: they take turns


def compare(
    baseline: Side,
    candidate: Side,
    policy: Policy | None = None,
    noise: Mapping[Key, Noise] | None = None,
    order: Order | None = None,
) -> list[Verdict]:
    """Compare two sides, benchmark by benchmark, in the order of the baseline, new ones last.

    Args:
        baseline: a result file, several of them (each at least one process), or single runs.
        candidate: the same of the changed code.
        policy: limits and what is allowed; None: the default policy.
        noise: what an A/A comparison found, by benchmark and metric; decides where runs are too few
            to speak for themselves.
        order: in which the sides were taken; None: as the dates of the files or the policy tell.

    Raises:
        UsageError: a side holds no result at all.
    """
    policy = policy or Policy()
    before, here = collect(baseline)
    after, there = collect(candidate)
    for name, side in (("baseline", before), ("candidate", after)):
        if not side:
            raise UsageError(f"the {name} holds no results", hint="a check of nothing is not green")
    verdicts: dict[Key, Verdict] = unmatched(before, after, policy)
    if not before.keys() & after.keys():
        verdicts = {key: nothing_in_common(one) for key, one in verdicts.items()}
    comparisons: dict[Key, Comparison] = {}
    for key, series in before.items():
        if key in after:
            item = Comparison(
                baseline=series,
                candidate=after[key],
                policy=policy.of(*key),
                noise=(noise or {}).get(key),
                order=order or _order(series, after[key], policy),
            )
            broken = guard(item)
            if broken is None:
                comparisons[key] = _of_pairs(item)
            else:
                verdicts[key] = broken
    verdicts.update(zip(comparisons, _decided(list(comparisons.values()), policy), strict=True))
    found = [verdicts[key] for key in [*before, *(key for key in after if key not in before)]]
    if unknown := unsaid(here, there):
        found = [replace(one, notes=(*one.notes, *unknown)) for one in found]
    changed = differences(here, there)
    if not changed:
        return found
    return [words.elsewhere(one, changed, allowed=policy.allow_mismatch) for one in found]


def _of_pairs(item: Comparison) -> Comparison:
    """With the runs alone that are compared: what is said of them counts no others."""
    pairs = by_pairs(item.baseline, item.candidate)
    return item if pairs is None else replace(item, baseline=pairs[0], candidate=pairs[1])


def _order(before: Series, after: Series, policy: Policy) -> Order:
    """As the dates of the files tell, or else the policy."""
    found = order_of(before.taken_s, after.taken_s)
    return Order(policy.order) if found is Order.UNKNOWN else found


def _decided(items: Sequence[Comparison], policy: Policy) -> list[Verdict]:
    estimates = estimate(items)
    risks = _holm(items, estimates, policy.false_alarm)
    decisions = [
        decide(item, one, risk, policy.false_alarm)
        for item, one, risk in zip(items, estimates, risks, strict=True)
    ]
    decisions = _confirmed(items, decisions, policy.false_alarm)
    return [
        words.verdict(item, one, decision)
        for item, one, decision in zip(items, estimates, decisions, strict=True)
    ]


def _holm(
    items: Sequence[Comparison], estimates: Sequence[ChangeEstimate], alpha: float
) -> list[float]:
    """The risk that each interval may take, so that all together take ``alpha``.

    Holm's steps: the clearest of k changes is held to alpha / k, the next to alpha / (k - 1), up to
    the first that is not clear enough, whose level holds for the rest.
    """
    p = [
        one.p_beyond(log1p(item.policy.fails_beyond))
        for item, one in zip(items, estimates, strict=True)
    ]
    risks = [alpha] * len(p)
    level, open_ = alpha, True
    for rank, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if open_:
            level = alpha / (len(p) - rank)
            open_ = p[index] <= level
        risks[index] = level
    return risks


def decide(item: Comparison, one: ChangeEstimate, risk: float, alpha: float) -> Decision:
    """One benchmark, with its interval at ``risk`` if that matters and at ``alpha`` otherwise."""
    beyond = log1p(item.policy.fails_beyond)
    centre = median(item.baseline.values)
    limit = log1p(max(item.policy.floor, item.policy.absolute(item.baseline.unit) / centre))
    p = one.p_beyond(beyond)
    shown = risk if p <= alpha else alpha
    half = min(quantile(shown / one.tails, one.degrees) * one.error, _WIDEST)
    drift, counts = _by_drift(item, one, risk)
    reason = _reason(one, p, half, risk=risk, alpha=alpha, limit=limit, drift=counts)
    return Decision(
        reason=reason,
        low=one.change - half,
        high=one.change + half,
        limit=limit,
        beyond=beyond,
        risk=shown,
        drift=min(drift, _WIDEST),
    )


def _reason(
    one: ChangeEstimate,
    p: float,
    half: float,
    *,
    risk: float,
    alpha: float,
    limit: float,
    drift: float,
) -> Reason:
    """The first line of the table that holds."""
    asked = one.ranks_p is not None
    high, modes = one.change + half, any(one.modes)
    disordered = one.ranks_p is not None and one.ranks_p > RANK_SHARE * alpha
    table = (
        (one.error == inf, Reason.SINGLE_RUN),
        (asked and one.least_p > RANK_SHARE * alpha, Reason.TOO_FEW_RUNS),
        (high < limit <= high + one.lopsided, Reason.MORE_OUTLIERS),
        (high < limit <= one.change + one.parting, Reason.DRIFT),
        (high < min(limit, 0.0), Reason.IMPROVED),
        (high < limit, Reason.WITHIN),
        (p > alpha and modes, Reason.TWO_MODES),
        (p > alpha and one.shift_sure and drift > 0, Reason.DRIFT),
        (p > alpha, Reason.TOO_NOISY),
        (p > risk, Reason.MANY_BENCHMARKS),
        (one.change <= limit, Reason.BELOW_FLOOR),
        (disordered and modes, Reason.TWO_MODES),
        (disordered, Reason.RUNS_OVERLAP),
        (one.change <= drift, Reason.DRIFT),
        (True, Reason.WORSE),
    )
    return next(reason for holds, reason in table if holds)


def _by_drift(item: Comparison, one: ChangeEstimate, risk: float) -> tuple[float, float]:
    """The change that what drifts or lasts can make of unchanged code, and how much of it counts.

    That is what the trend inside the sides adds on the way from one to the other, and its
    uncertainty, with that of runs that depend on their neighbours; 0 where runs take turns. All of
    it counts where the order is known, the trend is sure or the noise is over ``_QUIET``. Elsewhere
    no more than what independent runs grant whose change is ``_SEEN`` times their noise: with fewer
    than nine runs a side less than excludes every drift.
    """
    if one.evidence != "runs" or item.order is Order.IN_TURN:
        return 0.0, 0.0
    toward = max(-one.shift if item.order is Order.BEFORE else one.shift, 0.0)
    bar = quantile(RANK_SHARE * risk, one.unshifted_degrees)  # exact, too: see there
    granted = bar
    if item.order is Order.UNKNOWN and not one.shift_sure and one.scatter <= _QUIET:
        granted = min(bar, max(_SEEN / one.unshifted_weight - _SURELY, 0.0))
    return toward + bar * one.unshifted_error, toward + granted * one.unshifted_error


def _confirmed(
    items: Sequence[Comparison], decisions: Sequence[Decision], alpha: float
) -> list[Decision]:
    """Decisions that SM cycles confirm; the others say that the clock changed."""
    asked = {
        index: cycles
        for index, (item, decision) in enumerate(zip(items, decisions, strict=True))
        if decision.reason in {Reason.WORSE, Reason.WITHIN, Reason.IMPROVED}
        and (cycles := _in_cycles(item, decision.reason)) is not None
    }
    result = list(decisions)
    for (index, _), one in zip(asked.items(), estimate(list(asked.values())), strict=True):
        decision = decisions[index]
        worse = one.change > decision.beyond and one.p_beyond(0.0) <= alpha
        surely = one.change > decision.limit and one.p_beyond(decision.beyond) <= alpha
        if (decision.reason is Reason.WORSE and not worse) or (
            decision.reason is not Reason.WORSE and surely
        ):
            result[index] = replace(decision, reason=Reason.CLOCK_CHANGED)
    return result


def _in_cycles(item: Comparison, reason: Reason) -> Comparison | None:
    """Times as cycles where every run knows its clock and the clocks differ enough to matter."""
    if item.baseline.unit is not Unit.SECONDS:
        return None
    sides = []
    for side in (item.baseline, item.candidate):
        clocks = [clock for clock in side.clocks_hz if clock]
        if len(clocks) < len(side.values):
            return None
        sides.append((side, clocks))
    (_, before), (_, after) = sides
    moved = abs(log(median(after) / median(before)))
    if reason is not Reason.WORSE and moved < _CLOCKS_ALIKE:
        return None
    return replace(item, baseline=_cycles(*sides[0]), candidate=_cycles(*sides[1]))


def _cycles(side: Series, clocks: list[float]) -> Series:
    values = tuple(value * clock for value, clock in zip(side.values, clocks, strict=True))
    return replace(side, values=values, unit=Unit.CYCLES)
