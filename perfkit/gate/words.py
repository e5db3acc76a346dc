"""From figures to sentences: message, next step and notes of a verdict."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, exp, expm1, inf
from statistics import median
from typing import TYPE_CHECKING, Final

from perfkit.gate.change import quantile
from perfkit.gate.guards import beyond_bound
from perfkit.gate.ranks import RANK_SHARE, least_rank_sum_p
from perfkit.gate.scatter import SIGNED_PAIRS
from perfkit.gate.verdict import Reason, Status, Verdict
from perfkit.readers.results import Unit

if TYPE_CHECKING:
    from perfkit.gate.change import ChangeEstimate, Comparison
    from perfkit.gate.evidence import Series
    from perfkit.gate.timing import Decision

#: what a reason means; what is not here is inconclusive
STATUS: Final = {
    Reason.WITHIN: Status.PASS,
    Reason.IMPROVED: Status.PASS,
    Reason.WORSE: Status.FAIL,
}
#: nobody takes more runs than this; say what else would help
MOST_RUNS: Final = 500
#: runs that differ this many times as much as the samples inside them
_CALM: Final = 5.0


def percent(change: float) -> str:
    """A relative change without sign: two digits.

    >>> percent(0.0512), percent(-0.123), percent(1.5), percent(0.0001)
    ('5.1%', '12%', '150%', '0.01%')
    """
    size = abs(100 * change)
    return (
        f"{size:.0f}%"
        if size >= 10
        else f"{float(f'{size:.2g}'):.2f}".rstrip("0").rstrip(".") + "%"
    )


def signed(change: float) -> str:
    """A relative change with its sign; what is beyond ten times says no more than that.

    >>> signed(0.0512), signed(-0.5), signed(2.204), signed(12.0)
    ('+5.1%', '-50%', '+220%', '+1000% or more')
    """
    if change >= 9.95:
        return "+1000% or more"
    return f"{change * 100:+.2g}%" if abs(change) < 0.995 else f"{change * 100:+.0f}%"


def verdict(item: Comparison, one: ChangeEstimate, decision: Decision) -> Verdict:
    """Everything about one comparison that took place."""
    before, after = item.baseline, item.candidate
    status = STATUS.get(decision.reason, Status.INCONCLUSIVE)
    found = one.error < inf
    return Verdict(
        benchmark=before.benchmark,
        metric=before.metric,
        unit=before.unit,
        higher_is_better=before.higher_is_better,
        status=status,
        reason=decision.reason,
        message=_message(item, one, decision),
        ratio=exp(one.change),
        interval=(exp(decision.low), exp(decision.high)) if found else None,
        fails_beyond=exp(decision.beyond),
        passes_within=exp(decision.limit),
        baseline_value=median(before.values),
        candidate_value=median(after.values),
        baseline_runs=len(before.values),
        candidate_runs=len(after.values),
        paired=one.evidence == "pairs",
        noise=one.scatter if found else None,
        evidence=one.evidence if found else None,
        next_step=_next_step(item, one, decision) if status is Status.INCONCLUSIVE else None,
        notes=tuple(_notes(item, one, decision)),
    )


def elsewhere(verdict: Verdict, changed: tuple[str, ...], *, allowed: bool) -> Verdict:
    """The verdict of a comparison across environments."""
    what = "; ".join(changed)
    if allowed:
        return replace(verdict, notes=(*verdict.notes, f"compared although they differ: {what}"))
    if verdict.status is Status.INCONCLUSIVE and verdict.reason.blocking:
        return verdict
    return replace(
        verdict,
        status=Status.INCONCLUSIVE,
        reason=Reason.ENVIRONMENT,
        message=f"not the same machine or software: {what}",
        next_step="record a baseline here, or allow the mismatch",
        notes=(*verdict.notes, f"without it the verdict were {verdict.status}: {verdict.message}"),
    )


def _worse(unit: Unit) -> tuple[str, str]:
    return ("slower", "faster") if unit in {Unit.SECONDS, Unit.CYCLES} else ("worse", "better")


def _message(item: Comparison, one: ChangeEstimate, decision: Decision) -> str:
    worse, better = _worse(item.baseline.unit)
    text = _change(one, decision, worse, better)
    if one.error < inf:
        low, high = expm1(decision.low), expm1(decision.high)
        text += f" ({signed(low)} to {signed(high)})"
    beyond, limit = percent(expm1(decision.beyond)), percent(expm1(decision.limit))
    noise = percent(one.scatter)
    tails = {
        Reason.WITHIN: f"surely not {limit} {worse}",
        Reason.IMPROVED: f"surely {better}",
        Reason.WORSE: f"surely more than {beyond} {worse}",
        Reason.TOO_NOISY: f"cannot tell at {noise} noise",
        Reason.TOO_FEW_RUNS: "too few runs to tell a change from chance",
        Reason.SINGLE_RUN: "one run a side says nothing of how runs repeat",
        Reason.TWO_MODES: f"cannot tell: runs fall into two groups {_modes(one)} apart",
        Reason.MORE_OUTLIERS: f"{_left_out(one)}, too uneven for accidents",
        Reason.RUNS_OVERLAP: "too many runs stand in the other order",
        Reason.DRIFT: _drift(one, decision, worse),
        Reason.BELOW_FLOOR: f"{worse}, yet by less than {limit} as far as can be told",
        Reason.MANY_BENCHMARKS: "among so many benchmarks chance makes one like it",
        Reason.CLOCK_CHANGED: f"SM cycles do not agree: the clock {_clocks(item)}",
    }
    text += f": {tails[decision.reason]}"
    return text if one.evidence in {"runs", "pairs"} else f"{text} ({_basis(one)})"


def _change(one: ChangeEstimate, decision: Decision, worse: str, better: str) -> str:
    size = percent(expm1(one.change))
    if size == "0%":
        if decision.reason not in {Reason.IMPROVED, Reason.WORSE}:
            return "no change"
        size = "less than 0.01%"
    return f"{size} {worse if one.change > 0 else better}"


def _basis(one: ChangeEstimate) -> str:
    noise = f"{one.scatter * 100:.2g}%"
    return {
        "stated noise": f"noise stated as {noise}",
        "A/A noise": f"noise {noise} of the A/A comparison",
        "assumed noise": f"assuming that runs repeat within {noise}",
    }[one.evidence]


def _modes(one: ChangeEstimate) -> str:
    return percent(expm1(max(one.modes)))


def _left_out(one: ChangeEstimate) -> str:
    before, after = map(len, one.outliers)
    return f"without {after} runs of the candidate and {before} of the baseline that stand apart"


def _parted(decision: Decision) -> bool:
    """Whether it is the sides' drifting apart that made it a drift."""
    return decision.reason is Reason.DRIFT and decision.high < decision.limit


