"""Predictions held against a card: what was compared, what differed, what could not be compared."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.environment import Environment
    from perfkit.arch.types import Capability, ComputeCapability

#: differences that a report keeps, of each check
SHOWN: Final = 10
#: pairs of numbers that a report keeps, of each check and outcome
MOST_PAIRS: Final = 400

#: Nsight Compute lets one process of a machine profile at a time
PROFILER: Final = "profiler"
#: the way to the host's memory, and the host's own time
HOST_LINK: Final = "link to the host"

#: what a figure beside the comparison may be
Figure = int | float | str


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIPPED = "skipped"  #: there was nothing to compare
    UNFINISHED = "unfinished"  #: it was ended before its end, without a difference until then


@record
class Mismatch:
    """One configuration in which prediction and card differ."""

    configuration: str
    predicted: str
    measured: str


#: how a measured number has to stand to the one that was predicted
Relation = Literal["equal", "at most", "at least"]


@record
class Pair:
    """A number that was predicted and what was measured, as often as both came together."""

    what: str  #: "blocks per SM", "time"
    predicted: float
    measured: float
    unit: str = ""  #: "s", "B/s"; without one they count something
    relation: Relation = "equal"
    agrees: bool = True
    count: int = 1
    label: str | None = None  #: which kernel it was, where each is one of its own


@record
class Tally:
    """A part of a check's work: what it compared, beyond what it said before."""

    compared: int = 0
    differing: int = 0
    differences: tuple[Mismatch, ...] = ()  #: the first of them
    figures: dict[str, Figure] | None = None  #: the check's so far
    nothing: str | None = None  #: why there is nothing to compare
    pairs: tuple[Pair, ...] = ()


class Basis(StrEnum):
    """What a prediction rests on."""

    STATED = "stated"  #: NVIDIA says so, by its header, its driver or its data sheets
    CARVEOUT = "carveout"  #: measured or assumed, as archdb says of each capability
    HOPPER = "hopper"  #: measured on 9.0, assumed for all others
    GENERAL = "general"  #: follows from the clock, the units and the work; every GPU


@record
class Question:
    """What a check compares."""

    name: str
    predicted: str  #: what perfkit says
    measured: str  #: what it is held against
    basis: Basis
    seconds: float = 120  #: limit on its time, in the full mode
    #: what it uses that the cards of a machine have in common: they take it in turns
    shares: str | None = None


QUESTIONS: Final = (
    Question(
        name="attributes",
        predicted="facts of the database on the capability and the product",
        measured="the attributes that the driver tells",
        basis=Basis.STATED,
    ),
    Question(
        name="driver-occupancy",
        predicted='resident blocks by rule="driver"',
        measured="cuOccupancyMaxActiveBlocksPerMultiprocessor",
        basis=Basis.STATED,
    ),
    Question(
        name="block-size",
        predicted="the block size that the launch helper suggests",
        measured="cuOccupancyMaxPotentialBlockSize",
        basis=Basis.STATED,
    ),
    Question(
        name="available-shared",
        predicted="the most shared memory with which N blocks fit",
        measured="the driver's occupancy with so much, and with one unit more",
        basis=Basis.STATED,
    ),
    Question(
        name="clusters",
        predicted="clusters that the card holds at once",
        measured="cuOccupancyMaxActiveClusters, and blocks of clusters counted on the SMs",
        basis=Basis.STATED,
    ),
    Question(
        name="residency",
        predicted='resident blocks by rule="hardware"',
        measured="blocks counted on every SM at once",
        basis=Basis.CARVEOUT,
        seconds=240,
    ),
    Question(
        name="fits",
        predicted="verdicts of perfkit fits",
        measured="launches that the driver takes or refuses",
        basis=Basis.STATED,
    ),
    Question(
        name="shared-capacity",
        predicted="the shared memory that an SM is configured with, the rest being L1",
        measured="launch__shared_mem_config_size of Nsight Compute",
        basis=Basis.CARVEOUT,
        shares=PROFILER,
    ),
    Question(
        name="access-counters",
        predicted="sectors and wavefronts of a warp's accesses",
        measured="hardware counters, through Nsight Compute",
        basis=Basis.HOPPER,
        shares=PROFILER,
    ),
    Question(
        name="access-timing",
        predicted="wavefronts of a warp's shared accesses",
        measured="cycles of the SM per access, beside those of an access without conflicts",
        basis=Basis.HOPPER,
    ),
    Question(
        name="overlap",
        predicted="the time of a pipeline of copies and kernels",
        measured="events of the card",
        basis=Basis.HOPPER,
        shares=HOST_LINK,
    ),
    Question(
        name="latency-hiding",
        predicted="the bandwidth that bytes under way can give, by Little's law",
        measured="reads of DRAM with so many bytes under way",
        basis=Basis.GENERAL,
    ),
    Question(
        name="bounds",
        predicted="the least time of the library's kernels, and the time of those that DRAM limits",
        measured="events of the card",
        basis=Basis.GENERAL,
    ),
    Question(
        name="recommendation",
        predicted="the recommended block size is close to the best",
        measured="the library's kernels over all their block sizes",
        basis=Basis.GENERAL,
        seconds=300,
    ),
)

