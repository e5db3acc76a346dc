"""How results end: which come first on a page, and how they look there.

What needs attention is told by its word, in capitals, and by weight and colour as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from math import log
from typing import Any, Final

from perfkit.gate.words import signed
from perfkit.record import record
from perfkit.report.document import Cell
from perfkit.report.views.gate_history import short


class Level(IntEnum):
    """How serious; what comes first is shown first."""

    BAD = 0
    OPEN = 1  #: nobody can tell
    PLAIN = 2  #: nothing to praise or to complain about
    GOOD = 3


#: column -> value -> how serious; of other columns values are no outcomes
_LEVELS: Final[dict[str, dict[object, Level]]] = {
    "status": {
        **dict.fromkeys(("fail", "worse"), Level.BAD),
        **dict.fromkeys(("inconclusive", "unfinished", "skipped"), Level.OPEN),
        **dict.fromkeys(("mixed", "not_comparable"), Level.OPEN),
        **dict.fromkeys(("pass", "better"), Level.GOOD),
    },
    "verdict": {
        **dict.fromkeys(("failed", "wrong result"), Level.BAD),
        "faster than the bound": Level.OPEN,
        "near the bound": Level.GOOD,
    },
    "launches": {False: Level.BAD, None: Level.OPEN, True: Level.GOOD},
    "state": {"broken": Level.BAD, "missing": Level.OPEN, "ok": Level.GOOD},
}
#: the column of a history, which is read off all of its changes
_CHANGES: Final = "changes[].worse"
_WHO: Final = ("benchmark", "name", "kernel", "what", "target", "metric", "card")
_WHY: Final = ("message", "failure", "reason", "detail", "hint")


@record
class Outcome:
    """Of one row."""

    level: Level
    words: str

    @property
    def look(self) -> str:
        """The class of its style."""
        return self.level.name.lower()

    def cell(self) -> Cell:
        """Sorted by how serious it is."""
        return Cell(int(self.level), self.words, self.look)


def of(key: str | None, row: Mapping[str, Any]) -> Outcome | None:
    """What the row's column says; None: it is not one of outcomes.

    >>> of("status", {"status": "fail"}).words, of("status", {"status": "not_comparable"}).words
    ('FAIL', 'not comparable')
    """
    if key == _CHANGES:
        return _change(row)
    if key not in _LEVELS or key not in row:
        return None
    given = row.get(key)
    level = _LEVELS[key].get(given, Level.PLAIN)
    words = {None: "not known", True: "yes", False: "no"}.get(given, str(given))
    words = words.replace("_", " ")
    return Outcome(level=level, words=words.upper() if level is Level.BAD else words)


def _change(row: Mapping[str, Any]) -> Outcome:
    worse = [one["worse"] for one in row.get("changes") or ()]
    if worse:
        return (
            Outcome(level=Level.BAD, words="WORSE")
            if any(worse)
            else Outcome(level=Level.GOOD, words="better")
        )
    if row.get("enough_commits") is False:
        return Outcome(level=Level.OPEN, words="too few commits")
    return Outcome(level=Level.GOOD, words="no change")


def severity(key: str | None, row: Mapping[str, Any]) -> tuple[float, float]:
    """To sort by: the worst first, of equal ones the one that is furthest beyond its limit."""
    found = of(key, row)
    if found is None:
        return (Level.PLAIN, 0.0)
    return (found.level, -_excess(row) if found.level < Level.PLAIN else 0.0)


def _excess(row: Mapping[str, Any]) -> float:
    """How many times beyond its limit, or worse than before, as a logarithm."""
    limit = (row.get("static") or {}).get("limit")
    if limit is None:
        return _log(row.get("ratio"))
    value = row.get("candidate_value")
    return abs(_log(value) - _log(limit)) if value else 0.0


def _log(value: Any) -> float:
    return log(value) if isinstance(value, int | float) and value > 0 else 0.0


def worst(key: str | None, rows: Sequence[Mapping[str, Any]]) -> Level:
    """Of all rows."""
    return min((one.level for row in rows if (one := of(key, row))), default=Level.PLAIN)


def said(row: Mapping[str, Any]) -> str:
    """Whose outcome it is, and why."""
    who = ", ".join(str(row[key]) for key in _WHO if row.get(key))
    why = next((_reason(row[key]) for key in _WHY if row.get(key)), "; ".join(_obstacles(row)))
    return f"{who}: {why}" if why else who


def _reason(given: Any) -> str:
    """A failure is an object; what it says, and what may help."""
    if not isinstance(given, dict):
        return str(given)
    return "; ".join(str(given[key]) for key in ("message", "hint") if given.get(key))


def _obstacles(row: Mapping[str, Any]) -> Iterator[str]:
    for one in row.get("obstacles") or ():
        yield str(one["message"])
    if row.get("differing"):
        yield f"{row['differing']:,} of {row['compared']:,} differ"
    for one in row.get("changes") or ():
        yield f"{signed(one['ratio'] - 1)} at {short(one['first_commit'])}"
