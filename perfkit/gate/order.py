"""In which order the runs of both sides were taken, as far as it is known.

Runs that take turns see the same machine. Where one side follows the other, whatever the machine
does meanwhile looks like a change.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Order(StrEnum):
    UNKNOWN = "unknown"
    IN_TURN = "in_turn"
    AFTER = "after"  #: the candidate's runs, on the whole, after the baseline's
    BEFORE = "before"


def moment(date: str | None) -> float | None:
    """Seconds since 1970 of an ISO date; one without a zone is in UTC; None of anything else.

    >>> moment("1970-01-02T00:00:00Z"), moment("1970-01-02 01:00:00+01:00"), moment("yesterday")
    (86400.0, 86400.0, None)
    """
    if date is None:
        return None
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def order(baseline_s: Sequence[float | None], candidate_s: Sequence[float | None]) -> Order:
    """The order of runs, from the moments that their files name.

    They take turns where the sides alternate as often as the smaller one has runs, and twice.

    >>> order([1, 2, 3], [4, 5, 6]).value, order([1, 4, 5], [2, 3, 6]).value, order([1], [1]).value
    ('after', 'in_turn', 'unknown')
    """
    first = [one for one in baseline_s if one is not None]
    second = [one for one in candidate_s if one is not None]
    if not first or not second or len(first) < len(baseline_s) or len(second) < len(candidate_s):
        return Order.UNKNOWN
    later = set(second)
    if later & set(first):
        return Order.UNKNOWN
    sides = [one in later for one in sorted({*first, *second})]
    if sum(a is not b for a, b in pairwise(sides)) >= max(2, min(len(first), len(second))):
        return Order.IN_TURN
    after = sum(second) / len(second) >= sum(first) / len(first)
    return Order.AFTER if after else Order.BEFORE
