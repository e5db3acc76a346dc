"""What the gate says of one benchmark, and what follows from all of it together.

Three answers: ``pass``, ``fail`` and ``inconclusive``, each with a reason code that programs can
rely on. A check that checked nothing, or whose evidence is broken, is never green: those reasons
are *blocking*, and ``on_inconclusive="pass"`` does not let them through.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import EXIT_INCONCLUSIVE, EXIT_NO
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Reason(StrEnum):
    """Why; the code in JSON, JUnit and SARIF."""

    # pass
    WITHIN = "within"  #: the whole interval lies inside the limit
    IMPROVED = "improved"  #: and all of it on the better side of no change
    ALLOWED = "allowed"  #: not compared, which the policy allows
    # fail
    WORSE = "worse"  #: the whole interval lies beyond the threshold, and the floors are passed
    OVER_LIMIT = "over_limit"  #: static: more than a rule allows, or less
    INCREASED = "increased"  #: static: more than the baseline by more than a rule allows, or less
    DOES_NOT_FIT = "does_not_fit"  #: static: no launch on a GPU that a rule names
    # inconclusive: more or better runs would decide
    TOO_NOISY = "too_noisy"  #: the interval reaches across a limit
    TOO_FEW_RUNS = "too_few_runs"  #: no result of so few runs could be a FAIL
    SINGLE_RUN = "single_run"  #: one run a side says nothing of how runs repeat
    TWO_MODES = "two_modes"  #: runs fall into two groups
    MORE_OUTLIERS = "more_outliers"  #: the worse side has more runs apart than accidents explain
    RUNS_OVERLAP = "runs_overlap"  #: the rank test does not confirm the interval
    DRIFT = "drift"  #: a trend over the runs of a side could be the whole change
    BELOW_FLOOR = "below_floor"  #: surely worse, by less than the floor as far as can be told
    MANY_BENCHMARKS = "many_benchmarks"  #: among so many comparisons this one happens by chance
    CLOCK_CHANGED = "clock_changed"  #: time and SM cycles do not agree
    # inconclusive, and never let through
    ENVIRONMENT = "environment"  #: another GPU, driver or toolkit
    VANISHED = "vanished"  #: in the baseline only
    NEW = "new"  #: in the candidate only
    METRIC_CHANGED = "metric_changed"  #: the sides measured different things
    UNIT_CHANGED = "unit_changed"
    DIRECTION_CHANGED = "direction_changed"  #: higher is better on one side only
    FAILED = "failed"  #: a run ended without a result
    BAD_VALUE = "bad_value"  #: zero, negative, infinite or no number
    COLLAPSED = "collapsed"  #: better by a factor that no change of code explains
    BEYOND_BOUND = "beyond_bound"  #: better than the hardware allows
    NOT_KNOWN = "not_known"  #: static: the file does not tell the quantity
    NO_MATCH = "no_match"  #: static: a rule, and no kernel that it is about
    NO_BASELINE = "no_baseline"  #: static: a rule about an increase, and nothing to compare with
    NOTHING_IN_COMMON = "nothing_in_common"  #: no kernel or benchmark is on both sides
    NOT_READ = "not_read"  #: static: part of a file could not be read

    @property
    def blocking(self) -> bool:
        """Whether the comparison did not take place: never green, whatever the policy."""
        return self in _BLOCKING


_BLOCKING: Final = frozenset(
    {
        Reason.ENVIRONMENT,
        Reason.VANISHED,
        Reason.NEW,
        Reason.METRIC_CHANGED,
        Reason.UNIT_CHANGED,
        Reason.DIRECTION_CHANGED,
        Reason.FAILED,
        Reason.BAD_VALUE,
        Reason.COLLAPSED,
        Reason.BEYOND_BOUND,
        Reason.NOT_KNOWN,
        Reason.NO_MATCH,
        Reason.NO_BASELINE,
        Reason.NOTHING_IN_COMMON,
        Reason.NOT_READ,
    }
)


@record
class Static:
    """What a verdict on a compiled kernel is about, beside the kernel's name."""

    rule: str  #: as written
    rule_at: str  #: ``--rule`` or ``file:line``
    arch: str | None = None  #: what the kernel is compiled for
    gpu: str | None = None  #: where it would run, if the quantity depends on it
    symbol: str | None = None  #: mangled
    limit: float | None = None  #: largest or smallest value allowed, in the verdict's unit
    origin: str | None = None  #: where the kernel was read
    file: str | None = None  #: its source, or else what it was read from
    line: int | None = None  #: of its definition in ``file``


@record
class Verdict:
    """One benchmark and metric, or one kernel and quantity.

    ``ratio`` is worse over better read from the baseline: 1.05 is 5 % worse, whether times grew or
    rates fell. ``interval`` is its confidence interval, at the level of the decision: one-sided
    ``false_alarm`` at each end, corrected for the number of comparisons where that decided.
    """

    benchmark: str
    status: Status
    reason: Reason
    message: str
    metric: str = "time"
    unit: str | None = None
    higher_is_better: bool = False
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    fails_beyond: float | None = None  #: ratio that the whole interval must exceed for a FAIL
    passes_within: float | None = None  #: ratio that the whole interval must stay under for a PASS
    baseline_value: float | None = None  #: centre of the runs, in ``unit``
    candidate_value: float | None = None
    baseline_runs: int = 0
    candidate_runs: int = 0
    paired: bool = False
    noise: float | None = None  #: relative standard deviation from run to run
    evidence: str | None = None  #: ``runs``, ``pairs``, ``stated noise`` or ``assumed noise``
    next_step: str | None = None
    notes: tuple[str, ...] = ()
    static: Static | None = None  #: of a compiled kernel; None: of timings

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; keys are stable."""
        from dataclasses import fields

        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["interval"] = list(self.interval) if self.interval else None
        values["notes"] = list(self.notes)
        if self.static is not None:
            names = [field.name for field in fields(self.static)]
            values["static"] = {name: getattr(self.static, name) for name in names}
        return values


@record
class Outcome:
    """All verdicts together."""

    status: Status
    exit_code: int  #: 0 pass, 1 fail, 3 inconclusive; see ``outcome``
    verdicts: tuple[Verdict, ...]

    @property
    def counts(self) -> dict[Status, int]:
        """How many verdicts of each status, all three present."""
        return {s: sum(v.status is s for v in self.verdicts) for s in Status}

    def as_dict(self) -> dict[str, Any]:
        """``{"status", "verdicts": [...]}``."""
        return {"status": self.status, "verdicts": [verdict.as_dict() for verdict in self.verdicts]}


def outcome(verdicts: Sequence[Verdict], on_inconclusive: str = "3") -> Outcome:
    """Fail before inconclusive before pass; no verdict at all is inconclusive.

    ``on_inconclusive``: ``"3"`` gives those an exit code of their own, ``"fail"`` makes it 1 and
    ``"pass"`` 0, which a blocking reason and an empty list do not follow: nothing was checked.
    """
    statuses = {verdict.status for verdict in verdicts}
    if Status.FAIL in statuses:
        status, code = Status.FAIL, EXIT_NO
    elif statuses == {Status.PASS}:
        status, code = Status.PASS, 0
    else:
        status = Status.INCONCLUSIVE
        code = EXIT_NO if on_inconclusive == "fail" else EXIT_INCONCLUSIVE
        blocked = not verdicts or any(
            v.status is Status.INCONCLUSIVE and v.reason.blocking for v in verdicts
        )
        if on_inconclusive == "pass" and not blocked:
            code = 0
    return Outcome(status=status, exit_code=code, verdicts=tuple(verdicts))
