"""Whole processes side by side: ``perfkit occupancy`` and its closest peer, ``cuxray occupancy``.

Each is installed from scratch into an environment of its own (perfkit from this checkout, cuxray
from the package index, kept under ``build/bench`` for the next run), then the two answer the same
question in turn. The figure is the ratio of the medians, at most 1.

    python -m tests.bench.startup [--runs 60] [--fresh]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "bench"
HEAVY = ("cuda", "numpy", "pandas", "scipy", "pydantic", "matplotlib", "rich", "yaml")

PERFKIT = ("perfkit", "occupancy", "-g", "h100", "-t", "256", "-r", "40")
PEER = ("cuxray", "occupancy", "--arch", "sm_90", "--threads", "256", "--regs", "40")


def environment(name: str, requirement: str) -> Path:
    """The ``bin`` folder of an environment that holds only ``requirement``; made if need be."""
    folder = PLACE / name
    if not (folder / "done").exists():
        subprocess.run([str(ROOT / ".ci" / "venv"), str(folder)], check=True)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", requirement]
        subprocess.run(install, check=True)
        (folder / "done").touch()
    return folder / "bin"


def run(command: list[str], **variables: str) -> tuple[float, str, str]:
    """Seconds, output and errors of one process."""
    start = time.perf_counter()
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd=PLACE,
        env=os.environ | variables,
    )
    return time.perf_counter() - start, done.stdout, done.stderr


def imported(command: list[str]) -> list[str]:
    """Modules that the process imports, as ``-X importtime`` lists them."""
    *_, errors = run(command, PYTHONPROFILEIMPORTTIME="1")
    return re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", errors, re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--fresh", action="store_true", help="install both anew")
    options = parser.parse_args()
    # perfkit is this checkout, so it is always installed anew; the peer only on demand
    shutil.rmtree(PLACE / ("" if options.fresh else "perfkit"), ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    ours = [str(environment("perfkit", str(ROOT)) / PERFKIT[0]), *PERFKIT[1:]]
    peer = [str(environment("cuxray", "cuxray") / PEER[0]), *PEER[1:]]
    for command in (ours, peer, ours, peer):  # writes the byte code, fills the page cache
        _, output, _ = run(command)
        assert "75" in output, output
    times = [(run(ours)[0], run(peer)[0]) for _ in range(options.runs)]
    mine, theirs = (statistics.median(column) * 1e3 for column in zip(*times, strict=True))
    wins = sum(a < b for a, b in times)
    print(f"python {sys.version.split()[0]}, {options.runs} pairs of whole processes, medians")
    print(
        f"perfkit {mine:6.1f} ms    cuxray {theirs:6.1f} ms    ratio {mine / theirs:.2f} (goal 1)"
    )
    print(f"perfkit was the faster of {wins} pairs")
    for name, command in (("perfkit", ours), ("cuxray", peer)):
        modules = imported(command)
        heavy = sorted({module.partition(".")[0] for module in modules} & set(HEAVY))
        print(f"{name}: {len(modules)} modules, of the heavy ones {', '.join(heavy) or 'none'}")
    return 0 if mine <= theirs else 1


if __name__ == "__main__":
    raise SystemExit(main())
