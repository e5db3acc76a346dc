"""``gate.history`` -> document and JSON: each series at a glance, and its changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log
from typing import Any, Final

from perfkit.gate.changepoint import fewest
from perfkit.gate.history import CommitOrder, History, Step, Trace
from perfkit.gate.words import signed
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views.baseline import share, value_text

_BARS: Final = "▁▂▃▄▅▆▇█"
#: characters of a sparkline; of more commits several share one
_WIDTH: Final = 40
_NAME: Final = 12  #: characters of a commit
_LONGEST: Final = 40  #: characters of a name that is no hash
#: a series that moves by less than this is drawn as flat
_FLAT_SHARE: Final = 0.02

_SERIES: Final = (
    Column("benchmark", "benchmark"),
    Column("metric", "of"),
    Column("gpu", "GPU"),
    Column("commits", "commits", "count"),
    Column("runs", "runs", "count"),
    Column("latest", "latest", "count"),
    Column("noise", "noise", "count"),
    Column("line", "medians, first to last"),
    Column("change", "change"),
)
_STEPS: Final = (
    Column("benchmark", "benchmark"),
    Column("metric", "of"),
    Column("gpu", "GPU"),
    Column("first", "changed by"),
    Column("last", "last before it"),
    Column("date", "date"),
    Column("before", "before", "count"),
    Column("after", "after", "count"),
    Column("size", "change"),
    Column("risk", "by chance"),
    Column("between", "or perhaps"),
)
_COMMITS: Final = (
    Column("benchmark", "benchmark"),
    Column("metric", "of"),
    Column("gpu", "GPU"),
    Column("commit", "commit"),
    Column("date", "first run"),
    Column("runs", "runs", "count"),
    Column("median", "median", "count"),
)
_FLAT: Final = tuple(
    Column(key, key)
    for key in (
        *("benchmark", "metric", "unit", "gpu", "commit", "date", "runs", "median"),
        *("change", "worse", "risk", "last_before"),
    )
)


def document(found: History, *, commits: bool = False) -> Document:
    """The series, their changes, and on demand every commit."""
    traces = found.traces
    steps = [(trace, step) for trace in traces for step in trace.steps]
    tables = [
        Table(
            columns=_SERIES, rows=tuple(_series(t, found.risk) for t in traces)
        ).without_empty_columns(),
        Table(
            title="Changes", columns=_STEPS, rows=tuple(_step(t, s) for t, s in steps)
        ).without_empty_columns(),
    ]
    if commits:
        rows = tuple(row for trace in traces for row in _commits(trace))
        tables.append(Table(title="Commits", columns=_COMMITS, rows=rows).without_empty_columns())
    return Document(
        summary=_summary(found),
        tables=tuple(tables),
        notes=tuple(_notes(found)),
        flat=Table(columns=_FLAT, rows=tuple(row for trace in traces for row in _flat(trace))),
    )


def _summary(found: History) -> str:
    changed = sum(bool(trace.steps) for trace in found.traces)
    many = f"{len(found.traces)} series"
    if changed:
        return f"{changed} of {many} changed"
    if any(trace.enough for trace in found.traces):
        return f"No change in {many}"
    return f"Too few commits to find a change in {many}"


def _series(trace: Trace, risk: float) -> tuple[Any, ...]:
    latest = trace.commits[-1].value
    return (
        trace.benchmark,
        trace.metric,
        trace.gpu or None,
        len(trace.commits),
        trace.runs,
        Cell(latest, value_text(latest, trace.unit)),
        share(trace.noise) if len(trace.commits) > 2 else None,
        sparkline([one.value for one in trace.commits]),
        _said(trace, risk),
    )


def _said(trace: Trace, risk: float) -> str:
    if not trace.enough:
        return f"too few commits: {fewest(risk)} at least"
    if not trace.steps:
        return "none"
    last = trace.steps[-1]
    more = f", and {len(trace.steps) - 1} before" if len(trace.steps) > 1 else ""
    return f"{_size(last)} at {short(last.first.name)}{more}"


def _size(step: Step) -> str:
    return f"{signed(step.change.ratio - 1)} ({'worse' if step.worse else 'better'})"


def short(commit: str) -> str:
    """A commit's hash cut short; a date, a tag or any other name of usual length stays."""
    if len(commit) > _NAME and all(c in "0123456789abcdef" for c in commit):
        return commit[:_NAME]
    return commit if len(commit) <= _LONGEST else f"{commit[: _LONGEST - 1]}…"


