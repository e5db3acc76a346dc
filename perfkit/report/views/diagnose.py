"""``analysis.diagnose`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from perfkit.analysis.diagnose import Diagnosis, Finding, Symptom, worth_a_look
from perfkit.analysis.metrics import names
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.diagnose_texts import STALLS, TEXTS
from perfkit.units import format_ratio


class _Row(NamedTuple):
    number: int
    diagnosis: Diagnosis
    finding: Finding


def document(found: Sequence[Diagnosis], notes: Sequence[str] = ()) -> Document:
    """A line for each finding; the notes say what could not be looked at."""
    shown = [_Row(i, one, f) for i, one in enumerate(found) for f in worth_a_look(one)]
    table = Table(
        columns=(
            Column("launch", "launch", "count"),
            Column("kernel", "kernel"),
            Column("symptom", "symptom"),
            Column("value", "value"),
            Column("cause", "likely cause"),
            Column("check", "look at"),
        ),
        rows=tuple(
            (row.number, row.diagnosis.metrics.kernel, *_texts(row.finding)) for row in shown
        ),
    )
    return Document(
        tables=(table.without_empty_columns() if len(found) > 1 else _narrow(table),),
        notes=(*notes, *_notes(found, shown)),
        flat=Table(
            columns=tuple(Column(key, key) for key in _FLAT),
            rows=tuple(
                (i, one.metrics.kernel, *(_finding(f)[key] for key in _FLAT[2:]))
                for i, one in enumerate(found)
                for f in one.findings
            ),
        ),
    )


_FLAT: Final = ("launch", "kernel", "symptom", "value", "threshold", "detail", "cause", "check")


def _narrow(table: Table) -> Table:
    """Of one launch nothing has to be said about which."""
    rows = tuple(row[2:] for row in table.rows)
    return Table(columns=table.columns[2:], rows=rows)


def _texts(finding: Finding) -> tuple[str, str, str, str]:
    words = TEXTS[finding.symptom]
    value = format_ratio(finding.value) if words.is_share else f"{finding.value:.3g}"
    return words.symptom, f"{value}{words.unit}", cause(finding), words.check


def cause(finding: Finding) -> str:
    """What is behind it, with what the rule saw."""
    text = TEXTS[finding.symptom].cause
    if finding.symptom is Symptom.STALL_REASON:
        reason = finding.detail or ""
        return STALLS.get(reason, f"warps wait: {reason.replace('_', ' ')}")
    if finding.detail is None:
        return text
    return f"{text} ({finding.detail.replace('_', ' ')})"


def _notes(found: Sequence[Diagnosis], shown: Sequence[_Row]) -> list[str]:
    said = []
    if not shown:
        said.append("no rule fires")
    hidden = sum(len(one.findings) for one in found) - len(shown)
    if hidden:
        said.append(f"{hidden} findings that a larger one explains are left out; JSON has them")
    if found:
        checked = sum(len(one.checked) for one in found)
        total = checked + sum(len(one.unchecked) for one in found)
        said.append(f"{checked} of {total} rules had the figures they need")
    lacking = sorted({name for one in found for _, missing in one.unchecked for name in missing})
    if lacking:
        said.append(
            f"not in the file: {', '.join(lacking).replace('_', ' ')}; ncu --set full has most"
        )
    return said


def content(found: Sequence[Diagnosis], notes: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "launches": [
            {
                "kernel": one.metrics.kernel,
                "metrics": {name: getattr(one.metrics, name) for name in names()},
                "stalls": [stall._asdict() for stall in one.metrics.stalls],
                "findings": [
                    {**_finding(finding), "explained": finding not in tuple(worth_a_look(one))}
                    for finding in one.findings
                ],
                "checked": [symptom.value for symptom in one.checked],
                "unchecked": [
                    {"symptom": symptom.value, "missing": list(missing)}
                    for symptom, missing in one.unchecked
                ],
            }
            for one in found
        ],
        "notes": list(notes),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "symptom": finding.symptom.value,
        "value": finding.value,
        "threshold": finding.threshold,
        "detail": finding.detail,
        "cause": cause(finding),
        "check": TEXTS[finding.symptom].check,
        "source": finding.source,
    }
