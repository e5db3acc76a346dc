"""Benchmark programs for tests: none is started, what they would print is given."""

from __future__ import annotations

from pathlib import Path

from perfkit.device.collect import Metric, Side
from perfkit.device.program_run import Executed, Program

TIME = Metric(benchmark="bench", pattern=r"time: (\S+) ms")


def side(name, outputs, metric=TIME, words=("bench",), folder=None, **ends):
    """A side whose program prints one of ``outputs`` each time; an exception is raised.

    ``ends``: number of the call, as ``run_3`` -> the failure with which it ends.
    """
    calls = iter(enumerate(outputs, 1))

    def run(program, limit, *, stdout, stderr, out, monitors=()):
        number, text = next(calls)
        if isinstance(text, BaseException):
            raise text
        failure = ends.get(f"run_{number}")
        stdout.write_text("")
        (out if program.writes_out else stdout).write_text(text)
        wall = float(text) if metric.wall else 0.1
        return Executed(
            wall_s=wall, failure=failure, log="last words" if failure else "", clock_hz=1.9e9,
            throttles=("power cap set by software",) if "hot" in text else (),
        )  # fmt: skip

    program = Program(words=tuple(words), folder=None if folder is None else Path(folder))
    return Side(name, program, metric, time_limit_s=10, run=run)


def times(*milliseconds):
    return [f"time: {value} ms" for value in milliseconds]
