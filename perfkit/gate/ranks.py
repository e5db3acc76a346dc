"""Exact rank tests: what holds for runs of any distribution.

The interval of the gate trusts that runs scatter about as a normal distribution does. Where they
do not (two modes, heavy tails, a left-out outlier) the rank test still holds its error rate: under
"nothing changed" every order of the runs is equally likely. A FAIL needs both.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, comb, erfc, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

#: of the risk, what the rank test may take: it is exact, and an exact 1 % looks like more in half
#: of all checks; 0.8 % is what five runs a side (2/252) and seven pairs (1/128) can reach
RANK_SHARE: Final = 0.8
#: above this many pairs of runs the normal approximation is exact enough
_EXACT_PAIRS: Final = 900
_EXACT_SIGNED: Final = 60
#: the same where single comparisons are asked, of many sizes; few runs on one side are quick
_EXACT_TAIL: Final = 250
_FEW: Final = 6
_EXACT_TAIL_OF_FEW: Final = 4000


def rank_sum_p(
    baseline: np.ndarray,
    candidate: np.ndarray,
    spared: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """One-sided p of "the candidate's runs are larger", Mann-Whitney, exact.

    Runs that are spared (slow ones that stand apart from their side: accidents) are in no pair, and
    chance has put them on the one side or the other: p is the share of all orders in which the
    others stand as well as here, wherever those that are spared belong.

    Args:
        baseline: shape (benchmarks, runs).
        candidate: shape (benchmarks, other runs).
        spared: masks of both sides; None: no run.

    Ties count against: a tie is half a pair in the wrong order, rounded up.
    """
    import numpy as np

    m, n = baseline.shape[1], candidate.shape[1]
    wrong = np.zeros(len(baseline))
    aside = np.zeros(len(baseline), dtype=int)
    if spared is not None and m * n <= _EXACT_PAIRS:  # among many runs a few do not matter
        aside = sum(mask.sum(axis=1) for mask in spared)
        baseline = np.where(spared[0], -np.inf, baseline)  # nothing is below it
        candidate = np.where(spared[1], np.inf, candidate)
    for column in range(n):  # a loop over runs keeps the comparison matrix small
        one = candidate[:, column, None]
        wrong += (one < baseline).sum(axis=1) + 0.5 * (one == baseline).sum(axis=1)
    if m * n > _EXACT_PAIRS:
        return _normal_tail(wrong, m * n / 2, sqrt(m * n * (m + n + 1) / 12))
    p = np.empty(len(baseline))
    for count in np.unique(aside).tolist():
        here = aside == count
        table = np.array(_spared_table(m, n, count))
        p[here] = table[np.ceil(wrong[here]).astype(int)]
    return p


def signed_rank_p(difference: np.ndarray, spared: np.ndarray | None = None) -> np.ndarray:
    """One-sided p of "the differences are positive", Wilcoxon signed rank, exact.

    Zero differences and ties count against. Pairs that are spared (a mask) do not count.
    """
    import numpy as np

    if spared is not None and spared.any():
        p = np.empty(len(difference))
        aside = spared.sum(axis=1)
        for count in np.unique(aside).tolist():
            here = aside == count
            kept = difference[here][~spared[here]].reshape(here.sum(), -1)
            p[here] = signed_rank_p(kept)
        return p
    n = difference.shape[1]
    size = np.abs(difference)
    # the rank of the largest of equal sizes: pessimistic for negative ones, so for zeros
    ranks = np.stack([(size <= size[:, i, None]).sum(axis=1) for i in range(n)], axis=1)
    wrong = np.where(difference <= 0, ranks, 0).sum(axis=1).astype(float)
    whole = n * (n + 1) // 2
    if n > _EXACT_SIGNED:
        return _normal_tail(wrong, whole / 2, sqrt(n * (n + 1) * (2 * n + 1) / 24))
    return np.asarray(np.array(_signed_rank_table(n))[np.minimum(wrong, whole).astype(int)])


def least_rank_sum_p(m: int, n: int) -> float:
    """The smallest p that so many runs can give: all of one side above all of the other.

    >>> round(1 / least_rank_sum_p(5, 5)), round(1 / least_rank_sum_p(4, 4))
    (252, 70)
    """
    return 1 / comb(m + n, m)


def rank_sum_tail(m: int, n: int, wrong: float) -> float:
    """P(at most ``wrong`` of the m * n pairs stand in the wrong order), for one comparison.

    Exact where that is quick; elsewhere by the normal distribution, which in the tails that matter
    gives more than the exact one.

    >>> rank_sum_tail(5, 5, 0) == least_rank_sum_p(5, 5), rank_sum_tail(20, 20, 0) < 1e-6
    (True, True)
    """
    if m * n <= (_EXACT_TAIL if min(m, n) > _FEW else _EXACT_TAIL_OF_FEW):
        return _rank_sum_table(min(m, n), max(m, n))[ceil(wrong)]
    score = (wrong + 0.5 - m * n / 2) / sqrt(m * n * (m + n + 1) / 12)
    return max(erfc(-score / sqrt(2)) / 2, least_rank_sum_p(m, n))


def rank_sum_tails(wrong: np.ndarray) -> np.ndarray:
    """``rank_sum_tail`` of every cut of a series; ``wrong[i]`` is of the first i + 1 runs."""
    import numpy as np
    from scipy.special import ndtr

    n = len(wrong) + 1
    m = np.arange(1, n)
    pairs = m * (n - m)
    score = (wrong + 0.5 - pairs / 2) / np.sqrt(pairs * ((n + 1) / 12))
    tails: np.ndarray = np.maximum(ndtr(score), least_rank_sum_ps(n))
    few = np.minimum(m, n - m) <= _FEW
    for i in np.nonzero(pairs <= np.where(few, _EXACT_TAIL_OF_FEW, _EXACT_TAIL))[0].tolist():
        tails[i] = rank_sum_tail(i + 1, n - i - 1, float(wrong[i]))
    return tails


def least_rank_sum_ps(n: int) -> np.ndarray:
    """``least_rank_sum_p`` of every cut of n runs."""
    import numpy as np
    from scipy.special import gammaln

    m = np.arange(1, n)
    return np.asarray(np.exp(gammaln(m + 1) + gammaln(n - m + 1) - gammaln(n + 1)))


@lru_cache(maxsize=1024)
def _rank_sum_table(m: int, n: int) -> tuple[float, ...]:
    """P(at most u of the m*n pairs stand in the wrong order), for u = 0 … m*n."""
    return _cumulated(_orders(m, n), comb(m + n, m))


@lru_cache(maxsize=1024)
def _spared_table(m: int, n: int, aside: int) -> tuple[float, ...]:
    """The same of the pairs of all but ``aside`` runs that may be anybody's."""
    counts = [0] * (m * n + 1)
    for here in range(max(aside - n, 0), min(aside, m) + 1):
        for u, orders in enumerate(_orders(m - here, n - aside + here)):
            counts[u] += comb(aside, here) * orders
    return _cumulated(counts, comb(m + n, m))


@lru_cache(maxsize=1024)
def _orders(m: int, n: int) -> list[int]:
    """In how many orders of m and n runs u of the m*n pairs stand in the wrong order."""
    # Gaussian binomial coefficient: product over i of (1 - q^(n+i)) / (1 - q^i)
    counts = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for k in range(m * n, n + i - 1, -1):
            counts[k] -= counts[k - n - i]
        for k in range(i, m * n + 1):
            counts[k] += counts[k - i]
    return counts


@lru_cache(maxsize=64)
def _signed_rank_table(n: int) -> tuple[float, ...]:
    """P(the ranks of negative differences add up to at most w), for w = 0 … n(n+1)/2."""
    counts = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        for k in range(len(counts) - 1, rank - 1, -1):
            counts[k] += counts[k - rank]
    return _cumulated(counts, 2**n)


def _cumulated(counts: list[int], total: int) -> tuple[float, ...]:
    table, seen = [], 0
    for count in counts:
        seen += count
        table.append(seen / total)
    return tuple(table)


def _normal_tail(value: np.ndarray, mean: float, deviation: float) -> np.ndarray:
    import numpy as np
    from scipy.special import ndtr

    return np.asarray(ndtr((value + 0.5 - mean) / deviation))
