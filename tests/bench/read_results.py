"""How long reading results takes: 15 runs of 10,000 benchmarks, as the two commonest files.

One plain CSV with a row per run, and one Google Benchmark JSON with 15 repetitions; the same JSON
as 15 files, a process each. The figures are processor seconds, at most 2 for each single file.

    python -m tests.bench.read_results
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from perfkit.readers.recognise import read_results

BENCHMARKS, RUNS, LIMIT = 10_000, 15, 2.0


def entry(dice: random.Random, number: int, repetition: int) -> dict[str, object]:
    name = f"BM_kernel<{number}>/manual_time"
    return {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": RUNS,
        "repetition_index": repetition,
        "threads": 1,
        "iterations": 1000,
        "real_time": dice.uniform(50, 60),
        "cpu_time": dice.uniform(50, 60),
        "time_unit": "us",
    }


def write(folder: Path) -> tuple[Path, Path, Path]:
    dice = random.Random(1)
    table, document, several = folder / "r.csv", folder / "r.json", folder / "several"
    rows = [
        f"bench<{number}>/x,{run},{dice.uniform(50, 60):.4f},us"
        for run in range(RUNS)
        for number in range(BENCHMARKS)
    ]
    table.write_text("\n".join(["benchmark,run,value,unit", *rows]), "utf-8")
    runs = [[entry(dice, n, run) for n in range(BENCHMARKS)] for run in range(RUNS)]
    together = [one for run in runs for one in run]
    document.write_text(json.dumps({"context": {}, "benchmarks": together}, indent=2), "utf-8")
    several.mkdir()
    for number, run in enumerate(runs):
        text = json.dumps({"context": {}, "benchmarks": run}, indent=2)
        (several / f"{number:02}.json").write_text(text, "utf-8")
    return table, document, several


def main() -> int:
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for path in write(Path(folder)):
            start = time.process_time()
            found = read_results(path)
            seconds = time.process_time() - start
            values = sum(len(run.values) for run in found.runs)
            assert values == BENCHMARKS * RUNS
            print(f"{path.name:8} {values:,} values of {len(found.runs):,} runs: {seconds:.2f} s")
            slow |= path.is_file() and seconds > LIMIT
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
