"""Baselines written by programs that are killed: the file is the old one or the new one.

A writer records generation after generation of entries and is ended by SIGKILL at a random moment;
then the file must be whole, all of one generation, and none that was reported as written may be
missing. Exit code 1 where one of the tries finds otherwise.

    python -m tests.bench.gate_record [--tries 1000]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from perfkit.errors import PerfkitError
from perfkit.gate.baseline import load, update
from perfkit.gate.baseline_format import Entry
from perfkit.readers.results import Run, Unit

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = 40  #: about 20 KiB: several blocks of a disk
_PROGRAM = (
    "import sys; from tests.bench.gate_record import work; work(sys.argv[1], int(sys.argv[2]))"
)


def entry(name: str, generation: int) -> Entry:
    run = Run(benchmark=name, values=(float(generation),), unit=Unit.SECONDS)
    return Entry(
        benchmark=name, metric="time", unit=Unit.SECONDS, higher_is_better=False,
        environment={"gpu": "NVIDIA H200"}, runs=(run,) * 5, noise=None,
    )  # fmt: skip


def entries(generation: int) -> list[Entry]:
    """All benchmarks at one generation."""
    return [entry(f"benchmark-{number}", generation) for number in range(BENCHMARKS)]


def record(path: str, name: str) -> None:
    """One entry of a name of its own: what concurrent writers do."""
    update(path, [entry(name, 1)])


def work(path: str, generation: int) -> None:
    """Record one generation after another, and say which are done, until killed."""
    while True:
        update(path, entries(generation))
        sys.stdout.write(f"{generation}\n")
        sys.stdout.flush()
        generation += 1


class Found(NamedTuple):
    tries: int
    written: int  #: generations
    broken: list[str]


def killed(path: Path, tries: int, seed: int) -> Found:
    """Start a writer, end it, look at the file; again and again, on the same file."""
    chance = random.Random(seed)
    reached, broken = 0, []
    for number in range(tries):
        command = [sys.executable, "-c", _PROGRAM, str(path), str(reached + 1)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as writer:
            first = writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.02))
            writer.kill()
            said = [int(line) for line in (first + writer.stdout.read()).splitlines(keepends=True)
                    if line.endswith("\n")]  # fmt: skip
        if not said:
            broken.append(f"try {number}: the writer wrote nothing")
            continue
        try:
            values = {run.values[0] for found in load(path) for run in found.runs}
        except PerfkitError as error:
            broken.append(f"try {number}: {error}")
            continue
        # one more may be in place than the writer came to say
        if len(values) != 1 or not values <= {said[-1], said[-1] + 1}:
            broken.append(f"try {number}: generations {sorted(values)}, said {said[-1]}")
        reached = int(max(values))
    return Found(tries, reached, broken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=1000)
    options = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="perfkit-") as folder:
        found = killed(Path(folder, "base.json"), options.tries, seed=1)
        left = sorted(path.name for path in Path(folder).iterdir())
    for line in found.broken:
        print(f"BROKEN: {line}")
    print(
        f"{found.tries} writers killed while they wrote {found.written} times: "
        f"{len(found.broken)} broken files (goal: 0), {time.perf_counter() - start:.0f} s"
    )
    print(f"left in the folder: {', '.join(left)}")
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
