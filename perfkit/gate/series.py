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
RUNS_PER_OUTLIER: Final = 5
#: scatter below this is rounding: about the step of a timer at 100 us
ROUNDING: Final = 1e-4
#: modes nearer than this are not worth a word
MODE_DISTANCE: Final = 0.005
#: a trend counts where chance makes one as steep in 2 of 1,000 series
TREND_RISK: Final = 0.002


def outliers(*sides: np.ndarray) -> tuple[np.ndarray, ...]:
    """Masks of runs that stand apart from their own side.

    They are judged by the scatter of all sides, or of their own where that is larger. Apart is what
    lies more robust standard deviations from the median of its side than the farthest normal run
    does in one of 200 series: 12 for 10 runs in all, 6 for 30, fitted to a simulation.
    A side with more of them than one in five keeps all: several runs apart are no accident.
    """
    import numpy as np

    sizes = [np.abs(side - np.median(side, axis=1, keepdims=True)) for side in sides]
    together = np.median(np.concatenate(sizes, axis=1), axis=1, keepdims=True)
    count = sum(side.shape[1] for side in sides)
    masks = []
    for size in sizes:
        scale = 1.4826 * np.maximum(together, np.median(size, axis=1, keepdims=True))
        mask = size > (4 + 160 / count**1.3) * np.maximum(scale, ROUNDING)
        few = mask.sum(axis=1, keepdims=True) <= size.shape[1] // RUNS_PER_OUTLIER
        masks.append(mask & few)
    return tuple(masks)


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
    error: np.ndarray  #: standard error of the shift
    sure: np.ndarray  #: whether it is more than chance
    degrees: int


def trend(baseline: np.ndarray, candidate: np.ndarray) -> Trend:
    """Slope over the order of runs, fitted to both sides with a level each."""
    import numpy as np
    from scipy.special import stdtrit

    count = baseline.shape[1] + candidate.shape[1]
    places = [np.arange(side.shape[1]) - (side.shape[1] - 1) / 2 for side in (baseline, candidate)]
    sides = [side - side.mean(axis=1, keepdims=True) for side in (baseline, candidate)]
    lever = sum(float((place**2).sum()) for place in places)
    degrees = count - 3
    if degrees < 1 or lever == 0:
        nothing = np.zeros(len(baseline))
        return Trend(shift=nothing, error=nothing, sure=nothing > 0, degrees=max(degrees, 1))
    slope = sum(side @ place for side, place in zip(sides, places, strict=True)) / lever
    rest = sum((side**2).sum(axis=1) for side in sides) - slope**2 * lever
    error = np.sqrt(np.maximum(rest, 0) / degrees / lever)
    steep = np.abs(slope) > float(stdtrit(degrees, 1 - TREND_RISK / 2)) * error
    return Trend(
        shift=np.abs(slope) * count / 2,
        error=error * count / 2,
        sure=steep & (np.abs(slope) * count / 2 > ROUNDING),
        degrees=degrees,
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
    sure = np.abs(slopes[1] - slopes[0]) > float(stdtrit(degrees, 1 - TREND_RISK / 2)) * error
    return np.where(sure & (apart > ROUNDING), apart, 0.0)
