"""What a series of runs looks like: outliers, two modes, a trend. Many series at once.

All functions take logarithms of run medians, shape (benchmarks, runs), runs in the order they were
taken, so that differences are relative changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.record import record

if TYPE_CHECKING:
    import numpy as np

#: runs for each outlier that may be left out; more of them are no outliers but a second mode
RUNS_PER_OUTLIER: Final = 4
#: scatter below this is rounding: about the step of a timer at 100 us
ROUNDING: Final = 1e-4
#: modes nearer than this are not worth a word
MODE_DISTANCE: Final = 0.005
#: a trend of both sides counts where chance makes one as steep in 1 of 100 series
TREND_RISK: Final = 0.01
#: and one by which the sides part in 2 of 1,000
PARTING_RISK: Final = 0.002
#: correlation of neighbours above which no scatter of runs says how far their mean may be off
MOST_ALIKE: Final = 0.95


def outliers(*sides: np.ndarray) -> tuple[np.ndarray, ...]:
    """Masks of runs that stand apart from their own side.

    They are judged by the scatter of all sides, and by that of their own, both without the one run
    in four of each side that lies farthest off. A side with more of them than that keeps all:
    several runs apart are no accident, nor is one that stands among the other side's runs.
    """
    import numpy as np

    sizes = [np.abs(side - np.median(side, axis=1, keepdims=True)) for side in sides]
    squares, degrees = [], []
    for size in sizes:
        kept = size.shape[1] - size.shape[1] // RUNS_PER_OUTLIER
        squares.append((np.sort(size, axis=1)[:, :kept] ** 2).sum(axis=1, keepdims=True))
        degrees.append(max(kept - 1, 1))
    count = sum(size.shape[1] for size in sizes)
    least = ROUNDING**2
    together = limit_apart(count) * np.sqrt(np.maximum(sum(squares) / sum(degrees), least))
    masks = []
    for size, square, free in zip(sizes, squares, degrees, strict=True):
        alone = limit_apart(size.shape[1]) * np.sqrt(square / free)
        mask = (size > together) & (size > alone)
        few = mask.sum(axis=1, keepdims=True) <= size.shape[1] // RUNS_PER_OUTLIER
        masks.append(mask & few)
    if len(sides) == 2:
        masks = [
            mask & ~_among(side, other, lost)
            for mask, side, other, lost in zip(masks, sides, sides[::-1], masks[::-1], strict=True)
        ]
    return tuple(masks)


def _among(side: np.ndarray, other: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Which runs stand among the other side's, or within half their range of them.

    Those that the other side loses are left out.
    """
    import numpy as np

    least = np.where(lost, np.inf, other).min(axis=1, keepdims=True)
    most = np.where(lost, -np.inf, other).max(axis=1, keepdims=True)
    near = (most - least) / 2
    return np.asarray((least - near <= side) & (side <= most + near))


def limit_apart(count: int) -> float:
    """How far from the median of its side a run stands apart, in standard deviations of the others.

    The farthest of so many normal runs lies there in one of 200 series: the envelope of a
    simulation (tests/bench/gate_constants.py).

    >>> [round(limit_apart(count), 1) for count in (5, 10, 30)]
    [13.2, 8.7, 7.4]
    """
    return 7.2 + 150 / count**2


def two_modes(side: np.ndarray) -> np.ndarray:
    """Ratio between the upper and the lower group of runs, in logarithms; 0 where there is none.

    Sorted runs are cut where the scatter inside the two parts is least. They are two modes if that
    leaves so little of the whole scatter as normal runs do in fewer than one of 200 series: 1 % of
    it for 5 runs, 1 % more for each further one, at most 10 %. Each mode has two runs or more.
    """
    import numpy as np

    n = side.shape[1]
    if n < 5:
        return np.zeros(len(side))
    ordered = np.sort(side, axis=1)
    ordered = ordered - ordered.mean(axis=1, keepdims=True)  # keeps the sums of squares exact
    total = (ordered**2).sum(axis=1)
    sums = np.cumsum(ordered, axis=1)
    cuts = np.arange(2, n - 1)
    lower = sums[:, cuts - 1]
    # with the mean at zero the upper sum is the negative of the lower one
    between = lower**2 * (1 / cuts + 1 / (n - cuts))
    best = np.argmax(between, axis=1)
    rows = np.arange(len(side))
    inside = total - between[rows, best]
    apart = -lower[rows, best] * (1 / cuts[best] + 1 / (n - cuts[best]))
    found = (inside < min(0.01 * (n - 4), 0.1) * total) & (apart > MODE_DISTANCE)
    return np.where(found, apart, 0.0)


