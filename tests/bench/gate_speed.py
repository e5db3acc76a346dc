"""The timing gate over 10,000 benchmarks with 15 runs a side, results in memory. Goal: 3 s.

python -m tests.bench.gate_speed
"""

from __future__ import annotations

import random
import sys
import time

from perfkit.gate import Status, compare, outcome
from perfkit.readers.results import Run, Unit

BENCHMARKS, RUNS, GOAL_S = 10_000, 15, 3.0


def side(chance: random.Random) -> list[Run]:
    return [
        Run(
            benchmark=f"kernel {index}",
            run=str(run),
            values=(1e-4 * chance.gauss(1, 0.01),),
            unit=Unit.SECONDS,
        )
        for index in range(BENCHMARKS)
        for run in range(RUNS)
    ]


def main() -> int:
    chance = random.Random(1)
    sides = side(chance), side(chance)
    start = time.perf_counter()
    found = outcome(compare(*sides))
    took = time.perf_counter() - start
    counts = ", ".join(f"{number} {status}" for status, number in found.counts.items())
    print(
        f"{BENCHMARKS:,} benchmarks x {RUNS} runs a side: {took:.2f} s (goal {GOAL_S:g}); {counts}"
    )
    return int(took > GOAL_S or found.counts[Status.FAIL] > 0)


if __name__ == "__main__":
    sys.exit(main())
