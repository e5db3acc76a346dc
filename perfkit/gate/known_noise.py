"""Changes where runs are too few to speak for themselves, and their noise is known or assumed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Final

from perfkit.gate.change import ChangeEstimate, Comparison, Noise
from perfkit.gate.ranks import RANK_SHARE, least_rank_sum_p
from perfkit.gate.scatter import from_runs

if TYPE_CHECKING:
    from perfkit.gate.evidence import Series
    from perfkit.gate.policy import Policy

#: of the scatter of samples, where one run a side has to do: on an H200 the scatter from run to run
#: was under half of that of the samples in 22 of 24 series (docs/gate-calibration.md)
SPREAD_SHARE: Final = 0.5
#: risk of distrusting a stated noise that is right
DISTRUST: Final = 0.01


def known_noise(item: Comparison, m: int, n: int) -> ChangeEstimate | None:
    """The estimate where runs are too few to speak for themselves and their noise is known.

    Stated noise is taken as exact; noise from an A/A comparison has its degrees of freedom, and
    what runs there are add theirs. Runs that scatter more than the noise allows overrule it.
    """
    if least_rank_sum_p(m, n) <= RANK_SHARE * item.policy.false_alarm:
        return None
    noise = item.noise
    if noise is None and item.policy.noise is not None:
        noise = Noise(relative=item.policy.noise)
    if noise is None and not (item.policy.single_run == "assume" and min(m, n) == 1):
        return None
    before, after = (_logs(side) for side in (item.baseline, item.candidate))
    change = sum(after) / len(after) - sum(before) / len(before)
    squares, free = _squares(before) + _squares(after), len(before) + len(after) - 2
    if noise is None:
        sides = [_assumed(side, item.policy) for side in (item.baseline, item.candidate)]
        own = sqrt(squares / free) if free else 0.0
        noises = [max(side, own) for side in sides]
        evidence, degrees = "assumed noise", inf
    else:
        sure = log1p(noise.relative)
        if free and squares > sure**2 * _chi_square(free):
            runs = _overruled(item)
            return replace(runs, distrusted=noise.relative)
        degrees = inf if noise.runs is None else max(noise.runs - 1, 1) + free
        if noise.runs is not None:
            sure = sqrt(((degrees - free) * sure**2 + squares) / degrees)
        noises = [sure, sure]
        evidence = "stated noise" if noise.runs is None else "A/A noise"
    error = sqrt(noises[0] ** 2 / len(before) + noises[1] ** 2 / len(after))
    return ChangeEstimate(
        change=change, error=error, degrees=degrees, scatter=max(noises), evidence=evidence
    )


def _overruled(item: Comparison) -> ChangeEstimate:
    import numpy as np

    sides = [np.array([_logs(side)]) for side in (item.baseline, item.candidate)]
    return from_runs(*sides, paired=False)[0]


def _logs(side: Series) -> list[float]:
    sign = -1.0 if side.higher_is_better else 1.0
    return [sign * log(value) for value in side.values]


def _squares(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def _assumed(side: Series, policy: Policy) -> float:
    """Noise from run to run that a lone run is given: a share of the scatter of its samples."""
    spreads = [spread for spread in side.spreads if spread is not None]
    return max([SPREAD_SHARE * spread for spread in spreads] + [policy.minimum_noise])


@lru_cache(maxsize=64)
def _chi_square(degrees: int) -> float:
    from scipy.special import chdtri

    return float(chdtri(degrees, DISTRUST))
