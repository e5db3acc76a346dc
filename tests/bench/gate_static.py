"""The static gate over a whole library: ``perfkit gate check`` as a process of its own.

Made here: a wheel of 2,000 kernels (copies of the kernels of ``tests/data/cubin``, each under a
name of its own), and the build before it. Held against it: budgets, increases, occupancy and
launches on two GPUs, 12,000 verdicts. Goal: 6 s, start of the process and output included.

    python -m tests.bench.gate_static [LIBRARY]

A library that is named is judged as well, by the same rules without a baseline.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from perfkit.compiled.inspect import read

ROOT = Path(__file__).resolve().parents[2]
CUBIN = ROOT / "tests" / "data" / "cubin" / "zoo.sm_90.nvrtc12.cubin"
GOAL_SECONDS = 6.0
KERNELS = 2000
BUDGETS = ("registers<=128", "stack<=4K", "static_shared<=48K", "barriers<=8")
LAUNCHES = ("occupancy>=1%@64 threads 1K smem on h100", "fits@64 threads 1K smem on h100,h200")


def library(path: Path) -> int:
    """Write a wheel of cubins; the number of its kernels."""
    data = CUBIN.read_bytes()
    names = [kernel.name for kernel in read(CUBIN).kernels]
    pattern = re.compile("|".join(sorted(names, key=len, reverse=True)).encode())
    copies = -(-KERNELS // len(names))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for number in range(copies):
            mark = f"{number:03d}".encode()
            wheel.writestr(
                f"kernels/k{number}.cubin",
                pattern.sub(lambda found, mark=mark: mark + found[0][len(mark) :], data),
            )
    return copies * len(names)


def judged(new: Path, old: Path | None) -> tuple[int, float, int]:
    """Verdicts, seconds of the whole process, and its exit code."""
    rules = [*BUDGETS, *LAUNCHES, *(["registers<=baseline"] if old else [])]
    command = [sys.executable, "-m", "perfkit", "gate", "check", str(new), "-f", "json"]
    command += [word for rule in rules for word in ("--rule", rule)]
    command += ["-b", str(old)] if old else []
    start = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    took = time.perf_counter() - start
    if done.returncode not in {0, 1, 3}:
        raise SystemExit(done.stderr)
    return len(json.loads(done.stdout)["verdicts"]), took, done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", nargs="?", type=Path)
    named = parser.parse_args().library
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.whl"), Path(folder, "new.whl")
        count = library(new)
        library(old)
        runs = [judged(new, old) for _ in range(3)]
    verdicts, took, code = min(runs, key=lambda run: run[1])
    fine = took <= GOAL_SECONDS and count >= KERNELS and verdicts >= 6 * count and code in {0, 1, 3}
    print(f"{count} kernels, {verdicts} verdicts, exit code {code}: {took:.2f} s, best of 3")
    print(f"goal {GOAL_SECONDS:g} s: {'met' if fine else 'MISSED'}")
    if named is not None:
        verdicts, took, code = judged(named, None)
        print(f"{named.name}: {verdicts} verdicts, exit code {code}: {took:.2f} s")
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
