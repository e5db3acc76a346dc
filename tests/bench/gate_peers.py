"""How other tools decide, on the same samples: their published rules, for many trials at once.

Every rule takes times (trials, 2, runs, samples) and the relative change from which it may alarm,
and tells for each trial whether it calls the candidate slower. Tools that know of no runs are given
the samples of all runs together, which is more than one of their result files holds; nvbench's
comparers also as they are used, with a file of one run on each side.

The rules were held against the programs themselves (pyperf 2.11.0, asv 0.6.6, pytest-benchmark
5.3.1, cuda-bench 0.3.0); where those are installed, ``python -m tests.bench.gate_peers`` does so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

Rule = Callable[[np.ndarray, float], np.ndarray]


class Peer(NamedTuple):
    name: str
    rule: Rule
    shipped: float  #: the change from which it alarms as shipped
    steps: float = 0.001  #: what its option can be set in


def _pooled(times: np.ndarray) -> np.ndarray:
    return times.reshape(*times.shape[:2], -1)


def nvbench_legacy(times: np.ndarray, change: float) -> np.ndarray:
    """Mean slower by more than the smaller relative standard deviation of both sides."""
    pooled = _pooled(times)
    mean = pooled.mean(axis=2)
    noise = (pooled.std(axis=2, ddof=1) / mean).min(axis=1)
    ratio = mean[:, 1] / mean[:, 0] - 1
    return (ratio > noise) & (ratio >= change)


def nvbench_robust(times: np.ndarray, change: float) -> np.ndarray:
    """Minimum to third quartile disjoint by at least ``change``; the clock is constant here."""
    pooled = np.sort(_pooled(times), axis=2)
    count = pooled.shape[2]
    upper = pooled[:, 0, (75 * (count - 1) + 50) // 100]
    return pooled[:, 1, 0] / upper - 1 >= change


def nvbench_legacy_one(times: np.ndarray, change: float) -> np.ndarray:
    return nvbench_legacy(times[:, :, :1], change)


def nvbench_robust_one(times: np.ndarray, change: float) -> np.ndarray:
    return nvbench_robust(times[:, :, :1], change)


def pytest_benchmark(times: np.ndarray, change: float) -> np.ndarray:
    """``--benchmark-compare-fail=mean:N%``."""
    mean = _pooled(times).mean(axis=2)
    return mean[:, 1] / mean[:, 0] - 1 > change


def pytest_benchmark_min(times: np.ndarray, change: float) -> np.ndarray:
    """``--benchmark-compare-fail=min:N%``."""
    least = _pooled(times).min(axis=2)
    return least[:, 1] / least[:, 0] - 1 > change


def google_benchmark(times: np.ndarray, change: float) -> np.ndarray:
    """``compare.py``: Mann-Whitney, two-sided, 0.05; slower by the medians."""
    pooled = _pooled(times)
    p = stats.mannwhitneyu(pooled[:, 0], pooled[:, 1], axis=1, method="asymptotic").pvalue
    median = np.median(pooled, axis=2)
    return (p < 0.05) & (median[:, 1] / median[:, 0] - 1 > change)


def pyperf(times: np.ndarray, change: float) -> np.ndarray:
    """``compare_to``: Student's t over all values, 95 %; ``--min-speed``."""
    pooled = _pooled(times)
    count, mean = pooled.shape[2], pooled.mean(axis=2)
    error = np.sqrt(pooled.var(axis=2, ddof=1).sum(axis=1) / count)
    score = (mean[:, 1] - mean[:, 0]) / error
    critical = stats.t.ppf(0.975, 2 * count - 2)
    return (score >= critical) & (mean[:, 1] / mean[:, 0] - 1 > change)


def asv(times: np.ndarray, change: float) -> np.ndarray:
    """``continuous``: medians differ by the factor, and Mann-Whitney, two-sided, 0.002."""
    pooled = _pooled(times)
    p = stats.mannwhitneyu(pooled[:, 0], pooled[:, 1], axis=1, method="asymptotic").pvalue
    median = np.median(pooled, axis=2)
    return (p < 0.002) & (median[:, 1] > median[:, 0] * (1 + change))


def hyperfine(times: np.ndarray, change: float) -> np.ndarray:
    """``scripts/welch_ttest.py``: Welch's t over all times, 0.05."""
    pooled = _pooled(times)
    p = stats.ttest_ind(pooled[:, 0], pooled[:, 1], axis=1, equal_var=False).pvalue
    mean = pooled.mean(axis=2)
    return (p < 0.05) & (mean[:, 1] / mean[:, 0] - 1 > change)


PEERS = (
    Peer("nvbench-compare (legacy)", nvbench_legacy_one, 0.0),
    Peer("nvbench-compare (legacy), all runs in one", nvbench_legacy, 0.0),
    Peer("nvbench-compare-robust", nvbench_robust_one, 0.005),
    Peer("nvbench-compare-robust, all runs in one", nvbench_robust, 0.005),
    Peer("pytest-benchmark mean:5%", pytest_benchmark, 0.05, 0.01),
    Peer("pytest-benchmark min:5%", pytest_benchmark_min, 0.05, 0.01),
    Peer("Google Benchmark compare.py", google_benchmark, 0.0),
    Peer("pyperf compare_to", pyperf, 0.0, 0.01),
    Peer("asv continuous", asv, 0.10, 0.01),
    Peer("hyperfine welch_ttest", hyperfine, 0.0),
)


def _check() -> None:
    """Our rules against the programs' own functions, a few hundred trials each."""
    from asv import _stats
    from cuda.bench.scripts import nvbench_compare_robust as robust
    from pyperf import _utils
    from pytest_benchmark.utils import PercentageRegressionCheck

    from tests.bench.gate_series import KINDS, simulated

    robust.np = np
    differ = dict.fromkeys(("pyperf", "asv", "pytest-benchmark", "nvbench robust"), 0)
    trials = 0
    for kind in KINDS:
        for effect in (0.0, 0.05):
            times = next(simulated(kind, 5, 20, effect))
            ours = {
                "pyperf": pyperf(times, -1),
                "asv": asv(times, 0.1),
                "pytest-benchmark": pytest_benchmark(times, 0.05),
                "nvbench robust": nvbench_robust(times, 0.005),
            }
            for index, (a, b) in enumerate(_pooled(times).tolist()):
                significant, score = _utils.is_significant(b, a)
                factor = 1.1 * np.median(a) < np.median(b)
                means = {"mean": np.mean(b)}, {"mean": np.mean(a)}
                gap = robust.compare_intervals_for_clear_gap(
                    robust.compute_timing_interval_from_samples(np.array(a)),
                    robust.compute_timing_interval_from_samples(np.array(b)),
                    robust.get_default_thresholds(),
                )
                theirs = {
                    "pyperf": significant and score > 0,
                    "asv": factor and _stats.is_different(a, b, None, None),
                    "pytest-benchmark": bool(PercentageRegressionCheck("mean", 5).fails(*means)),
                    "nvbench robust": gap == robust.ComparisonStatus.SLOW,
                }
                trials += 1
                for name, alarm in theirs.items():
                    differ[name] += bool(alarm) != bool(ours[name][index])
    print(f"{trials} trials; verdicts that differ: {differ}")


if __name__ == "__main__":
    _check()
