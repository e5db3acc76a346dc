"""``access.Status`` of everything -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from perfkit.access import State, Status
from perfkit.report.document import Column, Document, Table

_COLUMNS: Final = (Column("what", "what"), Column("state", "state"), Column("detail", "detail"))
_HINT: Final = Column("hint", "what to do")


def document(found: Sequence[Status]) -> Document:
    """What is here, and below it what to do: side by side, few terminals are wide enough."""
    rows = tuple((s.what, str(s.state), s.detail, s.hint) for s in found)
    return Document(
        tables=(
            Table(columns=_COLUMNS, rows=tuple(row[:3] for row in rows)),
            Table(
                columns=(_COLUMNS[0], _HINT),
                rows=tuple((s.what, s.hint) for s in found if s.hint),
            ),
        ),
        notes=(_summary(found),),
        flat=Table(columns=(*_COLUMNS, _HINT), rows=rows),
    )


def _summary(found: Sequence[Status]) -> str:
    counts = {state: sum(s.state is state for s in found) for state in State}
    if counts[State.BROKEN]:
        return f"{counts[State.BROKEN]} broken: here, but it does not work"
    if counts[State.MISSING]:
        return f"nothing is broken; {counts[State.MISSING]} optional parts are not here"
    return "nothing is broken or missing"


def content(found: Sequence[Status]) -> dict[str, Any]:
    return {
        "broken": any(s.state is State.BROKEN for s in found),
        "checks": [
            {"what": s.what, "state": str(s.state), "detail": s.detail, "hint": s.hint}
            for s in found
        ],
    }
