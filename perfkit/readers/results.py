"""What a benchmark program's result file says, whatever program wrote it.

The unit of evidence is the run: one process that was started, measured and ended. The samples
inside a run share its clocks, memory layout and neighbours; they are no independent evidence, so
they are kept with their run. A reader turns a file into ``ResultFile``; the gate compares two sets.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from perfkit.record import record


class Unit(StrEnum):
    """What values are in. Readers convert to these: milliseconds become seconds."""

    SECONDS = "s"
    CYCLES = "cycles"
    BYTES_PER_SECOND = "B/s"
    FLOP_PER_SECOND = "FLOP/s"
    PER_SECOND = "1/s"  #: items, tokens, requests per second
    BYTES = "B"
    RATIO = "1"
    COUNT = "count"

    @property
    def higher_is_better(self) -> bool:
        """Rates are better when higher, everything else when lower."""
        return self in {Unit.BYTES_PER_SECOND, Unit.FLOP_PER_SECOND, Unit.PER_SECOND}


@record
class Run:
    """One benchmark in one process.

    ``values`` are in the order they were taken, in ``unit``. Empty with ``failure`` set: the
    benchmark was there and has no result. A file that keeps only a summary gives one value, the
    centre, and the scatter of its samples as ``spread``.
    """

    benchmark: str  #: full name, parameters included; what two files are matched by
    values: tuple[float, ...]
    unit: Unit
    run: str | None = None  #: which process, where the file says so; None: the file is one run
    pair: str | None = None  #: runs of both sides with the same pair were taken next to each other
    metric: str = "time"  #: what was measured: ``time``, ``gpu_time``, ``dram__bytes.sum``
    higher_is_better: bool | None = None  #: None: as the unit says
    spread: float | None = None  #: relative standard deviation of the samples behind a summary
    samples: int | None = None  #: how many samples the summary is of
    clock_hz: float | None = None  #: mean clock of the SMs, where recorded
    failure: str | None = None  #: why there is no value: failed, skipped, timed out
    source: str = ""  #: file, and the place in it

    @property
    def better_when_higher(self) -> bool:
        """The direction stated, or that of the unit."""
        stated = self.higher_is_better
        return self.unit.higher_is_better if stated is None else stated


@record
class ResultFile:
    """What one file holds, in its order."""

    kind: str  #: which reader recognised it: ``nvbench``, ``google-benchmark``, ``csv``
    origin: str  #: the file
    runs: tuple[Run, ...]
    #: what the file says of where it was made, by perfkit's names: gpu, compute_capability,
    #: driver, toolkit, sm_clock_mhz, host, date, command, commit; the gate compares the first four
    environment: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  #: what was odd and how it was taken, for stderr
    metrics: tuple[str, ...] = ()  #: all that the file holds; ``runs`` are of those asked for
