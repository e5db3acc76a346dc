"""What cannot be compared: named, and never green."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from perfkit.gate.verdict import Reason, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfkit.gate.change import Comparison
    from perfkit.gate.evidence import Key, Series
    from perfkit.gate.policy import Policy

#: better than the bound by this factor is a broken measurement, not a generous bound
BOUND_FACTOR: Final = 10.0


def unmatched(
    before: Mapping[Key, Series], after: Mapping[Key, Series], policy: Policy
) -> dict[Key, Verdict]:
    """Verdicts of what only one side has."""
    found = {}
    for here, there, vanished in ((before, after, True), (after, before, False)):
        metrics: dict[str, set[str]] = {}
        for benchmark, metric in there:
            metrics.setdefault(benchmark, set()).add(metric)
        for key, series in here.items():
            if key not in there:
                others = metrics.get(key[0], set())
                found[key] = _lonely(series, others, policy, vanished=vanished)
    return found


def _lonely(series: Series, others: set[str], policy: Policy, *, vanished: bool) -> Verdict:
    side, other = ("baseline", "candidate") if vanished else ("candidate", "baseline")
    allowed = policy.allow_vanished if vanished else policy.allow_new
    reason = Reason.VANISHED if vanished else Reason.NEW
    message = f"in the {side} only"
    step = (
        "run it again, or record a baseline without it"
        if vanished
        else "record a baseline that has it"
    )
    if others and series.metric not in others:
        message = f"the {side} has {series.metric}, the {other} {', '.join(sorted(others))}"
        step = "compare the same metric on both sides"
        reason = Reason.METRIC_CHANGED
    status = Status.INCONCLUSIVE
    if allowed:
        status, reason = Status.PASS, Reason.ALLOWED
        message += ": not compared, which the policy allows"
    runs = {f"{side}_runs": len(series.pairs)}
    return _verdict(series, status, reason, message, step=None if allowed else step, **runs)


def nothing_in_common(one: Verdict) -> Verdict:
    """The verdict where no benchmark is on both sides: what is allowed alone is not green then."""
    if one.reason is not Reason.ALLOWED:
        return one
    return replace(
        one,
        status=Status.INCONCLUSIVE,
        reason=Reason.NOTHING_IN_COMMON,
        message="no benchmark and metric is on both sides: nothing was compared",
        next_step="compare results that have the same names, or record a new baseline",
    )


def guard(item: Comparison) -> Verdict | None:
    """The verdict that spares the comparison; None where it can take place."""
    before, after = item.baseline, item.candidate
    for side, series in (("baseline", before), ("candidate", after)):
        if series.problem is not None:
            return _broken(item, series.problem, f"{side}, {series.detail}", "measure it again")
    if before.unit is not after.unit:
        message = f"the baseline is in {before.unit}, the candidate in {after.unit}"
        return _broken(item, Reason.UNIT_CHANGED, message, "compare the same unit on both sides")
    if before.higher_is_better is not after.higher_is_better:
        better = ["higher" if series.higher_is_better else "lower" for series in (before, after)]
        message = f"{better[0]} is better in the baseline, {better[1]} in the candidate"
        return _broken(item, Reason.DIRECTION_CHANGED, message, "state the direction of the metric")
    for side, series in (("baseline", before), ("candidate", after)):
        if (excess := beyond_bound(series, item.policy)) > BOUND_FACTOR:
            message = f"the {side} is {excess:.3g} times better than the bound allows"
            return _broken(item, Reason.BEYOND_BOUND, message, "check what the benchmark measures")
    factor = median(before.values) / median(after.values)
    factor = 1 / factor if before.higher_is_better else factor
    if factor > item.policy.collapse:
        message = f"{factor:.3g} times better than the baseline: not plausible"
        return _broken(
            item,
            Reason.COLLAPSED,
            message,
            "check that the benchmark still does its work; if so, record a new baseline",
        )
    return None


def beyond_bound(series: Series, policy: Policy) -> float:
    """By what factor the best run is better than the bound; 0 without a bound."""
    if not policy.bound:
        return 0.0
    if series.higher_is_better:
        return max(series.values) / policy.bound
    return policy.bound / min(series.values)


def _broken(item: Comparison, reason: Reason, message: str, step: str) -> Verdict:
    runs = {"baseline_runs": len(item.baseline.pairs), "candidate_runs": len(item.candidate.pairs)}
    return _verdict(item.baseline, Status.INCONCLUSIVE, reason, message, step=step, **runs)


def _verdict(
    series: Series, status: Status, reason: Reason, message: str, *, step: str | None, **runs: Any
) -> Verdict:
    return Verdict(
        benchmark=series.benchmark,
        metric=series.metric,
        unit=series.unit,
        higher_is_better=series.higher_is_better,
        status=status,
        reason=reason,
        message=message,
        next_step=step,
        **runs,
    )
