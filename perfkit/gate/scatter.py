"""Changes of many benchmarks at once, from how their runs scatter.

Benchmarks with as many runs on each side are computed together, so that ten thousand of them take
no longer than a few array operations.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from perfkit.gate.change import ChangeEstimate
from perfkit.gate.ranks import least_rank_sum_p
from perfkit.gate.series import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

#: from so many pairs on the signed ranks alone can reach 1 % (1/128)
SIGNED_PAIRS: Final = 7
#: sides scatter unequally where chance makes a ratio of variances so large in one of ten cases
_UNEQUAL: Final = 0.95


def from_runs(before: np.ndarray, after: np.ndarray, *, paired: bool) -> list[ChangeEstimate]:
    """Estimates from the runs' own scatter; logarithms, shape (benchmarks, runs).

    Pairs are compared as pairs and as two samples, and the narrower interval is taken, each at half
    the risk: pairs cancel what drifts, two samples have twice the degrees of freedom.
    """
    import numpy as np

    from perfkit.gate.lopsided import lopsided, lopsided_pairs
    from perfkit.gate.series import outliers, parting, trend, two_modes

    m, n = before.shape[1], after.shape[1]
    lost_before, lost_after = lost = outliers(before, after)
    change, error, degrees, scatter = _two_sample(before, after, lost_before, lost_after)
    uneven = lopsided(before, after, lost_before, lost_after, scatter)
    lost_pairs = None
    if paired:
        *pairs, lost_pairs = _one_sample(after - before)
        better = pairs[1] * _quantiles(pairs[2]) < error * _quantiles(degrees)
        own = pairs[1] * np.sqrt(pairs[2] + 1)
        uneven = np.where(better, lopsided_pairs(after - before, lost_pairs, own), uneven)
        change, error, degrees = (
            np.where(better, ours, theirs)
            for ours, theirs in zip(pairs, (change, error, degrees), strict=True)
        )
    signed = paired and n >= SIGNED_PAIRS
    p = _ranks_p(before, after, lost, lost_pairs if signed else None)
    slope = trend(before, after, lost=lost)
    columns = (
        change, error, degrees, scatter, p, slope.shift, slope.sure, slope.error, slope.degrees,
        slope.weight, uneven, parting(before, after), two_modes(before), two_modes(after),
    )  # fmt: skip
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lost_runs = zip(*(_places(mask) for mask in lost), strict=True)
    template = ChangeEstimate(
        change=0.0,
        error=0.0,
        degrees=1.0,
        tails=2 if paired else 1,
        evidence="pairs" if paired else "runs",
        least_p=0.5**n if signed else least_rank_sum_p(m, n),
    )
    return [_estimate(template, row, apart) for row, apart in zip(rows, lost_runs, strict=True)]


def _estimate(
    template: ChangeEstimate, row: Sequence[float], apart: tuple[tuple[int, ...], tuple[int, ...]]
) -> ChangeEstimate:
    change, error, degrees, scatter, p, shift, sure, *unshifted, uneven, parting, low, high = row
    return ChangeEstimate(
        change=change,
        error=error,
        degrees=degrees,
        tails=template.tails,
        scatter=scatter,
        evidence=template.evidence,
        ranks_p=p,
        least_p=template.least_p,
        shift=shift,
        shift_sure=bool(sure),
        unshifted_error=unshifted[0],
        unshifted_degrees=unshifted[1],
        unshifted_weight=unshifted[2],
        parting=parting,
        lopsided=uneven,
        outliers=apart,
        modes=(low, high),
    )


def _two_sample(
    before: np.ndarray, after: np.ndarray, lost_before: np.ndarray, lost_after: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Change, its standard error, degrees of freedom and the scatter of runs, outliers left out.

    One variance for both sides, as under "nothing changed"; with unequal numbers of runs never less
    than the sides' own variances make it. Sides that surely scatter unequally have the degrees of
    freedom of their own variances: the larger one is known from its side alone (Welch).
    """
    import numpy as np
    from scipy.special import fdtri

    counts, means, squares = [], [], []
    for side, lost in ((before, lost_before), (after, lost_after)):
        count = side.shape[1] - lost.sum(axis=1)
        mean = np.where(lost, 0.0, side).sum(axis=1) / count
        counts.append(count)
        means.append(mean)
        squares.append((np.where(lost, 0.0, side - mean[:, None]) ** 2).sum(axis=1))
    degrees = counts[0] + counts[1] - 2.0
    change = means[1] - means[0]
    if before.shape[1] + after.shape[1] < 3:
        return change, np.full(len(change), inf), np.ones(len(change)), np.zeros(len(change))
    variance = np.maximum((squares[0] + squares[1]) / degrees, ROUNDING**2)
    free = [count - 1.0 for count in counts]
    own = [
        np.maximum(square / np.maximum(few, 1.0), ROUNDING**2)
        for square, few in zip(squares, free, strict=True)
    ]
    means_of = own[0] / counts[0] + own[1] / counts[1]
    error = np.sqrt(np.maximum(variance * (1 / counts[0] + 1 / counts[1]), means_of))
    welch = means_of**2 / sum(
        (mine / count) ** 2 / np.maximum(few, 1.0)
        for mine, count, few in zip(own, counts, free, strict=True)
    )
    unequal = (own[0] > own[1] * fdtri(*free, _UNEQUAL)) | (
        own[1] > own[0] * fdtri(*free[::-1], _UNEQUAL)
    )
    degrees = np.where(unequal, np.minimum(welch, degrees), degrees)
    return change, error, degrees, np.sqrt(variance)