@record
class Trend:
    """A common slope over the runs of both sides. Arrays, one value a benchmark."""

    shift: np.ndarray  #: what it adds from the middle of one side to that of a side taken after it
    sure: np.ndarray  #: whether it is more than chance
    error: np.ndarray  #: standard error of a change that the shift is taken off from
    degrees: np.ndarray  #: of freedom of that error
    weight: np.ndarray  #: that error, of independent runs, over their scatter


def trend(*sides: np.ndarray, lost: tuple[np.ndarray, ...] | None = None) -> Trend:
    """Slope over the order of runs, fitted to both sides with a level each.

    The error is that of least squares, where the second side continues the places of the first:
    1/m + 1/n for the middles, and the slope's own over the way between them. It is larger by what
    runs that depend on the one before them make of a mean's, sqrt((1 + r) / (1 - r)) for the
    correlation r of neighbours, if that is positive.

    Args:
        sides: both of them, in the order in which they were taken.
        lost: masks of runs that are left out; None: all count.
    """
    import numpy as np
    from scipy.special import stdtrit

    kept = [np.ones(side.shape) for side in sides] if lost is None else [1.0 - m for m in lost]
    counts = [mask.sum(axis=1) for mask in kept]
    places, levels, middles = [], [], []
    for side, mask, count in zip(sides, kept, counts, strict=True):
        place = np.arange(side.shape[1])
        middles.append((mask * place).sum(axis=1) / count)
        places.append((place - middles[-1][:, None]) * mask)
        levels.append((side - ((side * mask).sum(axis=1) / count)[:, None]) * mask)
    way = sides[0].shape[1] + middles[1] - middles[0]
    lever = sum((place**2).sum(axis=1) for place in places)
    degrees = sum(counts) - 3
    if sides[0].shape[1] + sides[1].shape[1] < 4:
        nothing = np.zeros(len(sides[0]))
        one = nothing + 1
        return Trend(shift=nothing, sure=nothing > 0, error=nothing, degrees=one, weight=one)
    slope = sum((x * place).sum(axis=1) for x, place in zip(levels, places, strict=True)) / lever
    squares = sum((x**2).sum(axis=1) for x in levels)
    scatter = np.sqrt(np.maximum(squares - slope**2 * lever, 0) / degrees)
    neighbours = sum((x[:, 1:] * x[:, :-1]).sum(axis=1) for x in levels)
    r = np.clip(neighbours / np.maximum(squares, ROUNDING**2), 0, MOST_ALIKE)
    weight = np.sqrt(sum(1 / count for count in counts) + way**2 / lever)
    certain = stdtrit(degrees, 1 - TREND_RISK / 2) * scatter / np.sqrt(lever)
    return Trend(
        shift=slope * way,
        sure=(np.abs(slope) > certain) & (np.abs(slope * way) > ROUNDING),
        error=scatter * weight * np.sqrt((1 + r) / (1 - r)),
        degrees=degrees,
        weight=weight,
    )


def parting(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """What the sides' own slopes add to their difference at one end; 0 where it may be chance.

    Sides that drift in opposite directions have no common slope, and the same middle.
    """
    import numpy as np
    from scipy.special import stdtrit

    degrees = baseline.shape[1] + candidate.shape[1] - 4
    if degrees < 1 or min(baseline.shape[1], candidate.shape[1]) < 3:
        return np.zeros(len(baseline))
    slopes, ends, rest, weight = [], [], 0.0, 0.0
    for side in (baseline, candidate):
        place = np.arange(side.shape[1]) - (side.shape[1] - 1) / 2
        lever = float((place**2).sum())
        level = side - side.mean(axis=1, keepdims=True)
        slope = level @ place / lever
        slopes.append(slope)
        ends.append(slope * place[-1])
        rest = rest + (level**2).sum(axis=1) - slope**2 * lever
        weight += 1 / lever
    error = np.sqrt(np.maximum(rest, 0) / degrees * weight)
    apart = np.abs(ends[1] - ends[0])
    sure = np.abs(slopes[1] - slopes[0]) > float(stdtrit(degrees, 1 - PARTING_RISK / 2)) * error
    return np.where(sure & (apart > ROUNDING), apart, 0.0)
