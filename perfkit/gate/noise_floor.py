"""What runs of unchanged code differ by: a baseline compared with itself.

Every second run is compared with the others, by the estimate that judges a candidate. What comes
out is the scatter from run to run, how sure that figure is, and the floor: the half-width of the
interval that the gate gives to as many runs of the same code on each side. A threshold below the
floor asks for a difference that unchanged code shows.
"""

from __future__ import annotations

from math import expm1, sqrt
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError
from perfkit.gate.change import Comparison, Noise, quantile
from perfkit.gate.estimate import estimate
from perfkit.gate.policy import Policy
from perfkit.gate.words import percent
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.gate.evidence import Key, Series

#: the fewest runs that can be halved and scatter in both halves
FEWEST: Final = 4
CONFIDENCE: Final = 0.95  #: of the interval of the scatter


@record
class NoiseFloor:
    """Relative figures: 0.01 is 1 %."""

    relative: float  #: standard deviation from run to run
    interval: tuple[float, float]  #: of ``relative``, at 95 %
    runs: int  #: degrees of freedom of ``relative``, and one
    floor: float  #: change that unchanged code may show, with as many runs on each side
    notes: tuple[str, ...] = ()  #: what is odd about the runs

    @property
    def noise(self) -> Noise:
        """As a comparison takes it."""
        return Noise(relative=self.relative, runs=self.runs)


def floors(
    found: Sequence[Series], false_alarm: float = Policy().false_alarm
) -> list[NoiseFloor | None]:
    """The noise floor of each series; None of fewer than four runs."""
    policy = Policy(false_alarm=false_alarm)
    items = {
        index: Comparison(
            baseline=series.take(range(0, len(series.values), 2)),
            candidate=series.take(range(1, len(series.values), 2)),
            policy=policy,
        )
        for index, series in enumerate(found)
        if len(series.values) >= FEWEST
    }
    result: list[NoiseFloor | None] = [None] * len(found)
    for index, one in zip(items, estimate([*items.values()]), strict=True):
        count = len(found[index].values)
        half = quantile(false_alarm, max(2 * count - 2, 1)) * one.scatter * sqrt(2 / count)
        notes = []
        if any(one.modes):
            notes.append(f"runs fall into two groups {percent(expm1(max(one.modes)))} apart")
        if one.shift_sure:
            notes.append("runs drift: every figure depends on when it was taken")
        lost = len(one.outliers[0]) + len(one.outliers[1])
        if lost:
            notes.append(f"{lost} of {count} runs stand apart and are left out of the noise")
        # over both halves there is one level each, and what stands apart does not count
        degrees = max(count - 2 - lost, 1)
        result[index] = NoiseFloor(
            relative=_ratio(one.scatter),
            interval=_interval(one.scatter, degrees),
            runs=degrees + 1,
            floor=_ratio(half),
            notes=tuple(notes),
        )
    return result


def _interval(scatter: float, degrees: int) -> tuple[float, float]:
    """Of a standard deviation, from its degrees of freedom: chi-square."""
    from scipy.special import chdtri

    risk = (1 - CONFIDENCE) / 2
    low, high = (
        scatter * sqrt(degrees / float(chdtri(degrees, tail))) for tail in (risk, 1 - risk)
    )
    return _ratio(low), _ratio(high)


def _ratio(logarithm: float) -> float:
    """A relative change; what is beyond all sense stays a number."""
    return expm1(min(logarithm, 20.0))


def refuse_below_floor(floors: Mapping[Key, NoiseFloor], policy: Policy) -> None:
    """A threshold that somebody states must lie above what unchanged code differs by.

    Raises:
        UsageError: it does not, with the figures.
    """
    below = []
    for key, one in floors.items():
        stated = policy.of(*key).threshold
        if stated is not None and stated < one.floor:
            below.append((one.floor, key, stated, one))
    if not below:
        return
    below.sort(key=lambda found: -found[0])
    floor, (benchmark, _), stated, one = below[0]
    more = f"; of {len(below) - 1} more benchmarks, too" if len(below) > 1 else ""
    raise UsageError(
        f"a threshold of {percent(stated)} is under the noise floor of {benchmark}, "
        f"{percent(floor)}: its runs repeat within {percent(one.relative)}{more}",
        hint=f"take a threshold above {percent(floor)} (for one benchmark: a rule in "
        "perfkit.yaml), or record a baseline with more runs",
    )
