"""The long run of ``tests.fuzz.files``: 2,000,000 mutated files for each reader.

Whatever is neither an answer nor a ``PerfkitError``, breaks a promise about answers or takes a
second of the processor's time is printed with its number and ends the run with exit code 1. An
input depends on its number alone: ``--first N --number 1`` repeats it, ``--save FILE`` keeps it.

    python -m tests.bench.fuzz [--first 0] [--number 2000000] [--save FILE] [READER…]

The reader ``cuobjdump`` runs NVIDIA's tool on every input, some hundred a second: it has to be
named. Time that the tool takes is not counted.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import time
from pathlib import Path
from typing import NamedTuple

from perfkit.errors import PerfkitError
from tests.compiled.reports import cuobjdump
from tests.fuzz.files import Reader, place, readers

MOST_SECONDS = 1.0
MOST_COMPLAINTS = 10
TOOL = "cuobjdump"  #: the reader that needs it


class Outcome(NamedTuple):
    inputs: int
    answers: int
    slowest: float  #: seconds
    complaints: list[str]


def environment(name: str) -> dict[str, str]:
    """Variables for a reader: only the one that is named after it finds cuobjdump."""
    tool = cuobjdump()
    found = str(tool) if name == TOOL and tool else "/nowhere"
    if name == "container":
        found = "/bin/sh"  # is looked up, and not run
    return {"PERFKIT_CACHE": "off", "PTXAS": "/bin/sh", "CUOBJDUMP": found}


def outcome(reader: Reader, made: object, path: Path) -> tuple[str | None, bool]:
    """What is wrong with it, and whether there was an answer."""
    try:
        reader.read(made, path)
    except PerfkitError as error:
        return None if error.message else "an error without words", False
    except Exception as error:
        return repr(error), False
    return None, True


def run(name: str, reader: Reader, first: int, number: int) -> Outcome:
    """Inputs ``first`` and so on; ends early with ten complaints."""
    complaints: list[str] = []
    slowest, answers, done = 0.0, 0, 0
    with place() as path:
        for one in range(first, first + number):
            made = reader.make(random.Random(one))
            start = time.perf_counter()
            problem, answered = outcome(reader, made, path)
            took = time.perf_counter() - start
            if took > MOST_SECONDS:  # or the machine was busy
                start = time.process_time()
                outcome(reader, made, path)
                took = time.process_time() - start
            answers += answered
            slowest = max(slowest, took)
            done += 1
            if problem is None and took > MOST_SECONDS:
                problem = f"{took:.1f} s"
            if problem:
                complaints.append(f"{name} --first {one}: {problem}")
                if len(complaints) >= MOST_COMPLAINTS:
                    break
    return Outcome(done, answers, slowest, complaints)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    known = readers()
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(known))
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--number", type=int, default=2_000_000, help="how many inputs")
    parser.add_argument("--save", type=Path, help="write the first input to this file")
    options = parser.parse_args()
    gc.freeze()  # the seeds stay
    complaints = []
    for name in options.readers or [name for name in known if name != TOOL]:
        if options.save:
            made = known[name].make(random.Random(options.first))
            options.save.write_bytes(made if isinstance(made, bytes) else repr(made).encode())
        os.environ.update(environment(name))
        start = time.perf_counter()
        found = run(name, known[name], options.first, options.number)
        took = time.perf_counter() - start
        print(
            f"{name:<10} {found.inputs:>9,} inputs in {took:,.0f} s: {found.answers:,} answers,"
            f" {found.inputs - found.answers:,} refusals, slowest {found.slowest:.3f} s,"
            f" {len(found.complaints)} complaints",
            *found.complaints,
            sep="\n    ",
            flush=True,
        )
        complaints += found.complaints
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
