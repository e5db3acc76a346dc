"""Where in a series of commits a number changed: for good, not for one bad night.

Each commit gives one number. Every place where the series could be cut is judged by the exact rank
test: under "nothing changed" all orders of the commits are equally likely, whatever the noise looks
like, so outliers and two modes raise no alarm, and a change has to last a few commits to be one.
The p-values are corrected for the number of places (Bonferroni over those that could ever be
significant, after Tarone). Three quarters of the risk go to cuts of the whole series, a quarter to
cuts of stretches of it, which find a change that was taken back. Where one is found, it is put
where absolute deviations from the medians of both parts are least, and both parts are searched.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappush, heappushpop
from itertools import count, pairwise
from math import ceil, exp, expm1, log, sqrt
from typing import TYPE_CHECKING, Final

from perfkit.gate.ranks import least_rank_sum_ps, rank_sum_tails
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

#: of one series, that a change is found where there is none: half of the 1 % that is promised
RISK: Final = 0.005
_WHOLE: Final = 0.75  #: of the risk, for cuts of the whole series
#: stretches are half as long as the ones before, and overlap by half
_SHORTEST: Final = 12
#: cuts as likely as this in comparison with the best one may be the true one
_PLAUSIBLE: Final = 0.05
#: scatter below this is rounding
_ROUNDING: Final = 1e-4
#: logarithm of a ratio that says no more than "by any factor"
_MOST: Final = 30.0


@record
class ChangePoint:
    """``at`` is the place of the first number after the change."""

    at: int
    earliest: int  #: that cannot be ruled out for ``at``
    latest: int
    ratio: float  #: of the median after to that before
    risk: float  #: corrected p-value: of a change as clear as this where there is none


@record
class Found:
    """What a series looks like."""

    changes: tuple[ChangePoint, ...]
    noise: float  #: relative standard deviation between changes, robust
    enough: bool  #: whether the series is long enough for any change to be found


def changes(values: Sequence[float], *, risk: float = RISK, least: float = 0.0) -> Found:
    """Search a series of positive numbers, in the order of their commits.

    Args:
        values: one for each commit.
        risk: of a change where there is none.
        least: changes of the median by less than this share are not worth a word.

    >>> steady = [1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99]
    >>> found = changes([*steady, *(1.1 * value for value in steady)])
    >>> [(change.at, round(change.ratio, 2)) for change in found.changes]
    [(8, 1.1)]
    """
    import numpy as np

    logs = np.log(np.array(values, dtype=float))
    if len(logs) < 2:
        return Found(changes=(), noise=0.0, enough=False)
    cuts = dict(_search(logs, 0, len(logs), risk))
    places = _worth(logs, sorted(cuts), least)
    bounds = [0, *places, len(logs)]
    found = []
    for number, at in enumerate(places, 1):
        low, high = bounds[number - 1], bounds[number + 1]
        earliest, latest = _plausible(logs[low:high])
        step = float(np.median(logs[at:high]) - np.median(logs[low:at]))
        found.append(
            ChangePoint(
                at=at,
                earliest=min(low + earliest, at),
                latest=max(low + latest, at),
                ratio=exp(max(min(step, _MOST), -_MOST)),
                risk=cuts[at],
            )
        )
    return Found(
        changes=tuple(found),
        noise=_noise(logs, bounds),
        enough=bool(_tests([(0, len(logs))], _WHOLE * risk)),
    )


def fewest(risk: float = RISK) -> int:
    """How many commits a series must have for any change to be found.

    >>> fewest()
    12
    """
    return next(length for length in count(2) if _tests([(0, length)], _WHOLE * risk))


def _search(logs: np.ndarray, low: int, high: int, risk: float) -> Iterator[tuple[int, float]]:
    """Cuts in ``low`` … ``high`` and the risk of each; then those of both parts."""
    whole = [(low, high)]
    cut = _clearest(logs, whole, _WHOLE * risk)
    if cut is None:
        cut = _clearest(logs, list(_stretches(low, high)), (1 - _WHOLE) * risk)
    if cut is None:
        return
    at, p = cut
    yield at, p
    yield from _search(logs, low, at, risk)
    yield from _search(logs, at, high, risk)


def _stretches(low: int, high: int) -> Iterator[tuple[int, int]]:
    length = (high - low) / 2
    while length >= _SHORTEST:
        size = ceil(length)
        count = max(ceil((high - low - size) / (length / 2)), 1)
        for number in range(count + 1):
            start = low + round(number * (high - low - size) / count)
            yield start, start + size
        length /= 2


def _tests(stretches: list[tuple[int, int]], risk: float) -> int:
    """How many cuts share the risk: as many as could be significant if so many shared it; or 0."""
    return _sharing(tuple(high - low for low, high in stretches), risk)


@lru_cache(maxsize=1024)  # the series of a history are of few lengths
def _sharing(lengths: tuple[int, ...], risk: float) -> int:
    import numpy as np

    least = np.sort(np.concatenate([2 * least_rank_sum_ps(length) for length in lengths]))
    # the first so many can reach their share, the next one cannot reach it any more
    beyond = np.nonzero(least > risk / np.arange(1, len(least) + 1))[0]
    return int(beyond[0]) if len(beyond) else len(least)


def _clearest(
    logs: np.ndarray, stretches: list[tuple[int, int]], risk: float
) -> tuple[int, float] | None:
    """The cut of the smallest p-value, put where it fits best, if it is more than chance."""
    count = _tests(stretches, risk) if stretches else 0
    if not count:
        return None
    best: tuple[float, int, int] | None = None
    for low, high in stretches:
        p = float(_p_values(logs[low:high]).min())
        if best is None or p < best[0]:
            best = (p, low, high)
    if best is None or best[0] > risk / count:
        return None
    p, low, high = best
    return low + _best_cut(logs[low:high]), min(p * count, 1.0)


def _p_values(logs: np.ndarray) -> np.ndarray:
    """Of each cut, after 1 … n - 1 numbers: two-sided, by the ranks of both parts."""
    import numpy as np

    n = len(logs)
    ordered = np.sort(logs)
    # of equal numbers the mean of their ranks; scipy.stats, which has this, takes a second to load
    places = (np.searchsorted(ordered, logs, side) for side in ("left", "right"))
    sums = np.cumsum((sum(places) + 1) / 2)[:-1]
    sizes = np.arange(1, n)
    # pairs in which the earlier number is the larger one, ties as half; and the other way round
    wrong = sums - sizes * (sizes + 1) / 2
    wrong = np.minimum(wrong, sizes * (n - sizes) - wrong)
    return np.asarray(np.minimum(2 * rank_sum_tails(wrong), 1.0))


def _costs(logs: np.ndarray) -> np.ndarray:
    """Of each cut: absolute deviations from the medians of both parts, added up."""
    import numpy as np

    values = logs.tolist()
    before, after = _spreads(values), _spreads(values[::-1])
    return np.asarray(np.array(before[:-1]) + np.array(after[:-1])[::-1])


def _spreads(values: list[float]) -> list[float]:
    """Absolute deviations from the median of the first 1 … n values, added up.

    They are the sum of the upper half less that of the lower one; the middle of an odd number
    is in neither. ``lower`` has it, and its values with the other sign: a heap gives the least.
    """
    lower: list[float] = []
    upper: list[float] = []
    below = above = 0.0
    found = []
    for value in values:
        if len(lower) > len(upper):
            moved = -heappushpop(lower, -value)
            heappush(upper, moved)
            below, above = below + value - moved, above + moved
        else:
            moved = heappushpop(upper, value)
            heappush(lower, -moved)
            above, below = above + value - moved, below + moved
        middle = -lower[0] if len(lower) > len(upper) else 0.0
        found.append(above - (below - middle))
    return found


def _best_cut(logs: np.ndarray) -> int:
    return int(_costs(logs).argmin()) + 1


def _plausible(logs: np.ndarray) -> tuple[int, int]:
    """First and last cut that the best one does not rule out: likelihoods of Laplace noise."""
    import numpy as np

    n = len(logs)
    costs = np.maximum(_costs(logs), n * _ROUNDING)
    near = np.nonzero(n * np.log(costs / costs.min()) <= -log(_PLAUSIBLE))[0]
    return int(near[0]) + 1, int(near[-1]) + 1


def _worth(logs: np.ndarray, places: list[int], least: float) -> list[int]:
    """The places without those where the median hardly moves, the smallest change first."""
    import numpy as np

    while places:
        bounds = [0, *places, len(logs)]
        medians = [float(np.median(logs[a:b])) for a, b in pairwise(bounds)]
        steps = [abs(b - a) for a, b in pairwise(medians)]
        smallest = min(range(len(steps)), key=steps.__getitem__)
        if steps[smallest] >= max(log(1 + least), _ROUNDING):
            return places
        places = places[:smallest] + places[smallest + 1 :]
    return places


def _noise(logs: np.ndarray, bounds: Sequence[int]) -> float:
    """Robust standard deviation around the medians of the parts."""
    import numpy as np

    parts = [logs[a:b] - np.median(logs[a:b]) for a, b in pairwise(bounds)]
    rest = np.abs(np.concatenate(parts))
    # medians take a degree of freedom each
    free = max(len(logs) - len(parts), 1)
    return expm1(min(1.4826 * float(np.median(rest)) * sqrt(len(logs) / free), _MOST))
