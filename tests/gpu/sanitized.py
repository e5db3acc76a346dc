"""The kernels of the library under compute-sanitizer.

    python tests/gpu/sanitized.py [--tool racecheck] [--only PATTERN]

Every workload of the library at its check sizes (an odd size of every kind of edge), held against
NumPy, in one process under each tool. Says a line for each tool, and what is not there; exits 1
unless every result is right and no tool found anything, 4 where something is missing. Takes half a
minute for each tool on an H200, racecheck a minute and more.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfkit.arch.types import ComputeCapability
    from perfkit.device.bench import Bench

ROOT = Path(__file__).resolve().parents[2]
#: tool -> its options
TOOLS = {
    # perfkit asks for every attribute that the bindings know; an older driver refuses some
    "memcheck": ("--report-api-errors", "no", "--leak-check", "full"),
    "racecheck": (),
    "initcheck": (),
    "synccheck": (),
}
NOT_THERE = 4
#: what a toolkit that is not on the path is called
FOLDERS = ("CUDA_HOME", "CUDA_PATH")
DEFAULT = "/usr/local/cuda"

DONE = re.compile(r"^(\d+) checks, (\d+) wrong$", re.MULTILINE)
SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK|LEAK) SUMMARY: (.*)$", re.MULTILINE)


def checked(bench: Bench, capability: ComputeCapability, only: str) -> Iterator[str]:
    """Run every check that the card can run: what is left out, what is wrong, and how many."""
    from perfkit.device.workloads.library import cannot_run, library

    count, wrong = 0, 0
    for name, workload in library().items():
        if not fnmatchcase(name, only):
            continue
        if (reason := cannot_run(workload, capability)) is not None:
            yield f"left out: {name} {reason}"
            continue
        for sizes in workload.checks:
            right = all(one.is_right for one in bench.check(workload.case(sizes)))
            count += 1
            wrong += not right
            if not right:
                yield f"wrong: {name} {dict(sizes)}"
    yield f"{count} checks, {wrong} wrong"


def inside(only: str) -> int:
    """The process that a tool watches."""
    from perfkit.device.bench import Bench
    from perfkit.device.cuda_card import open_card
    from perfkit.device.timing import Stopwatch
    from perfkit.errors import PerfkitError

    try:
        card = open_card()
        for line in checked(Bench(card, Stopwatch(card)), card.device.compute_capability, only):
            print(line, flush=True)
        card.close()
    except PerfkitError as error:
        print(f"error: {error}")
        return error.exit_code
    return 0


def sanitizer() -> str | None:
    """The program: on the path, or in a toolkit."""
    homes = [os.environ[name] for name in FOLDERS if name in os.environ]
    places = [os.environ.get("PATH", ""), *(f"{home}/bin" for home in (*homes, DEFAULT))]
    return shutil.which("compute-sanitizer", path=os.pathsep.join(places))


def verdict(tool: str, output: str, status: int, seconds: float) -> tuple[int, str]:
    """Exit code and line of a tool."""
    done, found = DONE.search(output), SUMMARY.findall(output)
    if done is None or not found:
        errors = [line for line in output.splitlines() if line.startswith("error: ")]
        why = errors[-1] if errors else f"it ended with exit code {status}"
        return (NOT_THERE if status == NOT_THERE else 1), f"{tool}: not finished, {why}"
    clean = all(int(number) == 0 for text in found for number in re.findall(r"\d+", text))
    good = status == 0 and clean and int(done[1]) > 0 and int(done[2]) == 0
    return int(not good), f"{tool}: {done[0]}; {'; '.join(found)}; {seconds:.0f} s"


def under(program: str, tool: str, only: str) -> int:
    """Run everything under a tool; say its line, and all of its output if that is not clean."""
    began = time.monotonic()
    done = subprocess.run(
        [
            *(program, "--tool", tool, "--error-exitcode", "9", *TOOLS[tool]),
            *(sys.executable, str(Path(__file__).resolve()), "--inside", "--only", only),
        ],
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    code, line = verdict(tool, done.stdout, done.returncode, time.monotonic() - began)
    left_out = {text for text in done.stdout.splitlines() if text.startswith("left out: ")}
    print("\n".join([*([done.stdout] if code else sorted(left_out)), line]), flush=True)
    return code


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tool", choices=[*TOOLS], help="this one; all four if not given")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="workloads of the library")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.inside:
        return inside(asked.only)
    program = sanitizer()
    if program is None:
        print("compute-sanitizer is not there: it comes with the CUDA toolkit (CUDA_HOME)")
        return NOT_THERE
    return max(under(program, tool, asked.only) for tool in ([asked.tool] if asked.tool else TOOLS))


if __name__ == "__main__":
    sys.exit(main())