def _drift(one: ChangeEstimate, decision: Decision, worse: str) -> str:
    if _parted(decision):
        end = percent(expm1(one.change + one.parting))
        return f"the sides drift apart, at one end of the runs the candidate is {end} {worse}"
    if one.shift_sure:
        return f"a trend over the runs could be {_by_drift(one, decision)} of it"
    return f"a drift from one side to the other could be {_by_drift(one, decision)} of it"


def _by_drift(one: ChangeEstimate, decision: Decision) -> str:
    return "all" if decision.drift >= one.change else percent(expm1(decision.drift))


def _clocks(item: Comparison) -> str:
    clocks = [[c for c in side.clocks_hz if c] for side in (item.baseline, item.candidate)]
    if not all(clocks):
        return ""
    before, after = (median(side) for side in clocks)
    return f"went from {before / 1e6:.0f} to {after / 1e6:.0f} MHz"


def _next_step(item: Comparison, one: ChangeEstimate, decision: Decision) -> str:
    m, n = len(item.baseline.values), len(item.candidate.values)
    have = f"{m} run{'s' if m > 1 else ''} each" if m == n else f"{m} and {n} runs"
    have = f"{m} pairs" if one.evidence == "pairs" else have
    enough = _fewest(item.policy.false_alarm)
    fixed = {
        Reason.SINGLE_RUN: (
            f"take {enough} runs (processes) each, or state in perfkit.yaml how they repeat: "
            "'timing: {noise: 1%}'"
        ),
        Reason.TOO_FEW_RUNS: f"{have}; {enough} each are the fewest that can decide",
        Reason.CLOCK_CHANGED: "measure both sides in turn, so that they see the same clocks",
        Reason.DRIFT: (
            "measure both sides in turn, as pairs (perfkit gate run): pairs cancel what drifts"
        ),
    }
    if _parted(decision):
        return f"{have}; find what drifts on one side alone, or measure until both are steady"
    if decision.reason is Reason.MORE_OUTLIERS:
        return (
            f"{have}; find what makes single runs slow, or take as many again: accidents even out"
        )
    if decision.reason in fixed:
        return fixed[decision.reason]
    more = _more(one, decision, m, n)
    if decision.reason is Reason.TWO_MODES:
        return f"{have}; find what chooses the group (clocks, placement, neighbours), or {more}"
    if decision.reason is Reason.RUNS_OVERLAP and one.evidence == "pairs" and m < SIGNED_PAIRS:
        return f"{have}; from {SIGNED_PAIRS} on they are judged as pairs alone"
    return f"{have}; {more} would decide"


