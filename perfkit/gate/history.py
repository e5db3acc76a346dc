"""Runs over many commits: which commit changed a benchmark, by how much, and how surely.

A series is a benchmark and metric on one GPU. Each commit of it gives the median of its runs; the
order is that in which commits were first added, which no clock can change, or another one that is
asked for. ``changepoint`` searches it.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from perfkit.errors import InputError, UsageError
from perfkit.gate.changepoint import RISK, changes
from perfkit.gate.evidence import ENVIRONMENT
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from perfkit.gate.baseline_format import Entry
    from perfkit.gate.changepoint import ChangePoint

#: of several branches the history of one of these is shown, unless another is asked for
_MAIN: Final = ("main", "master", "trunk", "develop")
#: a change of these at the same commit may be the reason
_CAUSES: Final = ("driver", "toolkit", "host")
#: clocks of two runners that go right differ by less
_CLOCKS: Final = timedelta(minutes=1)


class CommitOrder(StrEnum):
    """Of the commits of a series."""

    ADDED = "added"  #: as their first runs were added to the history
    DATE = "date"  #: by the dates of these runs
    GIT = "git"  #: parents before their children


@record
class Row:
    """One run. What is not known is empty."""

    benchmark: str
    metric: str
    value: float
    unit: str
    higher_is_better: bool
    run: str
    recording: str  #: one for each call of ``perfkit gate record``
    date: datetime
    commit: str = ""
    branch: str = ""
    gpu: str = ""
    compute_capability: str = ""
    driver: str = ""
    toolkit: str = ""
    host: str = ""
    perfkit: str = ""
    command: str = ""


@record
class Commit:
    """All runs of one commit."""

    name: str  #: of the commit; where it is not known the date
    date: datetime  #: of its first run
    value: float  #: median of the runs
    runs: int


@record
class Step:
    """A change, as people speak of it."""

    first: Commit  #: the first one after the change
    last: Commit  #: the last one before it
    change: ChangePoint
    worse: bool
    before: float  #: median of the commits since the change before
    after: float  #: and until the next one
    causes: tuple[str, ...]  #: what else changed there: driver, toolkit, host


@record
class Trace:
    """One series."""

    benchmark: str
    metric: str
    unit: str
    gpu: str
    higher_is_better: bool
    commits: tuple[Commit, ...]
    steps: tuple[Step, ...]
    noise: float  #: from commit to commit, between the changes
    enough: bool  #: whether there are enough commits for a change to be found
    backdated: tuple[Commit, ...] = ()  #: those with a date before that of the one ahead

    @property
    def runs(self) -> int:
        return sum(one.runs for one in self.commits)


@record
class History:
    traces: tuple[Trace, ...]
    branch: str | None  #: the one shown, of several
    others: tuple[str, ...] = ()  #: branches that are not shown
    risk: float = RISK
    order: CommitOrder = CommitOrder.ADDED


def rows_of(
    entries: Iterable[Entry], recording: str, date: datetime, branch: str | None
) -> list[Row]:
    """What entries of a baseline add to a history: a row for each run."""
    return [
        Row(
            benchmark=entry.benchmark,
            metric=entry.metric,
            value=run.values[0],
            unit=entry.unit.value,
            higher_is_better=entry.higher_is_better,
            run=run.run or "",
            recording=recording,
            date=date,
            branch=branch or "",
            **{name: entry.environment.get(name, "") for name in ENVIRONMENT},
            **{
                name: entry.about.get(name, "") for name in ("commit", "host", "perfkit", "command")
            },
        )
        for entry in entries
        for run in entry.runs
    ]


def history(
    rows: Sequence[Row],
    *,
    benchmark: str | None = None,
    branch: str | None = None,
    last: int | None = None,
    least: float = 0.0,
    risk: float = RISK,
    by_date: bool = False,
    places: Mapping[str, int] | None = None,
) -> History:
    """The series of a history, in alphabetical order.

    Args:
        rows: in the order in which they were added.
        benchmark: regular expression for part of the name.
        branch: None: the only one, or of several the main one.
        last: no more commits than these, the newest.
        least: changes by less than this share are not told.
        risk: of a change that is none, in each series.
        by_date: commits in the order of their dates.
        places: commits in the order of these places; one without stays behind the one before it.

    Raises:
        UsageError: no regular expression.
        InputError: nothing is there, or nothing that is asked for.
    """
    if not rows:
        raise InputError("the history is empty", hint="perfkit gate record --history adds to it")
    shown, others = _branch(rows, branch)
    kept = [row for row in rows if shown is None or row.branch == shown]
    order = CommitOrder.ADDED
    if places is not None:
        kept, order = _by_place(kept, places), CommitOrder.GIT
    elif by_date:
        kept.sort(key=lambda row: row.date)
        order = CommitOrder.DATE
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    pattern = _pattern(benchmark)
    for row in kept:
        if pattern is None or pattern.search(row.benchmark):
            groups.setdefault((row.benchmark, row.metric, row.unit, row.gpu), []).append(row)
    if not groups:
        names = list(dict.fromkeys(row.benchmark for row in kept))
        some = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise InputError(f"no benchmark matches {benchmark!r}", hint=f"there are {some}")
    traces = [_trace(groups[key], last, least, risk) for key in sorted(groups)]
    return History(traces=tuple(traces), branch=shown, others=others, risk=risk, order=order)


def _by_place(rows: Sequence[Row], places: Mapping[str, int]) -> list[Row]:
    place = -1
    keys: dict[str, tuple[int, bool]] = {}
    for row in rows:
        if (name := _name(row)) not in keys:
            known = row.commit in places
            place = places[row.commit] if known else place
            keys[name] = place, not known
    return sorted(rows, key=lambda row: keys[_name(row)])


def _name(row: Row) -> str:
    return row.commit or row.date.isoformat(timespec="seconds")


def _pattern(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise UsageError(f"{text!r} is no regular expression: {error}") from None


def _branch(rows: Sequence[Row], asked: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The branch to show and the others; None: there is but one."""
    counts = Counter({row.branch: 0 for row in rows})
    for name, _ in {(row.branch, row.commit) for row in rows}:
        counts[name] += 1
    if asked is not None:
        if asked not in counts:
            there = ", ".join(sorted(name or "(none)" for name in counts))
            raise InputError(f"no run is of branch {asked!r}", hint=f"branches are {there}")
        return asked, tuple(sorted(name for name in counts if name != asked))
    if len(counts) == 1:
        return None, ()
    shown = next((name for name in _MAIN if name in counts), counts.most_common(1)[0][0])
    return shown, tuple(sorted(name for name in counts if name != shown))


