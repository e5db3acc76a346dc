"""Recorded, collected and historical runs for the golden files: made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from perfkit.gate.baseline_format import parsed
from perfkit.gate.changepoint import ChangePoint
from perfkit.gate.collected import Attempt, GateRun, Stopped
from perfkit.gate.history import Commit, History, Step, Trace
from perfkit.gate.timing import compare
from perfkit.gate.verdict import outcome
from perfkit.readers.results import ResultFile, Run, Unit

BASELINES = Path(__file__).resolve().parents[1] / "data" / "baselines"
ENTRIES = parsed((BASELINES / "version-1.json").read_bytes(), "version-1.json")
H200 = {"gpu": "NVIDIA H200", "driver": "580.159.04"}

BEFORE = (1.00, 1.002, 0.998, 1.001, 0.999, 1.003)
AFTER = (1.06, 1.062, 1.058, 1.061, 1.059, 1.063)


def _runs(side: str, values: tuple[float, ...]) -> tuple[Run, ...]:
    return tuple(
        Run(
            benchmark="axpy|*bold*", values=(value * 1e-3,), unit=Unit.SECONDS, run=str(number),
            pair=str(number), source=f"{side} {number}",
        )
        for number, value in enumerate(values, 1)
    )  # fmt: skip


SIDES = {"baseline": _runs("baseline", BEFORE), "candidate": _runs("candidate", AFTER)}


def _file(side: str) -> ResultFile:
    return ResultFile(kind="", origin=side, runs=SIDES[side], environment=H200)


VERDICTS = tuple(compare(_file("baseline"), _file("candidate")))
RUN = GateRun(
    attempts=tuple(
        Attempt(
            side=side,
            number=number,
            first=(side == "baseline") is (number % 2 == 1),
            wall_s=0.25,
            runs=(run,),
            clock_hz=1.98e9,
            throttles=("power cap set by software",) if (side, number) == ("candidate", 2) else (),
        )
        for number in range(1, 7)
        for side in ("baseline", "candidate")
        for run in [SIDES[side][number - 1]]
    ),
    verdicts=VERDICTS,
    stopped=Stopped.DECIDED,
    pairs=6,
    looks=((6, 0.0025),),
    seed=42,
    seconds=3.5,
    baseline=_file("baseline"),
    candidate=_file("candidate"),
)
OUTCOME = outcome(VERDICTS)

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


def _commits(values: tuple[float, ...]) -> tuple[Commit, ...]:
    return tuple(
        Commit(
            name=f"{number:x}" * 40, date=START + timedelta(hours=6 * number), value=value, runs=5
        )
        for number, value in enumerate(values)
    )


_SLOWER = _commits((*(1e-3 + i % 3 * 1e-6 for i in range(8)), *(1.05e-3 for _ in range(8))))
_RATES = _commits(tuple(4.2e12 + i % 4 * 1e9 for i in range(16)))
HISTORY = History(
    branch="main",
    others=("topic|*bold*",),
    traces=(
        Trace(
            benchmark="axpy|*bold*", metric="time", unit="s", gpu="NVIDIA H200",
            higher_is_better=False, commits=_SLOWER, noise=0.001, enough=True,
            steps=(
                Step(
                    first=_SLOWER[8], last=_SLOWER[7], worse=True, before=1.001e-3, after=1.05e-3,
                    change=ChangePoint(at=8, earliest=8, latest=9, ratio=1.049, risk=1.5e-4),
                    causes=("driver 580.1 -> 590.2",),
                ),
            ),
        ),
        Trace(
            benchmark="copy", metric="bandwidth", unit="B/s", gpu="NVIDIA H200",
            higher_is_better=True, commits=_RATES, noise=0.0004, enough=True, steps=(),
        ),
        Trace(
            benchmark="new", metric="time", unit="s", gpu="", higher_is_better=False,
            commits=_commits((2e-6,)), noise=0.0, enough=False, steps=(),
        ),
    ),
)  # fmt: skip
