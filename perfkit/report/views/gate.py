"""``gate.verdict`` -> document, JSON content, and findings for JUnit, SARIF and GitHub."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log
from typing import Any, Final

from perfkit.gate.quantities import QUANTITIES, figure
from perfkit.gate.verdict import Outcome, Status, Verdict
from perfkit.readers.results import Unit
from perfkit.report.document import Cell, Column, Document, Table, printable
from perfkit.report.findings import Finding, Level
from perfkit.units import format_count, format_seconds

#: more rows than a reviewer reads at a glance
_AT_A_GLANCE: Final = 20
_RANK: Final = {Status.FAIL: 0, Status.INCONCLUSIVE: 1, Status.PASS: 2}
_WORDS: Final = {Status.FAIL: "FAIL", Status.INCONCLUSIVE: "cannot tell", Status.PASS: "pass"}
_COUNTED: Final = {Status.FAIL: "fail", Status.INCONCLUSIVE: "cannot be told", Status.PASS: "pass"}
_EMPTY: Final = "CANNOT TELL: nothing was checked"

_COLUMNS: Final = (
    Column("status", "verdict"),
    Column("benchmark", "name"),
    Column("arch", "arch"),
    Column("gpu", "GPU"),
    Column("metric", "of"),
    Column("baseline_value", "baseline", "count"),
    Column("candidate_value", "now", "count"),
    Column("message", "why"),
)
_STEP: Final = Column("next_step", "next")


def document(found: Outcome, most: int | None = None) -> Document:
    """Failures and what cannot be told, the worst first; what passes where there is room.

    Args:
        found: the verdicts.
        most: rows, beyond which the others are only counted; None: all.
    """
    ordered = sorted(found.verdicts, key=_severity)
    open_ = [verdict for verdict in ordered if verdict.status is not Status.PASS]
    passed = [verdict for verdict in ordered if verdict.status is Status.PASS]
    rows = ordered if len(ordered) <= _AT_A_GLANCE else open_
    left_out = [] if most is None else rows[most:]
    rows = rows[:most]
    rest = rows[_AT_A_GLANCE:]
    tables = [_table(rows[:_AT_A_GLANCE], None), _table(rest, f"{len(rest)} more")]
    said = [(one, note) for one in rows[:_AT_A_GLANCE] for note in one.notes]
    notes = [printable(f"{_place(one)}: {note}") for one, note in said]
    notes += [f"{len(left_out)} more are left out here"] if left_out else []
    if passed and rows is not ordered and len(ordered) > _AT_A_GLANCE:
        notes.append(f"{len(passed)} pass and are not listed")
    return Document(
        tables=tuple(table for table in tables if table.rows),
        notes=tuple(notes),
        summary=summary(found),
        flat=_flat(found.verdicts),
    )


def summary(found: Outcome) -> str:
    """The answer in one line.

    >>> from perfkit.gate.verdict import outcome
    >>> summary(outcome([]))
    'CANNOT TELL: nothing was checked'
    """
    if not found.verdicts:
        return _EMPTY
    said = ", ".join(
        f"{found.counts[status]} {_COUNTED[status]}" for status in _RANK if found.counts[status]
    )
    return f"{_WORDS[found.status].upper()}: {said}"


def _severity(verdict: Verdict) -> tuple[object, ...]:
    """Worst first, by how far beyond what is allowed; what passes in its own order."""
    return (_RANK[verdict.status], -_excess(verdict) if verdict.status is not Status.PASS else 0)


def _excess(verdict: Verdict) -> float:
    """How many times worse than allowed, as a logarithm; 0 where that is no number."""
    if verdict.static is None:
        return log(verdict.ratio) if verdict.ratio and verdict.ratio > 0 else 0.0
    value, limit = verdict.candidate_value, verdict.static.limit
    if value is None or limit is None:
        return 0.0
    worse, better = (limit, value) if verdict.higher_is_better else (value, limit)
    return log((worse + 1e-9) / (better + 1e-9))


def _table(verdicts: Sequence[Verdict], title: str | None) -> Table:
    columns = (*_COLUMNS, _STEP)
    table = Table(
        title=title,
        columns=columns,
        rows=tuple(_row(verdict) for verdict in verdicts),
        collapsed=title is not None,
    )
    return table.without_empty_columns()


def _row(verdict: Verdict) -> tuple[Any, ...]:
    static = verdict.static
    return (
        _WORDS[verdict.status],
        verdict.benchmark,
        static.arch if static else None,
        static.gpu if static else None,
        verdict.metric,
        _cell(verdict, verdict.baseline_value),
        _cell(verdict, verdict.candidate_value),
        verdict.message,
        verdict.next_step,
    )


def _cell(verdict: Verdict, value: float | None) -> Cell | None:
    return None if value is None else Cell(value, _value(verdict, value))


def _value(verdict: Verdict, value: float) -> str:
    if verdict.metric == "fits":
        return "yes" if value else "no"
    if verdict.static is not None and verdict.metric in QUANTITIES:
        return figure(value, QUANTITIES[verdict.metric])
    if verdict.unit in {Unit.BYTES_PER_SECOND, Unit.FLOP_PER_SECOND, Unit.PER_SECOND}:
        return format_count(value, verdict.unit)
    if verdict.unit == Unit.SECONDS:
        return format_seconds(value)
    return f"{value:.6g}"


def _flat(verdicts: Sequence[Verdict]) -> Table:
    """One row per verdict, in the order of the files."""
    keys = (
        "status", "benchmark", "metric", "reason", "message", "unit", "baseline_value",
        "candidate_value", "ratio", "baseline_runs", "candidate_runs", "noise", "next_step",
    )  # fmt: skip
    places = ("arch", "gpu", "rule", "rule_at", "limit", "file", "line")
    columns = [Column(key, key) for key in (*keys, "low", "high", *places)]
    rows = []
    for one in verdicts:
        low, high = one.interval or (None, None)
        where = [getattr(one.static, place) if one.static else None for place in places]
        rows.append((*(getattr(one, key) for key in keys), low, high, *where))
    return Table(columns=tuple(columns), rows=tuple(rows))


def content(found: Outcome) -> dict[str, Any]:
    counts = {status.value: count for status, count in found.counts.items()}
    verdicts = found.as_dict()
    return {
        "status": verdicts["status"],
        "exit_code": found.exit_code,
        "summary": counts,
        "verdicts": verdicts["verdicts"],
    }


# --- findings -------------------------------------------------------------------------------------


def findings(found: Outcome, on_inconclusive: Mapping[str, str]) -> list[Finding]:
    """One for each verdict, the worst first.

    ``on_inconclusive``: by suite, what the exit code makes of what cannot be told, so that no
    viewer shows it better or worse than the run ends. What must not pass is never skipped.
    """
    ordered = sorted(found.verdicts, key=_severity)
    return [_finding(verdict, on_inconclusive) for verdict in ordered]


def _finding(verdict: Verdict, on_inconclusive: Mapping[str, str]) -> Finding:
    static = verdict.static
    suite = "static" if static is not None else "timing"
    file, line = (static.file, static.line) if static is not None else (None, None)
    if static is not None and file is None and (rule := _FILE_LINE.fullmatch(static.rule_at)):
        file, line = rule[1], int(rule[2])  # of no kernel: the rule is to blame
    return Finding(
        level=_level(verdict, on_inconclusive[suite]),
        suite=suite,
        rule=verdict.metric,
        reason=verdict.reason.value,
        subject=verdict.benchmark,
        title=_title(verdict),
        message=verdict.message,
        next_step=verdict.next_step,
        file=file,
        line=line,
    )


_FILE_LINE: Final = re.compile(r"(.+):([1-9][0-9]*)", re.DOTALL)


def _level(verdict: Verdict, on_inconclusive: str) -> Level:
    if verdict.status is Status.PASS:
        return "none"
    if verdict.status is Status.FAIL or on_inconclusive == "fail":
        return "error"
    let_through = on_inconclusive == "pass" and not verdict.reason.blocking
    return "note" if let_through else "warning"


def _title(verdict: Verdict) -> str:
    rule = verdict.static.rule if verdict.static is not None else verdict.metric
    return f"{_place(verdict)}: {rule}"


def _place(verdict: Verdict) -> str:
    """The kernel and where it would run; the benchmark."""
    static = verdict.static
    if static is None or static.arch is None:
        return verdict.benchmark
    return f"{verdict.benchmark} ({static.arch}{f' on {static.gpu}' if static.gpu else ''})"
