"""Candidates of a model tried on a card: which are as good as the best, and the model's regret.

Two candidates are tied where their runs do not tell them apart: Student's t on the logarithms of
the medians of runs, or less than half a percent, which is what a repeated measurement of one kernel
is good for. The set of tied candidates is the answer; the first of them by the model's order is the
one to take, so that two tunings of one kernel recommend the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING, Final

from perfkit.analysis.measurement import students_t
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.environment import Environment
    from perfkit.analysis.measurement import Measurement

#: what repeated measurements of one kernel differ by at most
RESOLUTION: Final = 0.005


@record
class Candidate:
    """Something to try. ``settings`` are what it is made of, for people and programs."""

    key: str
    label: str
    settings: Mapping[str, int | str]
    place: int  #: in the model's order, from 1
    expected_s: float | None = None  #: by the model; None: it only orders


@record
class Tried:
    """A candidate with what was measured of it."""

    candidate: Candidate
    measurement: Measurement
    is_tied: bool  #: with the fastest
    slower: float | None  #: than the fastest, 0.02 for 2 %; None: it failed

    @property
    def is_good(self) -> bool:
        """It ran, and nothing says that its result is wrong."""
        return self.slower is not None


@record
class Tuning:
    """What was tried of one kernel or product."""

    what: str
    environment: Environment
    considered: int  #: candidates that the model looked at
    tried: tuple[Tried, ...]  #: the fastest first, failures last
    left_out: tuple[str, ...]  #: candidates that were not tried, and why
    interrupted: bool = False

    @property
    def good(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tried if one.is_good)

    @property
    def chosen(self) -> Tried | None:
        """Of those tied with the fastest the one that the model likes best."""
        tied = [one for one in self.good if one.is_tied]
        return min(tied, key=lambda one: one.candidate.place, default=None)

    @property
    def regret(self) -> float | None:
        """How much slower than the fastest the model's first choice is."""
        first = min(self.good, key=lambda one: one.candidate.place, default=None)
        return None if first is None else first.slower

    @property
    def regret_chosen(self) -> float | None:
        """The same of the choice after measuring."""
        return None if self.chosen is None else self.chosen.slower


def judged(
    candidates: Sequence[Candidate], measurements: Mapping[str, Measurement]
) -> tuple[Tried, ...]:
    """Candidates that were measured, the fastest first.

    Args:
        candidates: in the model's order.
        measurements: by key; what lacks one was not reached.
    """
    good: list[tuple[float, Candidate, Measurement]] = []
    bad = []
    for one in candidates:
        found = measurements.get(one.key)
        if found is None:
            continue
        if found.median_s is None or found.is_wrong:
            bad.append(Tried(candidate=one, measurement=found, is_tied=False, slower=None))
        else:
            good.append((found.median_s, one, found))
    good.sort(key=lambda row: (row[0], row[1].place))
    return (
        *(
            Tried(
                candidate=one,
                measurement=found,
                is_tied=_tied(good[0][2], found),
                slower=time / good[0][0] - 1,
            )
            for time, one, found in good
        ),
        *bad,
    )


def _tied(fastest: Measurement, other: Measurement) -> bool:
    """Whether ``other`` cannot be told from the fastest."""
    if fastest.median_s is None or other.median_s is None:
        return False
    if other.median_s <= fastest.median_s * (1 + RESOLUTION):
        return True
    ours, theirs = ([log(run.median_s) for run in one.counted] for one in (fastest, other))
    if len(ours) < 2 or len(theirs) < 2:
        return False
    error = sqrt(stdev(ours) ** 2 / len(ours) + stdev(theirs) ** 2 / len(theirs))
    # the fewer degrees of freedom of the two: the careful choice of Welch's test
    half = students_t(min(len(ours), len(theirs)) - 1) * error
    return exp(mean(theirs) - mean(ours) - half) <= 1
