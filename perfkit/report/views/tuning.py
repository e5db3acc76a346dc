"""``analysis.tuning`` -> document and JSON content."""

from __future__ import annotations

from typing import Any, Final

from perfkit.analysis.tuning import Tried, Tuning
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views.measure import bursts
from perfkit.units import format_ratio

_COLUMNS: Final = (
    Column("candidate", "candidate"),
    Column("place", "model's place", "count"),
    Column("time_s", "time", "seconds"),
    Column("interval_s", "95 % interval"),
    Column("slower", "slower than best", "ratio"),
    Column("tied", "tied with it", "yes"),
    Column("flop_per_s", "reached", "rate"),
    Column("share_of_bound", "of the bound", "ratio"),
)
_SHOWN_SECONDS: Final = Column("", "", "seconds")


def document(found: Tuning) -> Document:
    """Every candidate, the fastest first; the answer stands above."""
    table = Table(
        title="Tried, the fastest first",
        columns=_COLUMNS,
        rows=tuple(_row(one) for one in found.tried),
    ).without_empty_columns()
    return Document(summary=_summary(found), tables=(table,), notes=_notes(found))


def _row(one: Tried) -> tuple[Any, ...]:
    measured = one.measurement
    return (
        one.candidate.label,
        one.candidate.place,
        measured.median_s if one.is_good else None,
        _interval(one),
        one.slower,
        one.is_tied if one.is_good else None,
        measured.flop_per_s if one.is_good else None,
        1 / measured.ratio if one.is_good and measured.ratio else None,
    )


def _interval(one: Tried) -> Cell | None:
    ends = one.measurement.interval_s
    if ends is None or not one.is_good:
        return None
    return Cell(list(ends), " to ".join(_SHOWN_SECONDS.text(end) for end in ends))


def _summary(found: Tuning) -> str:
    about = found.environment
    where = f"{found.what} on {about.device}, {len(found.tried)} of {found.considered} tried"
    if found.chosen is None:
        return f"{where}: none of them gave a right result"
    tied = sum(one.is_tied for one in found.good)
    others = f", {tied - 1} more tied with the fastest" if tied > 1 else ""
    return f"{where}: take {found.chosen.candidate.label}{others}"


def _notes(found: Tuning) -> tuple[str, ...]:
    notes = list(found.environment.notes)
    if found.regret is not None and found.tried:
        notes.append(
            f"the model's first choice is {format_ratio(found.regret)} slower than the fastest of "
            "those tried"
        )
    for one in found.tried:
        if one.is_good:
            continue
        failure = one.measurement.failure
        notes.append(f"{one.candidate.label}: {failure.message if failure else 'wrong result'}")
    held = {text for one in found.good for run in one.measurement.runs for text in run.throttles}
    notes += [f"clocks were held down by {text}" for text in sorted(held)]
    if rests := {one.measurement.rest_s for one in found.tried} - {0}:
        notes.append(bursts(rests.pop()))
    notes += [f"not tried: {text}" for text in found.left_out]
    if found.interrupted:
        notes.append("interrupted: what was done till then")
    return tuple(notes)


def content(found: Tuning) -> dict[str, Any]:
    return {
        "what": found.what,
        "considered": found.considered,
        "chosen": found.chosen.candidate.key if found.chosen else None,
        "regret": found.regret,
        "regret_chosen": found.regret_chosen,
        "interrupted": found.interrupted,
        "results": [_result(one) for one in found.tried],
        "left_out": list(found.left_out),
        "environment": found.environment.content,
    }


def _result(one: Tried) -> dict[str, Any]:
    measured, failure = one.measurement, one.measurement.failure
    ends = measured.interval_s
    return {
        "candidate": one.candidate.key,
        "label": one.candidate.label,
        "settings": dict(one.candidate.settings),
        "place": one.candidate.place,
        "expected_s": one.candidate.expected_s,
        "time_s": measured.median_s,
        "rest_s": measured.rest_s,
        "interval_s": list(ends) if ends else None,
        "run_medians_s": [run.median_s for run in measured.runs],
        "slower": one.slower,
        "tied": one.is_tied,
        "right": None if not measured.is_checked else not measured.is_wrong,
        "flop_per_s": measured.flop_per_s,
        "bound_s": measured.prediction.bound_s if measured.prediction else None,
        "failure": failure.message if failure else None,
    }
