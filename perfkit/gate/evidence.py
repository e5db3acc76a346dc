"""From result files to what is compared: one number per run, for each benchmark and metric.

The unit of evidence is the process. Samples inside a run become their median, and their scatter
is kept beside it for what is said about a verdict, not for the verdict.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from perfkit.gate.order import moment
from perfkit.gate.verdict import Reason
from perfkit.readers.results import ResultFile, Run, Unit
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Side = ResultFile | Iterable[ResultFile] | Iterable[Run]
    Key = tuple[str, str]  # benchmark, metric

#: nothing that is measured lies outside, in any unit: zero, infinity and garbage do
LEAST, MOST = 1e-30, 1e30

#: what must agree between the sides, and how people call it
ENVIRONMENT = {
    "gpu": "GPU",
    "compute_capability": "compute capability",
    "driver": "driver",
    "toolkit": "toolkit",
}


@record
class Series:
    """Runs of one benchmark and metric on one side, in the order of the file."""

    benchmark: str
    metric: str
    unit: Unit
    higher_is_better: bool
    values: tuple[float, ...]  #: median of each run
    pairs: tuple[str | None, ...]
    clocks_hz: tuple[float | None, ...]
    spreads: tuple[float | None, ...]  #: relative standard deviation of a run's samples
    taken_s: tuple[float | None, ...] = ()  #: when the run's file was written, seconds since 1970
    problem: Reason | None = None  #: why the series cannot be compared
    detail: str = ""

    def take(self, indices: Iterable[int]) -> Series:
        """Some of the runs, in the order given."""
        from dataclasses import replace

        chosen = tuple(indices)
        parts = {
            name: tuple(getattr(self, name)[i] for i in chosen)
            for name in ("values", "pairs", "clocks_hz", "spreads", "taken_s")
            if getattr(self, name)
        }
        return replace(self, **parts)  # type: ignore[arg-type]


def collect(side: Side) -> tuple[dict[Key, Series], dict[str, set[str]]]:
    """Series by benchmark and metric, and every value of each thing said of the environment."""
    groups: dict[Key, dict[tuple[int, str | None], list[Run]]] = {}
    environment: dict[str, set[str]] = {}
    taken_s: dict[object, float | None] = {}
    items: Iterable[ResultFile | Run] = [side] if isinstance(side, ResultFile) else side
    for index, item in enumerate(items):
        if isinstance(item, ResultFile):
            for name, value in item.environment.items():
                environment.setdefault(name, set()).add(value)
            taken_s[index] = moment(item.environment.get("date"))
            runs: tuple[Run, ...] = item.runs
        else:
            runs = (item,)
        for run in runs:
            # runs of a file without a name are one process; runs handed over singly are not
            place = -1 if item is run and run.run is not None else index
            bucket = groups.setdefault((run.benchmark, run.metric), {})
            if (process := (place, run.run)) in bucket:
                bucket[process].append(run)
            else:
                bucket[process] = [run]
    found = {
        key: _series(
            list(runs.values()), tuple([taken_s.get(place) for place, _ in runs] if taken_s else ())
        )
        for key, runs in groups.items()
    }
    return found, environment


def _series(processes: list[list[Run]], taken_s: tuple[float | None, ...]) -> Series:
    first = processes[0][0]
    problem, detail = _problem(processes)
    merged = [_values(runs) for runs in processes] if problem is None else []
    return Series(
        benchmark=first.benchmark,
        metric=first.metric,
        unit=first.unit,
        higher_is_better=first.better_when_higher,
        values=tuple([values[0] if len(values) == 1 else median(values) for values in merged]),
        pairs=tuple([runs[0].pair for runs in processes]),
        clocks_hz=tuple([runs[0].clock_hz for runs in processes]),
        spreads=tuple(
            [_spread(runs[0], values) for runs, values in zip(processes, merged, strict=False)]
        ),
        taken_s=taken_s,
        problem=problem,
        detail=detail,
    )


def _values(runs: list[Run]) -> tuple[float, ...]:
    return runs[0].values if len(runs) == 1 else tuple(v for run in runs for v in run.values)


def _problem(processes: list[list[Run]]) -> tuple[Reason | None, str]:
    first = processes[0][0]
    unit, stated = first.unit, first.higher_is_better
    for runs in processes:
        for run in runs:
            if run.failure is not None or not run.values:
                return Reason.FAILED, f"{_place(run)}: {run.failure or 'no value'}"
            if not _measured(run.values):
                bad = next(v for v in run.values if not LEAST <= v <= MOST)
                return Reason.BAD_VALUE, f"{_place(run)}: {bad:g} {run.unit}"
            if run.unit is not unit:
                return Reason.UNIT_CHANGED, f"{_place(run)}: {run.unit} after {first.unit}"
            if (
                run.higher_is_better is not stated
                and run.better_when_higher is not first.better_when_higher
            ):
                return Reason.DIRECTION_CHANGED, f"{_place(run)}: the direction changes"
    return None, ""


def _measured(values: tuple[float, ...]) -> bool:
    if len(values) == 1:
        return LEAST <= values[0] <= MOST
    # NaN stays in a sum, while min and max may step over it
    return min(values) >= LEAST and max(values) <= MOST and not math.isnan(sum(values))


def _place(run: Run) -> str:
    return run.source or (f"run {run.run}" if run.run is not None else "the run")


def _spread(run: Run, values: tuple[float, ...]) -> float | None:
    """Relative scatter of the samples; from quartiles, which a few interrupted samples spare."""
    if run.spread is not None:
        return run.spread if math.isfinite(run.spread) and run.spread >= 0 else None
    if len(values) < 4:
        return None
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / 1.349 / ordered[len(ordered) // 2]


def by_pairs(baseline: Series, candidate: Series) -> tuple[Series, Series] | None:
    """Both sides reduced to their common pairs in the baseline's order; None if they are no pairs.

    A pair id that a side has twice names no pair. Runs outside the pairs are left out, as long as
    they are fewer than the pairs.
    """
    first = _unique(baseline.pairs)
    second = _unique(candidate.pairs)
    common = [pair for pair in first if pair in second]
    if 2 * len(common) <= max(len(baseline.values), len(candidate.values)):
        return None
    return (
        baseline.take(first[pair] for pair in common),
        candidate.take(second[pair] for pair in common),
    )


def _unique(pairs: tuple[str | None, ...]) -> dict[str, int]:
    places: dict[str, int] = {}
    twice = set()
    for index, pair in enumerate(pairs):
        if pair is not None:
            if pair in places:
                twice.add(pair)
            places[pair] = index
    return {pair: index for pair, index in places.items() if pair not in twice}


def differences(
    baseline: Mapping[str, set[str]], candidate: Mapping[str, set[str]]
) -> tuple[str, ...]:
    """What differs in the environment, in words; silent where a side does not say."""
    found = []
    for name, title in ENVIRONMENT.items():
        before, after = baseline.get(name, set()), candidate.get(name, set())
        if before and after and (len(before | after) > 1):
            sides = " and ".join(", ".join(sorted(values)) for values in (before, after))
            found.append(f"{title}: {sides}")
    return tuple(found)


def unsaid(baseline: Mapping[str, set[str]], candidate: Mapping[str, set[str]]) -> tuple[str, ...]:
    """What one side alone says of the environment, in words: it was compared with the unknown."""
    found = []
    sides = (("baseline", baseline, candidate), ("candidate", candidate, baseline))
    for side, mine, other in sides:
        named = mine.get("gpu") or other.get("gpu")  # which says the compute capability as well
        missing = [
            title
            for name, title in ENVIRONMENT.items()
            if other.get(name)
            and not mine.get(name)
            and (name != "compute_capability" or not named)
        ]
        if missing:
            found.append(f"the {side} does not say with which {_listed(missing)} it was measured")
    return tuple(found)


def _listed(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
