"""The command line's part, as the tests of the explorer use it."""

from __future__ import annotations

from pathlib import Path

from perfkit.cli.explore_desk import Desk, start
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.explore.state import State

ROOT = Path(__file__).resolve().parents[2]
CUBIN = next(iter(sorted((ROOT / "tests" / "data" / "cubin").glob("*.cubin"))))

DESK = Desk(KernelOptions())


def typed(gpu: str | None = "h100", **texts: str) -> State:
    """A state without a file."""
    return State(gpu=gpu).having(**{"threads": "256", "regs": "40", **texts})


def opened(path: Path, gpu: str | None = None, **texts: str) -> State:
    """The state after ``perfkit explore PATH``."""
    return start(DESK, path, gpu, LaunchOptions()).having(**texts)
