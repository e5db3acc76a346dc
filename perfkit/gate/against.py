"""Results against a baseline: recorded ones with their noise floor, or files of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.gate.baseline import chosen
from perfkit.gate.evidence import ENVIRONMENT
from perfkit.gate.noise_floor import refuse_below_floor
from perfkit.gate.order import Order
from perfkit.gate.timing import compare
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from perfkit.gate.baseline_format import Entry
    from perfkit.gate.policy import Policy
    from perfkit.gate.verdict import Verdict
    from perfkit.readers.results import ResultFile


@record
class Recorded:
    """The entries of a baseline file."""

    origin: str
    entries: tuple[Entry, ...]


@record
class Judgement:
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()  #: what is to be said of the baseline


def against(
    recorded: Sequence[Recorded],
    results: Sequence[ResultFile],
    candidate: ResultFile,
    policy: Policy,
) -> Judgement:
    """One verdict for each benchmark and metric.

    Args:
        recorded: baseline files, of which the entries of the candidate's environment count.
        results: further runs of the baseline's code.
        candidate: runs of the changed code.
        policy: what is allowed.

    Raises:
        UsageError: a side is empty, a threshold lies under the noise floor, or a baseline of
            several environments and a candidate that does not say which is its own.
    """
    parts = [chosen(one.entries, one.origin, candidate.environment) for one in recorded]
    floors = {key: floor for part in parts for key, floor in part.floors.items()}
    refuse_below_floor(floors, policy)
    files = [*results, *(file for part in parts for file in part.files)]
    verdicts = tuple(
        compare(
            files,
            candidate,
            policy,
            {key: one.noise for key, one in floors.items()},
            Order.AFTER if recorded else None,
        )
    )
    return Judgement(
        verdicts=verdicts,
        notes=(
            *(note for part in parts for note in part.notes),
            *_nowhere([*files, candidate]),
            *_idle(policy, verdicts),
        ),
    )


def _nowhere(files: Sequence[ResultFile]) -> Iterator[str]:
    """What is said of one side's silence stands in its verdicts; that of both is said once."""
    if not any(file.environment.get(name) for file in files for name in ENVIRONMENT):
        yield "neither side says on which GPU it was measured: both are taken to be of the same one"


def _idle(policy: Policy, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Rules that are about nothing that was compared: a misspelt name, most of the time."""
    for rule in policy.rules:
        if not any(rule.matches(one.benchmark, one.metric) for one in verdicts):
            metric = f", metric {rule.metric!r}" if rule.metric else ""
            yield f"no benchmark matches {rule.benchmark!r}{metric}: that rule for timings is idle"
