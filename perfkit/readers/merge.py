"""Results of several files as one side, and the metrics of it that are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perfkit.readers.results import ResultFile, Run

#: what a comparison depends on: differences between the files of one side must show
_COMPARED: Final = ("gpu", "compute_capability", "driver", "toolkit", "commit")


def picked(
    found: ResultFile,
    preferred: Sequence[str],
    pattern: re.Pattern[str] | None,
    *,
    whole: bool = False,
) -> ResultFile:
    """The runs of metrics that match, or else of the one that the format prefers.

    A benchmark that failed has no other metric and stays, whatever is asked for.

    Args:
        found: what the file holds.
        preferred: metrics, the best first.
        pattern: of the metrics that are asked for.
        whole: prefer one for the file, and leave benchmarks out that do not have it: a report of
            kernels is not about the calls that launched them.
    """
    all_metrics = tuple(dict.fromkeys(run.metric for run in found.runs))
    if pattern is None and not preferred:
        return replace(found, metrics=all_metrics)
    if whole and pattern is None:
        first = next((name for name in preferred if name in all_metrics), None)
        runs = [run for run in found.runs if run.metric == first]
        return replace(found, runs=tuple(runs), metrics=all_metrics)
    metrics: dict[tuple[str, str | None], dict[str, None]] = {}
    for run in found.runs:
        metrics.setdefault((run.benchmark, run.run), {})[run.metric] = None
    wanted: dict[tuple[str, str | None], set[str]] = {}
    for key, names in metrics.items():
        if pattern is None:
            first = next((name for name in preferred if name in names), None)
            wanted[key] = {first} if first is not None else set(names)
        else:
            wanted[key] = {name for name in names if pattern.fullmatch(name)}
    runs = [
        run
        for run in found.runs
        for asked in [wanted[run.benchmark, run.run]]
        if run.metric in asked or (run.failure and not asked)
    ]
    return replace(found, runs=tuple(runs), metrics=all_metrics)


def unique(found: ResultFile) -> ResultFile:
    """Every benchmark, metric and run once: what is there again gives further samples."""
    series: dict[tuple[str, str, str | None], list[Run]] = {}
    for run in found.runs:
        series.setdefault((run.benchmark, run.metric, run.run), []).append(run)
    if len(series) == len(found.runs):
        return found
    again = {runs[0].benchmark: len(runs) for runs in series.values() if len(runs) > 1}
    notes = [
        f"{found.origin}: {name} is there {count} times: samples of one run"
        for name, count in again.items()
    ]
    runs = tuple(_one(runs) for runs in series.values())
    return replace(found, runs=runs, notes=(*found.notes, *notes))


def _one(runs: Sequence[Run]) -> Run:
    first = runs[0]
    failure = next((run.failure for run in runs if run.failure), None)
    units = list(dict.fromkeys(run.unit for run in runs))
    if len(units) > 1:
        failure = f"its unit is {units[0]} and {units[1]}"
    values = () if failure else tuple(value for run in runs for value in run.values)
    return first if len(runs) == 1 else replace(first, values=values, failure=failure)


def joined(found: Sequence[ResultFile], names: Sequence[str] | None = None) -> ResultFile:
    """Several files as the runs of one side; ``names`` are those of the runs, else the files'."""
    if len(found) == 1:
        return found[0]
    runs: list[Run] = []
    environment: dict[str, list[str]] = {}
    for i, one in enumerate(found):
        name = names[i] if names else one.origin
        runs += [replace(r, run=name if r.run is None else f"{name}:{r.run}") for r in one.runs]
        for key, value in one.environment.items():
            environment.setdefault(key, []).append(value)
    notes = [note for one in found for note in one.notes]
    merged = {key: list(dict.fromkeys(values)) for key, values in environment.items()}
    notes += [
        f"{key} differs between the files: {', '.join(merged[key])}"
        for key in _COMPARED
        if len(merged.get(key, [])) > 1
    ]
    return ResultFile(
        kind=", ".join(dict.fromkeys(one.kind for one in found)),
        origin=", ".join(dict.fromkeys(one.origin for one in found)),
        runs=tuple(runs),
        environment={
            key: " | ".join(values) if key in _COMPARED else values[0]
            for key, values in merged.items()
        },
        notes=tuple(notes),
        metrics=tuple(dict.fromkeys(metric for one in found for metric in one.metrics)),
    )