def _one_sample(difference: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mean difference of the pairs, standard error, degrees of freedom, and what is left out."""
    import numpy as np

    from perfkit.gate.series import outliers

    (lost,) = outliers(difference)
    count = difference.shape[1] - lost.sum(axis=1)
    mean = np.where(lost, 0.0, difference).sum(axis=1) / count
    square = (np.where(lost, 0.0, difference - mean[:, None]) ** 2).sum(axis=1)
    variance = np.maximum(square / (count - 1), 2 * ROUNDING**2)
    return mean, np.sqrt(variance / count), (count - 1).astype(float), lost


def _ranks_p(
    before: np.ndarray,
    after: np.ndarray,
    lost: Sequence[np.ndarray],
    lost_pairs: np.ndarray | None,
) -> np.ndarray:
    """The rank test of runs; of enough pairs the signed one, or that of their runs if it is sure.

    Of two tests at 4/5 and 1/5 of a risk either may be wrong, and both together no more than that.
    """
    import numpy as np

    from perfkit.gate import ranks

    p: np.ndarray = ranks.rank_sum_p(before, after, _spared(before, after, lost))
    if lost_pairs is None:
        return p
    share = ranks.RANK_SHARE
    signed = ranks.signed_rank_p(after - before, lost_pairs)
    return np.asarray(np.minimum(signed, p * share / (1 - share)))


def _spared(
    before: np.ndarray, after: np.ndarray, lost: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Accidents that the rank test of "the candidate is slower" does without, as masks.

    Those are runs of the baseline that stand apart and are slower than all of the candidate's, and
    beside them the candidate's own.
    """
    import numpy as np

    slow = [
        mask & (side > np.median(side, axis=1, keepdims=True))
        for mask, side in zip(lost, (before, after), strict=True)
    ]
    top = np.where(slow[1], -np.inf, after).max(axis=1, keepdims=True)
    first = slow[0] & (before > top)
    return first, slow[1] & first.any(axis=1, keepdims=True)


def _quantiles(degrees: np.ndarray) -> np.ndarray:
    """Which of two intervals is narrower is judged at 0.5 %, half of the usual risk."""
    import numpy as np
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, 0.995))


def _places(mask: np.ndarray) -> list[tuple[int, ...]]:
    """Indices of the marked runs of each row."""
    if not mask.any():
        return [()] * len(mask)
    return [tuple(row.nonzero()[0].tolist()) for row in mask]
