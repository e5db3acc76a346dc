"""Slow runs that are left out as accidents, and are on one side only: those of a regression.

An interval without them would call code unchanged that is now slow in one run of five. Accidents
happen to both sides alike, so a side must not have more of them than chance gives it.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

#: exact test of the numbers of the sides; the next lower p that small numbers can have is well
#: below it, so that it rejects unchanged code far less often
_RISK: Final = 0.05
#: runs apart that agree within so many standard deviations are a mode of their own, no accidents
_ALIKE: Final = 4.0
#: two of them, and one more for every so many runs
_RUNS_PER_FURTHER: Final = 15


def lopsided(
    before: np.ndarray,
    after: np.ndarray,
    lost_before: np.ndarray,
    lost_after: np.ndarray,
    scatter: np.ndarray,
) -> np.ndarray:
    """What slow runs apart add to the candidate's mean where accidents do not explain them.

    0 where they do. Fast ones that the baseline alone has are the same seen from its side.

    Args:
        before: logarithms, shape (benchmarks, runs), larger for worse.
        after: the same of the candidate.
        lost_before: the runs that are left out.
        lost_after: the same of the candidate.
        scatter: standard deviation of the other runs, one for each benchmark.
    """
    import numpy as np

    found = np.zeros(len(before))
    asked = np.maximum(lost_before.sum(axis=1), lost_after.sum(axis=1)) > 1
    for row in asked.nonzero()[0].tolist():
        old = (before[row] - np.median(before[row]))[lost_before[row]].tolist()
        new = (after[row] - np.median(after[row]))[lost_after[row]].tolist()
        sizes = before.shape[1], after.shape[1]
        width = _ALIKE * float(scatter[row])
        found[row] = max(
            _more(new, old, sizes[::-1], width),
            _more([-value for value in old], [-value for value in new], sizes, width),
        )
    return found


def lopsided_pairs(difference: np.ndarray, lost: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """The same of pairs: those left out in which the candidate is the slower one, and the other."""
    import numpy as np

    found = np.zeros(len(difference))
    runs = difference.shape[1]
    for row in (lost.sum(axis=1) > 1).nonzero()[0].tolist():
        apart = (difference[row] - np.median(difference[row]))[lost[row]].tolist()
        width = _ALIKE * float(scatter[row])
        found[row] = _more(apart, [-value for value in apart], (runs, runs), width)
    return found


def _more(more: list[float], fewer: list[float], runs: tuple[int, int], width: float) -> float:
    """What the first side's runs above add, if they are more by number or as a mode; or 0."""
    here = sorted(value for value in more if value > 0)
    there = [value for value in fewer if value > 0]
    need = 2 + runs[0] // _RUNS_PER_FURTHER
    found = _fisher(len(here), len(there), *runs) <= _RISK or any(
        sum(low <= value <= low + width for value in here)
        - sum(low - width <= value <= low + 2 * width for value in there)
        >= need
        for low in here
    )
    return max(sum(here) / runs[0] - sum(there) / runs[1], 0.0) if found else 0.0


@lru_cache(maxsize=4096)
def _fisher(here: int, there: int, runs_here: int, runs_there: int) -> float:
    """P(so many of all marked runs, or more, are on the first side), Fisher's exact test.

    >>> round(_fisher(6, 0, 30, 30), 4), _fisher(0, 3, 10, 10)
    (0.0119, 1.0)
    """
    marked = here + there
    ways = sum(
        comb(runs_here, k) * comb(runs_there, marked - k)
        for k in range(here, min(marked, runs_here) + 1)
    )
    return ways / comb(runs_here + runs_there, marked)
