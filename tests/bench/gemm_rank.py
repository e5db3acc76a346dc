"""Ranking every tiling of a matrix product: candidates and seconds, NumPy's import apart.

python -m tests.bench.gemm_rank [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

import numpy as np

from perfkit.analysis.gemm import GemmQuestion
from perfkit.analysis.gemm_rank import rank
from perfkit.analysis.roofline import RooflineQuestion
from perfkit.arch import catalog
from perfkit.kernel import DType

GOAL_S = 1.0
LEAST = 10_000
ASKED = (
    ("a100", "f16", (4096, 4096, 4096)),
    ("h100", "f16", (4096, 4096, 4096)),
    ("rtx-4090", "f16", (8192, 8192, 8192)),
    ("h100", "f32", (4096, 4096, 4096)),
    ("a100", "f16", (512, 512, 16384)),
)
COMMAND = ("-m", "perfkit", "gemm", "-g", "a100", "--shape", "4096", "--dtype", "f16", "--rank")


def seconds(runs: int, name: str, dtype: str, shape: tuple[int, int, int]) -> tuple[int, float]:
    """Tilings compared, and the median time."""
    (target,) = catalog.targets(name)
    m, n, k = shape
    question = GemmQuestion(m=m, n=n, k=k, roofs=RooflineQuestion(dtype=DType(dtype)))
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        found = rank(target, question)
        times.append(time.perf_counter() - start)
    return found.compared, statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}, medians of {options.runs}")
    missed = False
    for name, dtype, shape in ASKED:
        compared, took = seconds(options.runs, name, dtype, shape)
        missed |= compared < LEAST or took > GOAL_S
        sizes = "x".join(map(str, shape))
        rate = compared / took / 1e3
        print(
            f"{name:>9} {dtype} {sizes:>15}: {compared:6} tilings in {took * 1e3:5.0f} ms, "
            f"{rate:4.0f} k/s (goal: {LEAST} in {GOAL_S:g} s)"
        )
    start = time.perf_counter()
    subprocess.run([sys.executable, *COMMAND], check=True, capture_output=True)
    print(f"the command, interpreter and NumPy included: {time.perf_counter() - start:.2f} s")
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
