"""A kernel file to an answer: ``perfkit occupancy tiled_matmul.cu``, compiled and from the cache.

Whole processes. Cold: an empty compile cache each time; cached: the same question again. Goals for
one architecture: under 1 s and under 0.4 s.

    python -m tests.bench.compile [--runs 7] [--gpu h100]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples" / "kernels" / "tiled_matmul.cu"
GOALS = {"cold": 1.0, "cached": 0.4}


def seconds(gpu: str, cache: str) -> float:
    command = [sys.executable, "-m", "perfkit", "occupancy", str(SOURCE), "--gpu", gpu]
    start = time.perf_counter()
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PERFKIT_CACHE": cache},
    )
    took = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--gpu", default="h100")
    options = parser.parse_args()
    times: dict[str, list[float]] = {"cold": [], "cached": []}
    with tempfile.TemporaryDirectory() as warm_up:
        seconds(options.gpu, warm_up)  # libraries into the page cache, Python's byte code
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as cache:
            times["cold"].append(seconds(options.gpu, cache))
            assert any(Path(cache).rglob("*")), "nothing was written to the compile cache"
            times["cached"].append(seconds(options.gpu, cache))
    medians = {name: statistics.median(column) for name, column in times.items()}
    for name, median in medians.items():
        low, high = min(times[name]), max(times[name])
        print(
            f"{SOURCE.name} for {options.gpu}, {name:<6}: median {median:.3f} s"
            f" ({low:.3f} to {high:.3f}, {options.runs} runs, goal {GOALS[name]:g} s)"
        )
    return 0 if all(medians[name] <= goal for name, goal in GOALS.items()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
