"""What ``perfkit gate run`` has run, and what follows: values between device, view and file."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.gate.verdict import Verdict
    from perfkit.readers.results import ResultFile, Run


class Stopped(StrEnum):
    """Why there were no more runs."""

    DECIDED = "decided"
    MOST = "max-pairs"
    BUDGET = "budget"
    FAILED = "failed"  #: a run without a result, or nothing that can be compared
    INTERRUPTED = "interrupted"


@record
class Attempt:
    """One process, and what came of it."""

    side: str  #: ``baseline`` or ``candidate``
    number: int  #: of the pair, from 1; 0: a warm-up that does not count
    first: bool  #: whether it was the first of its pair
    wall_s: float
    runs: tuple[Run, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)  #: as its results tell
    failure: str | None = None
    hint: str | None = None  #: what would help, where that is known
    log: str = ""  #: the end of what it printed, where it failed
    clock_hz: float | None = None  #: median of the SM clocks while it ran
    throttles: tuple[str, ...] = ()  #: what held them down
    left: tuple[str, ...] = ()  #: processes that it started and did not end


@record
class GateRun:
    """Everything that was run, and what follows."""

    attempts: tuple[Attempt, ...]
    verdicts: tuple[Verdict, ...]
    stopped: Stopped
    pairs: int  #: that are whole
    looks: tuple[tuple[int, float], ...]  #: after how many pairs, at what risk
    seed: int
    seconds: float
    baseline: ResultFile | None  #: what was collected; None: a recorded one
    candidate: ResultFile
    notes: tuple[str, ...] = ()