def _step(trace: Trace, step: Step) -> tuple[Any, ...]:
    earliest, latest = step.change.earliest, step.change.latest
    others = [
        short(trace.commits[place].name)
        for place in (earliest, latest)
        if place != step.change.at and place < len(trace.commits)
    ]
    return (
        trace.benchmark,
        trace.metric,
        trace.gpu or None,
        short(step.first.name),
        short(step.last.name),
        step.first.date.date().isoformat(),
        Cell(step.before, value_text(step.before, trace.unit)),
        Cell(step.after, value_text(step.after, trace.unit)),
        _size(step),
        f"{step.change.risk:.1g}" if step.change.risk >= 1e-6 else "< 1e-06",
        " … ".join(others),
    )


def _commits(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for one in trace.commits:
        yield (
            trace.benchmark,
            trace.metric,
            trace.gpu or None,
            short(one.name),
            one.date.isoformat(timespec="seconds"),
            one.runs,
            Cell(one.value, value_text(one.value, trace.unit)),
        )


def _flat(trace: Trace) -> Iterator[tuple[Any, ...]]:
    at = {step.change.at: step for step in trace.steps}
    for place, one in enumerate(trace.commits):
        step = at.get(place)
        yield (
            *(trace.benchmark, trace.metric, trace.unit, trace.gpu, one.name),
            *(one.date.isoformat(timespec="seconds"), one.runs, one.value),
            *(
                (step.change.ratio - 1, step.worse, step.change.risk, step.last.name)
                if step
                else (None,) * 4
            ),
        )


def _notes(found: History) -> Iterator[str]:
    if found.branch is not None:
        shown = ", ".join(name or "(none)" for name in found.others[:5])
        more = ", …" if len(found.others) > 5 else ""
        yield f"branch {found.branch or '(none)'}; not shown: {shown}{more}"
    if found.order is CommitOrder.ADDED and (odd := [t for t in found.traces if t.backdated]):
        yield _disagreeing(odd)
    for trace in found.traces:
        for step in trace.steps:
            if step.causes:
                where = short(step.first.name)
                yield f"{trace.benchmark}: at {where} also changed: {'; '.join(step.causes)}"


def _disagreeing(odd: list[Trace]) -> str:
    """Of the series in which dates go back."""
    names = {one.name for trace in odd for one in trace.backdated}
    first = odd[0].backdated[0]
    many = f"{len(names)} commits are" if len(names) > 1 else "1 commit is"
    which = "such as " if len(names) > 1 else ""
    return (
        f"dates and the order in which runs were added disagree: {many} dated before the one ahead "
        f"({which}{short(first.name)}, {first.date.date().isoformat()}); they stand in the order "
        "in which they were added, --order date or git gives another"
    )


def sparkline(values: list[float]) -> str:
    """Medians as bars, on the scale of their own range; of many commits the median of each few.

    >>> sparkline([1.0, 1.0, 1.5, 2.0]), sparkline([1.0, 1.001])
    ('▁▁▅█', '▄▅')
    """
    from statistics import median

    count = min(len(values), _WIDTH)
    cuts = [round(i * len(values) / count) for i in range(count + 1)]
    shown = [log(median(values[a:b])) for a, b in pairwise(cuts)]
    low, high = min(shown), max(shown)
    if high - low < log(1 + _FLAT_SHARE):
        middle = (low + high) / 2
        low, high = middle - log(1 + _FLAT_SHARE) / 2, middle + log(1 + _FLAT_SHARE) / 2
    steps = len(_BARS) - 1
    return "".join(_BARS[round((value - low) / (high - low) * steps)] for value in shown)


def content(found: History) -> dict[str, Any]:
    """Everything, each commit of each series."""
    return {
        "branch": found.branch,
        "other_branches": list(found.others),
        "risk": found.risk,
        "order": found.order,
        "series": [_content(trace) for trace in found.traces],
    }


def _content(trace: Trace) -> dict[str, Any]:
    names = [one.name for one in trace.commits]
    return {
        "benchmark": trace.benchmark,
        "metric": trace.metric,
        "unit": trace.unit,
        "gpu": trace.gpu or None,
        "higher_is_better": trace.higher_is_better,
        "noise": trace.noise,
        "enough_commits": trace.enough,
        "backdated_commits": [one.name for one in trace.backdated],
        "commits": [
            {
                "commit": one.name,
                "date": one.date.isoformat(timespec="seconds"),
                "median": one.value,
                "runs": one.runs,
            }
            for one in trace.commits
        ],
        "changes": [
            {
                "first_commit": step.first.name,
                "last_commit_before": step.last.name,
                "earliest_commit": names[step.change.earliest],
                "latest_commit": names[step.change.latest],
                "date": step.first.date.isoformat(timespec="seconds"),
                "ratio": step.change.ratio,
                "worse": step.worse,
                "before": step.before,
                "after": step.after,
                "risk": step.change.risk,
                "confidence": 1 - step.change.risk,
                "also_changed": list(step.causes),
            }
            for step in trace.steps
        ],
    }
