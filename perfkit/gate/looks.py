"""Asking again after every run, and still being wrong no more often than once in a hundred times.

Whoever looks thirty times at 1 % each is wrong far more often than in 1 %. So the risk is shared
out among the looks before the first run: whatever happens, the chance that any of them is wrong is
at most the sum of their shares (Bonferroni; it asks nothing of how looks depend on each other, on
the noise, or on when the runs end). A look whose share no result can reach spends nothing.

Half of the risk goes to two early looks, a quarter to each: the first that can decide at all at its
quarter, and one at half as many runs again. The other half goes to all later looks that can decide,
in equal parts. What is unspent when the runs end for another reason than their result (the budget)
may be spent on the last look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.gate.ranks import RANK_SHARE, least_rank_sum_p
from perfkit.gate.scatter import SIGNED_PAIRS
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_EARLY: Final = 0.25  #: of the risk, for each of the two early looks


@record
class Looks:
    """How the risk is shared out."""

    risk: float  #: of all looks together
    shares: Mapping[int, float]  #: runs -> risk of the look after so many; others are no looks

    def unspent(self, runs: int) -> float:
        """What is left where ``runs`` are the last, for reasons apart from their result."""
        return max(self.risk - sum(share for at, share in self.shares.items() if at < runs), 0.0)


def least_p(runs: int, stored: int | None) -> float:
    """The smallest p of the rank test after so many runs.

    Args:
        runs: pairs, or runs of the candidate alone.
        stored: runs of a baseline that was recorded; None: the runs are pairs.

    >>> least_p(6, None) == least_p(6, 6), least_p(7, None)
    (True, 0.0078125)
    """
    if stored is None:
        return 0.5**runs if runs >= SIGNED_PAIRS else least_rank_sum_p(runs, runs)
    return least_rank_sum_p(stored, runs)


def looks(risk: float, most: int, least: Callable[[int], float]) -> Looks:
    """Share ``risk`` out among the looks after 2, 3 … ``most`` runs.

    Args:
        risk: of being wrong at any look.
        most: runs after which there is no further one.
        least: the smallest p that a look can give.

    >>> found = looks(0.01, 30, lambda n: least_p(n, None))
    >>> sorted(found.shares)[:3], found.shares[6], round(sum(found.shares.values()), 9)
    ([6, 9, 13], 0.0025, 0.01)
    """

    def can(runs: int, share: float) -> bool:
        return least(runs) <= RANK_SHARE * share

    def first(start: int) -> int | None:
        return next((n for n in range(start, most + 1) if can(n, _EARLY * risk)), None)

    one = first(2)
    if one is None or one == most:
        return Looks(risk=risk, shares={most: risk} if can(most, risk) else {})
    early = {one: _EARLY * risk}
    if (two := first(one + (one + 1) // 2)) is not None:
        early[two] = _EARLY * risk
    rest = risk - sum(early.values())
    for start in range(max(early) + 1, most + 1):
        share = rest / (most - start + 1)
        if all(can(n, share) for n in range(start, most + 1)):
            return Looks(risk=risk, shares=early | dict.fromkeys(range(start, most + 1), share))
    early[max(early)] += rest
    return Looks(risk=risk, shares=early)
