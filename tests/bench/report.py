"""``perfkit report`` of 1,000 results: time of the whole process, and size of the page.

python -m tests.bench.report
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perfkit.analysis.launch import Launch
from perfkit.analysis.occupancy import estimate
from perfkit.analysis.roofline import Question, roofline
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
            found = roofline(target, Question(dtype=DType.F16, work=work))
            content = roofline_view.content([found], {})
        path.write_text(json.render(topic, {**content, "made_by": made_by}), "utf-8")
        paths.append(path)
    return paths


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write(folder)
        page = folder / "report.html"
        command = [sys.executable, "-m", "perfkit", "report", *map(str, paths), "-o", str(page)]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        size = page.stat().st_size
    print(f"{FILES} results: {seconds:.2f} s (goal < {GOAL_S:g} s), {size / 1e6:.2f} MB (goal < 2)")
    return 0 if seconds < GOAL_S and size < GOAL_BYTES else 1


if __name__ == "__main__":
    raise SystemExit(main())
