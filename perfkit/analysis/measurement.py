"""What was measured of a kernel: runs, the interval they give, and how it compares with the bound.

A run is one process with its samples; its median is one observation. The interval is Student's t on
the logarithms of the medians of runs: samples of one run share its clock, its memory's places and
its luck.
"""

from __future__ import annotations

from enum import StrEnum
from math import exp, log, sqrt
from statistics import mean, median, stdev
from typing import TYPE_CHECKING, Final

from perfkit.analysis.diagnose import Diagnosis, diagnose
from perfkit.analysis.metrics import Metrics
from perfkit.analysis.prediction import share_of
from perfkit.errors import EXIT_INTERRUPTED
from perfkit.models.roofline import COMPUTE, MEMORY
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.analysis.environment import Environment
    from perfkit.analysis.prediction import Demand, Prediction

CONFIDENCE: Final = 0.95
#: two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom
_T: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
#: a measurement this close to its bound, or to the time expected, is near it
NEAR: Final = 1.10
#: one that is faster by more than this says that a count or a rate is wrong
FASTER: Final = 0.995


class Verdict(StrEnum):
    NEAR = "near the bound"
    BELOW = "below the bound"
    FASTER = "faster than the bound"
    NO_BOUND = "no bound"
    WRONG = "wrong result"
    FAILED = "failed"


@record
class Run:
    """One process."""

    samples_s: tuple[float, ...]
    sm_clock_hz: float | None
    throttles: tuple[str, ...]
    temperature_c: float | None = None
    power_w: float | None = None
    cycles: int | None = None  #: that the kernel itself counted
    #: times of stages alone, for a case of several
    stages_s: Mapping[str, float] | None = None
    by_host: bool = False  #: by the host's clock: the work did not stay in the stream watched

    @property
    def median_s(self) -> float:
        return median(self.samples_s)


@record
class Checked:
    """One output against its reference."""

    output: str
    right: bool
    error: float  #: ||found - right|| / ||right||
    worst: float
    tolerance: float
    at: int | None
    unwritten: int


@record
class LaunchFacts:
    """What driver and compiler say of the kernel and its launch."""

    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    blocks: int
    threads: int
    blocks_per_sm: int


@record
class Failed:
    """Why there is no result."""

    message: str
    hint: str | None
    exit_code: int
    log: str = ""


