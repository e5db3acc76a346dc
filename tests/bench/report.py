"""``perfkit report`` of 1,000 results and more: time of the whole process, and size of the page.

python -m tests.bench.report
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perfkit.analysis.launch import Launch
from perfkit.analysis.occupancy import estimate
from perfkit.analysis.roofline import RooflineQuestion, roofline
from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.operations import operation
from perfkit.report import json
from perfkit.report.views import occupancy as occupancy_view
from perfkit.report.views import roofline as roofline_view

GOAL_S = 5.0
GOAL_BYTES = 2 * 10**6
FILES = 1000
GPUS = ("h100", "a100", "rtx-4090", "t4", "v100")


def write(folder: Path, count: int = FILES) -> list[Path]:
    """As many files as asked for: nine of ten an occupancy, every tenth a roofline."""
    paths = []
    for number in range(count):
        target = catalog.targets(GPUS[number % len(GPUS)])[0]
        path = folder / f"{number:04}.json"
        made_by = {"perfkit": "0", "command": f"perfkit occupancy lib.so --kernel k{number}"}
        if number % 10:
            launch = Launch(
                threads=32 * (1 + number % 32), regs=16 + number % 48, smem=256 * (number % 90)
            )
            topic = "occupancy"
            content = occupancy_view.content([estimate(target, launch)])
            content["results"][0]["kernel"] = (
                f"void <namespace>::kernel_{number}<float, {number % 7}>(float const*, int)"
            )
        else:
            work = operation(f"gemm:{64 + number}", DType.F16)
            topic = "roofline"
            found = roofline(target, RooflineQuestion(dtype=DType.F16, work=work))
            content = roofline_view.content([found], {})
        path.write_text(json.render(topic, {**content, "made_by": made_by}), "utf-8")
        paths.append(path)
    return paths


def write_one(folder: Path, count: int, letters: int) -> list[Path]:
    """One file of as many launches, each of a kernel with a name of its own."""
    target = catalog.targets(GPUS[0])[0]
    found = [estimate(target, Launch(threads=32 * n, regs=40, smem=0)) for n in range(1, 33)]
    content = occupancy_view.content(found)
    rows = content["results"]
    names = [f"kernel_{n}<{'float, ' * (letters // 7)}{n}>" for n in range(count)]
    content["results"] = [{**rows[n % 32], "kernel": name} for n, name in enumerate(names)]
    path = folder / "many.json"
    path.write_text(json.render("occupancy", content), "utf-8")
    return [path]


def measure(name: str, paths: list[Path], page: Path) -> tuple[float, int]:
    """Seconds of the processor, so that the neighbours are not measured, and bytes."""
    command = [sys.executable, "-m", "perfkit", "report", *map(str, paths), "-o", str(page)]
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True)
    after, wall = os.times(), time.perf_counter() - start
    seconds = sum(after[2:4]) - sum(before[2:4])
    size = page.stat().st_size
    print(f"{name}: {seconds:.2f} s ({wall:.2f} s by the clock on the wall), {size / 1e6:.2f} MB")
    return seconds, size


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / "report.html"
        seconds, size = measure(f"{FILES} results", write(folder), page)
        sizes = [size]
        for count, letters in ((10_000, 60), (50_000, 60), (1_000, 10_000), (5_000, 10_000)):
            paths = write_one(folder, count, letters)
            sizes.append(measure(f"{count} rows, names of {letters} letters", paths, page)[1])
    print(f"goals: {FILES} results in < {GOAL_S:g} s, every page < {GOAL_BYTES / 1e6:g} MB")
    return 0 if seconds < GOAL_S and max(sizes) < GOAL_BYTES else 1


if __name__ == "__main__":
    raise SystemExit(main())
