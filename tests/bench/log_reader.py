"""A 100 MB build log to kernels: time on one core, and memory beside the results.

Two logs, each in a process of its own: *mixed* is what a build of a large library writes (commands,
progress, warnings, and kernels in every fourth line), *dense* is nothing but records, no two
kernels alike: the most work that a log of that size can be. Goals: 10 s; what memory grows by must
not depend on the length of the log, so *sparse*, which has a thousand kernels and for the rest
other lines, is read at 10 and at 100 MB.

    python -m tests.bench.log_reader [--megabytes 100]
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOAL_SECONDS = 10.0
GOAL_MIB = 8  #: growth of memory from a log of a tenth to the whole one

NAME = (
    "_ZN7cutlass13device_kernelIN5flash20enable_sm90_or_laterINS1_16FlashAttnFwdSm90INS1_25"
    "CollectiveMainloopFwdSm90ILi{0}EN4cute5tupleIJNS5_1CILi1EEES8_S8_EEEEEEEEEEEvNT_6ParamsE"
)
RECORD = """\
ptxas info    : Compiling entry function '{0}' for 'sm_{1}'
ptxas info    : Function properties for {0}
    {2} bytes stack frame, {3} bytes spill stores, {3} bytes spill loads
ptxas info    : Used 168 registers, used 16 barriers, {2} bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 394.555 ms
"""  # noqa: E501
COMMAND = (
    "[{0}/9999] /usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DUSE_C10D -I/w/include "
    "-isystem /usr/local/cuda/include -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a "
    "-Xptxas -v --expt-relaxed-constexpr -MD -MT obj/kernel_{0}.o -c /w/csrc/kernel_{0}.cu\n"
    '/w/csrc/kernel_{0}.cu(308): warning #177-D: variable "grid" was declared but never used\n'
    "      const int grid = (n + block - 1) / block;\n"
    "                ^\n\n"
)


def record(number: int) -> str:
    name = NAME.format(number // 4)
    return RECORD.format(name, (80, 86, 89, 90)[number % 4], number % 7 * 8, number % 5 * 4)


def lines(kind: str):
    for number in itertools.count():
        if kind == "dense":
            yield record(number)
        elif kind == "mixed":
            yield COMMAND.format(number)
            yield record(number)
        else:
            yield COMMAND.format(number)
            if number < 1000:
                yield record(number)


def write(path: Path, kind: str, size: int) -> None:
    with path.open("w") as file:
        for text in lines(kind):
            if file.tell() >= size:
                return
            file.write(text)


def measure(path: str) -> None:
    """In a process of its own: prints seconds, kernels and the memory that reading took."""
    from perfkit.compiled.build_text import read_text

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with Path(path).open("rb") as file:
        reading = read_text(b"", file, origin="build.log")
    seconds = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    registers = {kernel.registers_per_thread for kernel in reading.kernels}
    assert registers == {168}
    assert not reading.notes
    print(json.dumps({"seconds": seconds, "kernels": len(reading.kernels), "mib": grown / 1024}))


def run(kind: str, megabytes: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "build.log")
        write(path, kind, int(megabytes * 1e6))
        command = [sys.executable, "-m", "tests.bench.log_reader", "--measure", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    found = json.loads(done.stdout)
    print(
        f"{kind:6} {megabytes:5g} MB: {found['seconds']:5.2f} s, {found['kernels']:7,} kernels, "
        f"memory +{found['mib']:.0f} MiB"
    )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return 0
    size = options.megabytes
    print(
        f"goals: {GOAL_SECONDS:g} s on one core; +{GOAL_MIB} MiB from {size / 10:g} to {size:g} MB"
    )
    seconds = max(run(kind, size)["seconds"] for kind in ("mixed", "dense"))
    growth = -run("sparse", size / 10)["mib"] + run("sparse", size)["mib"]
    return int(seconds > GOAL_SECONDS or growth > GOAL_MIB)


if __name__ == "__main__":
    sys.exit(main())