@record
class Measurement:
    """One kernel or callable."""

    name: str
    summary: str
    sizes: Mapping[str, int]
    cold: bool
    runs: tuple[Run, ...]
    checks: tuple[Checked, ...]
    is_checked: bool  #: there was a reference
    facts: LaunchFacts | None
    demand: Demand
    footprint_bytes: int | None  #: None: not known
    prediction: Prediction | None
    hops: int | None = None  #: of a chain of loads
    failure: Failed | None = None
    sm_count: int = 0
    max_warps_per_sm: int = 0
    notes: tuple[str, ...] = ()
    rest_s: float = 0.0  #: of the card before each burst; 0: one sample followed the other
    key: str = ""  #: tells it from others of the same name

    @property
    def counted(self) -> tuple[Run, ...]:
        """The runs that the result is made of: those not throttled, if there are any."""
        steady = tuple(run for run in self.runs if not run.throttles)
        return steady or self.runs

    @property
    def median_s(self) -> float | None:
        return median(run.median_s for run in self.counted) if self.runs else None

    @property
    def interval_s(self) -> tuple[float, float] | None:
        return interval([run.median_s for run in self.counted])

    @property
    def ratio(self) -> float | None:
        """Measured over bound; at least 1 if both are right."""
        least = self.prediction.bound_s if self.prediction else None
        return None if self.median_s is None or not least else self.median_s / least

    @property
    def ratio_expected(self) -> float | None:
        """Measured over the time expected."""
        expected = self.prediction.expected_s if self.prediction else None
        return None if self.median_s is None or not expected else self.median_s / expected

    @property
    def bytes_per_s(self) -> float | None:
        """Of the bytes that are useful."""
        useful = self.demand.useful_bytes
        moved = self.demand.bytes if useful is None else useful
        return moved / self.median_s if self.median_s and moved else None

    @property
    def flop_per_s(self) -> float | None:
        flow = self.demand.flow
        return flow.flops / self.median_s if self.median_s and flow and flow.flops else None

    @property
    def occupancy(self) -> float | None:
        """Resident warps over the SM's slots, as the driver says: theoretical."""
        if self.facts is None or not self.max_warps_per_sm:
            return None
        warps = -(-self.facts.threads // 32)
        return self.facts.blocks_per_sm * warps / self.max_warps_per_sm

    @property
    def waves(self) -> float | None:
        if self.facts is None or not self.facts.blocks_per_sm * self.sm_count:
            return None
        return self.facts.blocks / (self.facts.blocks_per_sm * self.sm_count)

    @property
    def is_wrong(self) -> bool:
        return any(not check.right for check in self.checks)

    @property
    def verdict(self) -> Verdict:
        if self.failure is not None and not self.runs:
            return Verdict.FAILED
        if self.is_wrong:
            return Verdict.WRONG
        ratio = self.ratio
        if ratio is None:
            return Verdict.NO_BOUND
        if ratio < FASTER:
            return Verdict.FASTER
        closest = min(ratio, self.ratio_expected or ratio)
        return Verdict.NEAR if closest <= NEAR else Verdict.BELOW

    def diagnosis(self) -> Diagnosis | None:
        """What the rules say of a launch that is below its bound; None without a bound."""
        found, time = (self.prediction.bound if self.prediction else None), self.median_s
        if found is None or time is None:
            return None
        facts = self.facts
        return diagnose(
            Metrics(
                kernel=self.name,
                duration_s=time,
                compute_share=share_of(found, COMPUTE, time),
                memory_share=share_of(found, MEMORY, time),
                grid_blocks=facts.blocks if facts else None,
                block_threads=facts.threads if facts else None,
                sm_count=self.sm_count or None,
                waves=self.waves,
                theoretical_occupancy=self.occupancy,
                spill_bytes=facts.local_bytes if facts else None,
            )
        )


@record
class Device:
    """Measurements of one card."""

    environment: Environment
    measurements: tuple[Measurement, ...]
    basis: str  #: what bounds are made of
    missing: tuple[str, ...] = ()  #: what is not known of the card
    failure: Failed | None = None


@record
class Listed:
    """A kernel of the library that can be measured."""

    name: str
    group: str
    summary: str
    sizes: Mapping[str, int]


@record
class MeasureReport:
    """Everything that was measured."""

    devices: tuple[Device, ...]
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """0 fine, 1 a wrong result, 130 interrupted, otherwise that of the first failure."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        failures = [device.failure for device in self.devices]
        failures += [one.failure for one in self.all]
        codes = [failure.exit_code for failure in failures if failure is not None]
        return codes[0] if codes else int(any(one.is_wrong for one in self.all))

    @property
    def all(self) -> tuple[Measurement, ...]:
        return tuple(one for device in self.devices for one in device.measurements)


def interval(medians: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the time, from medians of runs.

    >>> low, high = interval([1.0, 1.01, 0.99])
    >>> round(low, 3), round(high, 3)
    (0.975, 1.025)
    """
    if len(medians) < 2 or min(medians) <= 0:
        return None
    logs = [log(one) for one in medians]
    half = students_t(len(logs) - 1) * stdev(logs) / sqrt(len(logs))
    centre = mean(logs)
    return exp(centre - half), exp(centre + half)


def students_t(degrees: int) -> float:
    """The two-sided 95 % quantile; beyond 20 degrees of freedom that of 20, a little too wide.

    >>> students_t(2)
    4.303
    """
    return _T[min(degrees, len(_T)) - 1]
