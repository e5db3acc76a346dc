"""Where the timing gate's constants come from, and what no gate could do better.

Simulations with seeds of their own: how far from its side the farthest normal run lies
(``limit_apart``); what a drift, or noise that lasts, makes of unchanged code whose sides follow one
another, under the bars that the gate sets; and slower code with accidents. Beside them what could
be had: by a test that knows the noise, and by one that is told which runs are accidents.

    python -m tests.bench.gate_constants [--trials N] [--write]

``--write`` puts the tables into docs/gate-calibration.md. Exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from perfkit.gate.order import Order
from perfkit.gate.scatter import _two_sample
from perfkit.gate.series import limit_apart, outliers
from perfkit.gate.verdict import Status
from tests.bench.gate_calibration import DEFAULT, Report, percent, shares
from tests.bench.gate_series import normal, one_after_the_other, sticky

DOCS = Path(__file__).resolve().parents[2] / "docs" / "gate-calibration.md"
BEGIN = "<!-- constants: python -m tests.bench.gate_constants --write -->"
END = "<!-- end of constants -->"
SEED = 20_000  #: other series than those of the calibration, whose seed is 1
RUNS = (5, 6, 7, 8, 9, 10, 15)
SIDES = ((5, 5), (6, 6), (7, 7), (8, 8), (10, 10), (15, 15), (30, 30), (5, 15), (5,), (8,), (15,))
NOISE = 0.01
SLOWER = np.log1p(0.05)
#: drift over both sides at a noise, and correlation of neighbours at a noise: the hard ones
DRIFTS = ((0.03, 0.01), (0.05, 0.01), (0.067, 0.01), (0.1, 0.01), (0.2, 0.03), (0.3, 0.1))
LASTING = ((0.3, 0.03), (0.5, 0.03), (0.8, 0.03), (0.8, 0.1), (0.9, 0.1), (0.95, 0.05), (0.95, 0.1))
FOLLOWING = {
    f"drift {drift:.3g}, noise {sigma}": one_after_the_other(sigma, drift)
    for drift, sigma in DRIFTS
} | {f"AR(1) {r}, noise {sigma}": sticky(sigma, r, sequential=True) for r, sigma in LASTING}


def farthest(report: Report, trials: int) -> None:
    report.add("", "Normal series of which a run stands apart:")
    report.head("runs", "limit", "series")
    for sides in SIDES:
        random = np.random.default_rng([SEED, *sides])
        masks = outliers(*(random.normal(0, 0.05, (trials, n)) for n in sides))
        found = float(np.concatenate(masks, axis=1).any(axis=1).mean())
        name = " and ".join(map(str, sides)) + (" pairs" if len(sides) == 1 else "")
        report.table(name, f"{limit_apart(sum(sides)):.1f}", percent(found))
        report.goal(f"a run apart, {name}", found, most=0.0075)


def fails(logs: np.ndarray, order: Order) -> float:
    return shares([1e-3 * np.exp(logs)[..., None]], DEFAULT, paired=False, order=order)[Status.FAIL]


def distance(runs: int) -> float:
    """Between +5 % at 1 % of noise and the drift of unchanged code that is most like it.

    In standard deviations: a drift x from middle to middle is off by (5 % - x) in the change, whose
    variance is 2 / n, and by x in the trend inside the sides, whose variance is n**2 over their
    lever n (n**2 - 1) / 6. The least of (5 % - x)**2 / a + x**2 / b is 5 %**2 / (a + b).
    """
    return float(SLOWER / NOISE / np.sqrt(2 / runs + 6 * runs / (runs**2 - 1)))


def following(report: Report, trials: int) -> None:
    report.add("", "One side after the other; +5 % is that of independent runs at 1 % of noise:")
    report.head(
        "runs", "order known: unchanged, worst", "+5 %", "+5 % at most, if unchanged is 1 %",
        "order unknown: unchanged, worst", "+5 %", "unchanged at least, if +5 % is 99 %",
    )  # fmt: skip
    for runs in RUNS:
        random = np.random.default_rng([SEED, runs])
        shape, cells = (trials, 2, runs), []
        same = {name: levels(random, shape) for name, levels in FOLLOWING.items()}
        slower = normal(NOISE)(random, shape) + np.array([0, SLOWER])[:, None]
        bounds = ndtr(distance(runs) - ndtri(0.99)), ndtr(ndtri(0.99) - distance(runs))
        for order, bound in zip((Order.AFTER, Order.UNKNOWN), bounds, strict=True):
            worst, name = max((fails(logs, order), name) for name, logs in same.items())
            seen = fails(slower, order)
            cells += [f"{percent(worst)} ({name})", percent(seen), percent(float(bound))]
            if order is Order.AFTER:  # the worst of many cells: three standard errors
                most = 0.01 + 3 * (0.01 * 0.99 / trials) ** 0.5
                report.goal(f"order known, {runs} runs", worst, most=most)
            else:
                report.goal(f"+5 %, order unknown, {runs} runs", seen, least=0.99)
        report.table(runs, *cells)


def told(logs: np.ndarray, hit: np.ndarray) -> float:
    """FAIL by Student's t, as the gate's, of the runs that are no accidents."""
    change, error, degrees, _ = _two_sample(logs[:, 0], logs[:, 1], hit[:, 0], hit[:, 1])
    low = change - stdtrit(degrees, 1 - DEFAULT.false_alarm) * error
    found = (low > np.log1p(DEFAULT.fails_beyond)) & (change > np.log1p(DEFAULT.floor))
    return float(found.mean())


def accidents(report: Report, trials: int) -> None:
    ways = ("two samples", "pairs", "told which")
    report.add("", "Slower code at 1 % of noise, a run in twenty 10 to 50 % slower by accident:")
    report.head("runs", *(f"{effect}, {way}" for effect in ("+5 %", "+10 %") for way in ways))
    for runs in RUNS:
        cells = []
        for effect in (0.05, 0.10):
            random = np.random.default_rng([SEED, runs, round(effect * 100)])
            hit = random.random((trials, 2, runs)) < 0.05
            logs = random.normal(0, NOISE, hit.shape)
            logs += hit * np.log(1 + random.uniform(0.1, 0.5, hit.shape))
            logs[:, 1] += np.log1p(effect)
            times = [1e-3 * np.exp(logs)[..., None]]
            cells += [shares(times, DEFAULT, paired=way)[Status.FAIL] for way in (False, True)]
            hit &= hit.sum(axis=2, keepdims=True) < runs - 1  # two runs say how they scatter
            cells.append(told(logs, hit))
        report.table(runs, *map(percent, cells))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    report = Report()
    report.add(f"{options.trials:,} trials a cell.")
    farthest(report, options.trials)
    following(report, options.trials)
    accidents(report, options.trials)
    for miss in report.missed:
        print(f"MISSED: {miss}")
    if options.write:
        text = DOCS.read_text("utf-8")
        head, _, rest = text.partition(BEGIN)
        tail = rest.partition(END)[2]
        lines = "\n".join(report.lines)
        DOCS.write_text(f"{head}{BEGIN}\n\n{lines}\n\n{END}{tail}", "utf-8")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
