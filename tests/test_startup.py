"""What a quick answer must not load: the libraries whose import takes longer than the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("cuda", "matplotlib", "numpy", "pandas", "pyarrow", "pydantic", "scipy", "textual")

#: runs a statement in a fresh interpreter, then says on the last line what it has loaded
PROGRAM = """
import sys
before = set(sys.modules)  # cuda-bindings loads an empty `cuda` with every interpreter
code = 0
try:
    exec(sys.argv.pop())
except SystemExit as stop:
    code = stop.code
import json
print()
print(json.dumps({"code": code or 0, "modules": sorted(set(sys.modules) - before)}))
"""


def run(statement: str) -> tuple[int, str, set[str]]:
    """Exit code, output and top-level modules newly loaded by a statement that may set ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, statement],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    *output, last = done.stdout.splitlines()
    report = json.loads(last)
    return report["code"], "\n".join(output), {name.partition(".")[0] for name in report["modules"]}


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (["--help"], "occupancy"),
        (["occupancy", "-g", "h100", "-t", "256", "-r", "40"], "registers"),
        (["occupancy", "-g", "h100", "-t", "256", "-r", "40", "--chart"], "registers per thread"),
        (["gpu", "show", "h100", "-f", "json"], '"sm_count"'),
        (["arch", "list"], "9.0"),
        (["roofline", "-g", "h100", "--dtype", "f16", "--op", "gemm:4096"], "0.139 ms"),
        (
            ["gemm", "-g", "t4", "--shape", "64", "--dtype", "f16", "--tile", "64x64x32", "--warp",
             "32x32x32"],
            "16 KiB",
        ),
        (["recommend", "-g", "h100", "-r", "40"], "256 threads"),
        (["latency", "-g", "h100", "--latency-ns", "600"], "warps needed"),
        (["overlap", "--h2d", "1G", "--link", "pcie4", "--chunks", "2"], "speed-up"),
        (["diagnose", "tests/data/ncu/details.csv"], "low occupancy"),
        (["gate", "check", "tests/data/ptxas/b09.log", "--rule", "registers<=255"], "PASS: 2 pass"),
        (["fits", "-g", "8.9", "-t", "256", "-r", "40", "-s", "300K"], "needs 307,200 B"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_a_quick_answer_loads_nothing_heavy(arguments, shows):
    code, output, modules = run(f"from perfkit.cli.app import main; code = main({arguments})")
    assert code == 0
    assert shows in output
    assert "perfkit" in modules
    assert modules.isdisjoint(HEAVY), modules & set(HEAVY)


def test_importing_the_package_loads_nothing_heavy():
    *_, modules = run("import perfkit")
    assert "perfkit" in modules
    assert modules.isdisjoint((*HEAVY, "yaml", "typer", "rich"))


def test_the_guard_sees_a_heavy_import():
    *_, modules = run("import numpy.linalg")
    assert "numpy" in modules