#: the capability on which what is not stated was measured
_MEASURED_ON: Final = (9, 0)


def scope(question: Question, capability: Capability | None) -> str:
    """What the prediction rests on, for this GPU: ``stated``, ``measured``, ``assumed``, …."""
    if capability is None:
        return "unknown"
    if question.basis is Basis.CARVEOUT:
        return capability.shared_memory.carveout_evidence or "stated"
    if question.basis is Basis.HOPPER:
        return "measured" if _is_measured(capability.compute_capability) else "assumed"
    return str(question.basis)


def _is_measured(found: ComputeCapability) -> bool:
    return (found.major, found.minor) == _MEASURED_ON


@record
class Check:
    """One comparison, done or not."""

    name: str
    status: Status
    predicted: str
    measured: str
    scope: str  #: stated | general | measured | assumed | unknown, as ``scope`` gives it
    compared: int
    differing: int
    differences: tuple[Mismatch, ...]  #: the first ``SHOWN``
    pairs: tuple[Pair, ...]  #: different ones, ``MOST_PAIRS`` that agree and as many that do not
    pairs_left_out: int  #: comparisons of numbers beyond that
    figures: dict[str, Figure]
    reason: str | None  #: why it was skipped or not finished
    hint: str | None
    seconds: float
    sm_clock_hz: float | None  #: the highest that was seen meanwhile
    throttles: tuple[str, ...]  #: what held the clocks down meanwhile


@record
class CardReport:
    """All checks on one card."""

    environment: Environment
    checks: tuple[Check, ...]
    interrupted: bool = False


@record
class ValidationReport:
    """Everything; the same ``seed`` and ``quick`` make the same configurations."""

    seed: int
    quick: bool
    cards: tuple[CardReport, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(check for card in self.cards for check in card.checks)


def verdict(
    *, compared: int, differing: int, nothing: str | None, failed: str | None
) -> tuple[Status, str | None]:
    """Status and reason of a check.

    Args:
        compared: how much.
        differing: of it.
        nothing: why there was nothing to compare, if the check says so.
        failed: why it did not come to its end, if it did not.

    A difference stands, whatever happens afterwards; what compared nothing never passes:

    >>> verdict(compared=0, differing=0, nothing=None, failed=None)
    (<Status.SKIPPED: 'skipped'>, 'it compared nothing')
    """
    if differing:
        return Status.FAIL, failed
    if failed is not None:
        return Status.UNFINISHED, failed
    if not compared:
        return Status.SKIPPED, nothing or "it compared nothing"
    return Status.PASS, nothing
