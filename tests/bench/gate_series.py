"""Series of runs as benchmarks make them: real ones of an H200, and simulated ones by the thousand.

A simulated series is an array (trials, sides, runs, samples) of times around 1 ms. ``effect`` is
what the candidate is slower by. Every kind of noise is one entry of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

DATA = Path(__file__).resolve().parents[1] / "data" / "gate" / "h200_timing_noise.csv.gz"
SAMPLES = 40
WITHIN = 0.005  #: scatter of samples inside a run
OUTLYING_SAMPLES = 0.02  #: share of samples that an interrupt makes 10 to 60 % slower
CHUNK = 2_000

Random = np.random.Generator
#: random numbers, (trials, 2, runs) -> logarithms of run levels
Levels = Callable[[Random, tuple[int, int, int]], np.ndarray]


class Kind(NamedTuple):
    name: str
    levels: Levels
    paired: bool | None = None  #: the only way in which it makes sense; None: both
    sequential: bool = False  #: sides taken one after the other while the machine drifts


def normal(sigma: float) -> Levels:
    return lambda random, shape: random.normal(0, sigma, shape)


def heavy(sigma: float) -> Levels:
    return lambda random, shape: sigma * random.standard_t(3, shape) / np.sqrt(3)


def skewed(sigma: float) -> Levels:
    return lambda random, shape: random.exponential(sigma, shape)


def modes(share: float, apart: float, sigma: float = 0.002) -> Levels:
    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        return (random.random(shape) < share) * apart + random.normal(0, sigma, shape)

    return levels


def outlying_runs(sigma: float, share: float) -> Levels:
    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        hit = random.random(shape) < share
        return random.normal(0, sigma, shape) + hit * np.log(1 + random.uniform(0.1, 0.5, shape))

    return levels


def cold_start(sigma: float) -> Levels:
    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        found = random.normal(0, sigma, shape)
        found[:, :, 0] += random.uniform(0.02, 0.3, shape[:2])
        return found

    return levels


def alike(sigma: float, shared: float) -> Levels:
    """Both runs of a pair share most of their noise: a neighbour, a clock, a temperature."""

    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        common = random.normal(0, shared, (shape[0], 1, shape[2]))
        return common + random.normal(0, sigma, shape)

    return levels


def in_turn(sigma: float, drift: float) -> Levels:
    """Runs of both sides alternate while the machine slows down by ``drift``."""

    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        trials, _, runs = shape
        order = random.permuted(np.tile([0, 1], (trials, runs, 1)), axis=2)  # who goes first
        place = 2 * np.arange(runs)[None, None, :] + np.moveaxis(order, 2, 1)
        return random.normal(0, sigma, shape) + drift * place / (2 * runs - 1)

    return levels


def one_after_the_other(sigma: float, drift: float) -> Levels:
    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        _, _, runs = shape
        place = np.arange(2 * runs).reshape(2, runs)
        return random.normal(0, sigma, shape) + drift * place / (2 * runs - 1)

    return levels


def unequal(before: float, after: float) -> Levels:
    """Sides that scatter unequally: a machine that others have come to share."""

    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        return random.normal(0, 1, shape) * np.array([before, after])[None, :, None]

    return levels


def sticky(sigma: float, stays: float, *, sequential: bool) -> Levels:
    """Each run is like the one before it, AR(1): clocks, temperatures, neighbours that last.

    ``sigma`` is the scatter of all runs, ``stays`` the correlation of a run with the next one.
    Measured in turn, the sides go first by chance; or else one side is measured after the other.
    """

    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        trials, _, runs = shape
        found = np.empty((trials, 2 * runs))
        found[:, 0] = random.normal(0, sigma, trials)
        fresh = random.normal(0, sigma * np.sqrt(1 - stays**2), found.shape)
        for run in range(1, 2 * runs):
            found[:, run] = stays * found[:, run - 1] + fresh[:, run]
        if sequential:
            return found.reshape(trials, 2, runs)
        pairs = random.permuted(found.reshape(trials, runs, 2), axis=2)
        return np.moveaxis(pairs, 2, 1)

    return levels


def slow_runs(sigma: float, share: float, slower: float) -> Levels:
    """A share of the candidate's runs is slower, none of the baseline's: a regression."""

    def levels(random: Random, shape: tuple[int, int, int]) -> np.ndarray:
        found = random.normal(0, sigma, shape)
        found[:, 1] += (random.random(found[:, 1].shape) < share) * np.log1p(slower)
        return found

    return levels


def stepped(sigma: float, step: float) -> Levels:
    """A timer with steps as wide as the noise."""
    return lambda random, shape: np.round(random.normal(0, sigma, shape) / step) * step


KINDS = (
    Kind("normal, 0.1 %", normal(0.001)),
    Kind("normal, 0.3 %", normal(0.003)),
    Kind("normal, 1 %", normal(0.01)),
    Kind("normal, 3 %", normal(0.03)),
    Kind("normal, 10 %", normal(0.1)),
    Kind("heavy tails (t3), 3 %", heavy(0.03)),
    Kind("skewed (exponential), 3 %", skewed(0.03)),
    Kind("two modes 50:50, 13 % apart", modes(0.5, np.log(25.5 / 22.5))),
    Kind("two modes 80:20, 13 % apart", modes(0.2, np.log(25.5 / 22.5))),
    Kind("two modes 50:50, 4 % apart, 1 %", modes(0.5, 0.04, 0.01)),
    Kind("5 % outlying runs, 1 %", outlying_runs(0.01, 0.05)),
    Kind("10 % outlying runs, 3 %", outlying_runs(0.03, 0.10)),
    Kind("cold first run, 1 %", cold_start(0.01)),
    Kind("timer step 1 %, noise 0.5 %", stepped(0.005, 0.01)),
    Kind("pairs alike: 5 % shared, 1 % own", alike(0.01, 0.05)),
    Kind("drift 5 %, in turn, 0.3 %", in_turn(0.003, 0.05)),
    Kind("drift 10 %, in turn, 1 %", in_turn(0.01, 0.10)),
)

NORMAL = (KINDS[1], Kind("normal, 0.7 %", normal(0.007)), KINDS[2], KINDS[3])

#: taken one after the other, a drift is a difference
SEQUENTIAL = (
    Kind("drift 3 % over both, 0.3 %", one_after_the_other(0.003, 0.03), False, True),
    Kind("drift 3 % over both, 1 %", one_after_the_other(0.01, 0.03), False, True),
    Kind("drift 10 % over both, 0.3 %", one_after_the_other(0.003, 0.10), False, True),
    Kind("drift 5 % over both, 1 %", one_after_the_other(0.01, 0.05), False, True),
    Kind("drift 7 % over both, 1 %", one_after_the_other(0.01, 0.07), False, True),
    Kind("drift 10 % over both, 1 %", one_after_the_other(0.01, 0.10), False, True),
    Kind("drift 20 % over both, 3 %", one_after_the_other(0.03, 0.20), False, True),
    Kind("drift 60 % over both, 10 %", one_after_the_other(0.10, 0.60), False, True),
)

UNEQUAL = (
    Kind("1 % and 10 %", unequal(0.01, 0.1)),
    Kind("10 % and 1 %", unequal(0.1, 0.01)),
    Kind("3 % and 10 %", unequal(0.03, 0.1)),
)

#: what lasts from run to run cannot be told from a change, unless the sides take turns
STICKY = tuple(
    Kind(
        f"AR(1) {stays}, {sigma * 100:.0f} %, {way}",
        sticky(sigma, stays, sequential=sequential),
        not sequential,
        sequential,
    )
    for sigma, stays in (
        (0.01, 0.5),
        (0.01, 0.8),
        (0.03, 0.5),
        (0.03, 0.8),
        (0.03, 0.95),
        (0.1, 0.9),
    )
    for way, sequential in (("one after the other", True), ("in turn", False))
)

#: changed code that few runs call unchanged, and accidents on both sides
SLOW_RUNS = (
    Kind("20 % of the candidate's runs 50 % slower, 0.3 %", slow_runs(0.003, 0.2, 0.5)),
    Kind("5 % outlying runs on both sides, 0.3 %", outlying_runs(0.003, 0.05)),
)


def simulated(
    kind: Kind, runs: int, trials: int, effect: float = 0.0, seed: int = 1
) -> Iterator[np.ndarray]:
    """Times in seconds, in chunks of shape (trials, 2, runs, samples)."""
    random = np.random.default_rng([seed, runs, round(effect * 1e6), *kind.name.encode()])
    for start in range(0, trials, CHUNK):
        count = min(CHUNK, trials - start)
        levels = kind.levels(random, (count, 2, runs))
        levels[:, 1] += np.log1p(effect)
        shape = (count, 2, runs, SAMPLES)
        samples = random.normal(0, WITHIN, shape).astype(np.float32)
        hit = random.random(shape, dtype=np.float32) < OUTLYING_SAMPLES
        samples += hit * random.uniform(0.1, 0.47, shape).astype(np.float32)
        yield 1e-3 * np.exp(levels[..., None] + samples)


def real() -> dict[tuple[str, int], np.ndarray]:
    """Kernel and percent of extra work -> times in seconds, (sessions, samples)."""
    frame = pd.read_csv(DATA)
    return {
        key: part.pivot_table(index="session", columns="sample", values="time_us").to_numpy() / 1e6
        for key, part in frame.groupby(["kernel", "slowdown_pct"])
    }


def drawn(
    before: np.ndarray, after: np.ndarray | None, runs: int, trials: int, seed: int = 1
) -> np.ndarray:
    """Runs drawn from real sessions without putting back: (trials, 2, runs, samples).

    ``after`` None: both sides from the same sessions, no session on both sides.
    """
    random = np.random.default_rng([seed, runs, trials])
    order = np.argsort(random.random((trials, len(before))), axis=1)
    if after is None:
        return np.stack([before[order[:, :runs]], before[order[:, runs : 2 * runs]]], axis=1)
    other = np.argsort(random.random((trials, len(after))), axis=1)
    return np.stack([before[order[:, :runs]], after[other[:, :runs]]], axis=1)