def _fewest(risk: float) -> int:
    """Runs a side from which on the rank test can reach the risk."""
    n = 2
    while least_rank_sum_p(n, n) > RANK_SHARE * risk:
        n += 1
    return n


def _more(one: ChangeEstimate, decision: Decision, m: int, n: int) -> str:
    """How many further runs a side would bring the interval to one side of a limit.

    The estimate and the scatter are taken as they are now, so it is a guess, and says "about".
    """
    worse = one.change > decision.limit
    distance = one.change - decision.beyond if worse else decision.limit - one.change
    now = min(m, n)
    need = float(now)
    for _ in range(20):
        q = quantile(decision.risk / one.tails, max(one.degrees * need / now, 1.0))
        new = now * (q * one.error / distance) ** 2 if distance > 0 else inf
        if new > MOST_RUNS:
            return f"more than {MOST_RUNS} runs each, or less noise,"
        need = (need + max(new, 2.0)) / 2
    return f"about {max(ceil(need) - now, 1)} more"


def _notes(item: Comparison, one: ChangeEstimate, decision: Decision) -> list[str]:
    notes = []
    for name, series, lost in zip(
        ("baseline", "candidate"), (item.baseline, item.candidate), one.outliers, strict=True
    ):
        centre = median(series.values)
        for index in lost[:3]:
            apart = series.values[index] / centre - 1
            notes.append(
                f"{_run(series, index, one)} of the {name} stands apart ({signed(apart)}) "
                "and is left out of the interval"
            )
    if any(one.modes) and decision.reason is not Reason.TWO_MODES:
        notes.append(f"runs fall into two groups {_modes(one)} apart")
    spread = _spread(item)
    if spread is not None and one.error < inf and one.scatter > _CALM * max(spread, 1e-4):
        notes.append(
            f"runs differ by {percent(one.scatter)} while samples inside one differ by "
            f"{percent(spread)}: more samples do not help, more runs do"
        )
    if one.shift_sure and decision.reason is not Reason.DRIFT:
        cancelled = "; pairs cancel it" if one.evidence == "pairs" else ""
        notes.append(f"runs drift by {percent(expm1(one.shift))} over a side{cancelled}")
    if decision.reason is Reason.WORSE and one.change <= decision.drift:
        notes.append(
            "nothing tells the order of the runs: were they not taken in turn, a drift could be "
            "all of it (perfkit gate run takes turns)"
        )
    if one.parting and not _parted(decision):
        notes.append(f"the sides drift apart by {percent(expm1(2 * one.parting))} over the runs")
    if one.distrusted is not None:
        notes.append(f"runs scatter more than the noise of {percent(one.distrusted)} allows")
    if beyond_bound(item.candidate, item.policy) > 1:
        notes.append("the candidate is better than its bound: check the bound")
    return notes


def _run(series: Series, index: int, one: ChangeEstimate) -> str:
    """Which one: pairs have the order of the baseline on both sides."""
    return (
        f"the run of pair {series.pairs[index]}" if one.evidence == "pairs" else f"run {index + 1}"
    )


def _spread(item: Comparison) -> float | None:
    """Typical scatter of samples inside a run."""
    both = [s for side in (item.baseline, item.candidate) for s in side.spreads if s is not None]
    return median(both) if both else None
