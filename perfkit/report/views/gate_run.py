"""``device.gate_run`` -> document and JSON: the verdicts, and how the runs came about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from perfkit.gate.collected import Attempt, GateRun, Stopped
from perfkit.gate.verdict import Outcome
from perfkit.report.document import Document
from perfkit.report.views import gate
from perfkit.units import format_seconds

_STOPPED: Final = {
    Stopped.DECIDED: "decided",
    Stopped.MOST: "the most that were allowed",
    Stopped.BUDGET: "the budget is spent",
    Stopped.FAILED: "ended by what cannot be compared",
    Stopped.INTERRUPTED: "interrupted",
}


def document(found: Outcome, run: GateRun) -> Document:
    """The verdicts, and a line on how they came about."""
    said = gate.document(found)
    return replace(said, notes=(*said.notes, *_notes(run)))


def _notes(run: GateRun) -> Iterator[str]:
    what = "pair" if run.baseline is not None else "run"
    count = f"{run.pairs} {what}{'' if run.pairs == 1 else 's'}"
    yield (
        f"{count} in {format_seconds(run.seconds)}: {_STOPPED[run.stopped]}; "
        f"--seed {run.seed} repeats the order"
    )
    held: dict[str, list[str]] = {}
    for one in run.attempts:
        for why in one.throttles if one.number else ():
            held.setdefault(why, []).append(f"{one.side} {one.number}")
    for why, names in held.items():
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        many = f"{len(names)} run{'' if len(names) == 1 else 's'}"
        yield f"clocks were held down ({why}) in {many}: {shown}"


def content(found: Outcome, run: GateRun) -> dict[str, Any]:
    """The verdicts as ``perfkit gate check`` gives them, and every run."""
    return {
        **gate.content(found),
        "stopped": run.stopped.value,
        "pairs": run.pairs,
        "seed": run.seed,
        "seconds": run.seconds,
        "looks": [{"pairs": pairs, "risk": risk} for pairs, risk in run.looks],
        "environment": {
            "baseline": None if run.baseline is None else run.baseline.environment,
            "candidate": run.candidate.environment,
        },
        "runs": [_attempt(one) for one in run.attempts],
    }


def _attempt(one: Attempt) -> dict[str, Any]:
    return {
        "side": one.side,
        "pair": one.number,
        "first": one.first,
        "wall_s": one.wall_s,
        "failure": one.failure,
        "hint": one.hint,
        "log": one.log,
        "sm_clock_hz": one.clock_hz,
        "throttles": list(one.throttles),
        "results": [
            {
                "benchmark": run.benchmark,
                "metric": run.metric,
                "unit": run.unit.value,
                "values": list(run.values),
                "failure": run.failure,
            }
            for run in one.runs
        ],
    }