def _trace(rows: Sequence[Row], last: int | None, least: float, risk: float) -> Trace:
    by_commit: dict[str, list[Row]] = {}
    for row in rows:
        by_commit.setdefault(_name(row), []).append(row)
    groups = list(by_commit.items())[-last if last else None :]
    commits = [
        Commit(
            name=name,
            date=min(row.date for row in mine),
            value=median(row.value for row in mine),
            runs=len(mine),
        )
        for name, mine in groups
    ]
    found = changes([one.value for one in commits], risk=risk, least=least)
    first, newest = rows[0], rows[-1]
    bounds = [0, *(change.at for change in found.changes), len(commits)]
    steps = [
        Step(
            first=commits[change.at],
            last=commits[change.at - 1],
            change=change,
            worse=(change.ratio > 1) is not newest.higher_is_better,
            before=median(one.value for one in commits[bounds[i] : change.at]),
            after=median(one.value for one in commits[change.at : bounds[i + 2]]),
            causes=_causes(groups[change.at - 1][1], groups[change.at][1]),
        )
        for i, change in enumerate(found.changes)
    ]
    return Trace(
        benchmark=first.benchmark,
        metric=first.metric,
        unit=first.unit,
        gpu=first.gpu,
        higher_is_better=newest.higher_is_better,
        commits=tuple(commits),
        steps=tuple(steps),
        noise=found.noise,
        enough=found.enough,
        backdated=tuple(b for a, b in pairwise(commits) if a.date - b.date > _CLOCKS),
    )


def _causes(before: Sequence[Row], after: Sequence[Row]) -> tuple[str, ...]:
    """What changed with the commit, where both sides say one thing each."""
    found = []
    for field in _CAUSES:
        old, new = ({getattr(row, field) for row in rows} - {""} for rows in (before, after))
        if len(old) == len(new) == 1 and old != new:
            found.append(f"{field} {old.pop()} -> {new.pop()}")
    return tuple(found)
