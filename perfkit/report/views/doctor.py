"""``access.Status`` of everything -> document and JSON content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perfkit.access import State, Status
from perfkit.report.document import Column, Document, Table


def document(found: Sequence[Status]) -> Document:
    table = Table(
        columns=(
            Column("what", "what"),
            Column("state", "state"),
            Column("detail", "detail"),
            Column("hint", "what to do"),
        ),
        rows=tuple((s.what, str(s.state), s.detail, s.hint) for s in found),
    )
    return Document(tables=(table,), notes=(_summary(found),))


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
