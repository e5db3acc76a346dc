"""Launches that Nsight Compute measured, as results: a kernel is a benchmark, a process a run.

A profiled launch is a sample: the profiler runs it alone, with clocks of its choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perfkit.readers.checks import checked
from perfkit.readers.ncu import Profile, Value, parse
from perfkit.readers.numerals import Mark
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("gpu__time_duration.sum", "sm__cycles_elapsed.max", "Elapsed Cycles")

#: label of the details page -> the metric, so that both pages can be compared
_ALIASES: Final = {"Duration": "gpu__time_duration.sum"}
_CLOCKS: Final = ("SM Frequency", "sm__cycles_elapsed.avg.per_second")
_UNITS: Final = {
    "s": Unit.SECONDS,
    "hz": Unit.PER_SECOND,
    "byte": Unit.BYTES,
    "byte/s": Unit.BYTES_PER_SECOND,
    "ratio": Unit.RATIO,
}
_SHOWN: Final = 3
#: words of shares that are better when they are higher
_GOOD: Final = ("throughput", "occupancy", "hit rate", "hit_rate", "pct_of_peak", "warps_active")


def read(text: str, origin: str, mark: Mark | None = None) -> ResultFile:
    """A run of every kernel, process and metric.

    Raises:
        InputError: as ``ncu.parse``.
    """
    found = parse(text, origin, mark=mark)
    processes = dict.fromkeys(profile.process for profile in found.profiles)
    launches: dict[tuple[str, str], list[Profile]] = {}
    for profile in found.profiles:
        launches.setdefault((profile.kernel, profile.process), []).append(profile)
    runs: list[Run] = []
    notes = [*found.notes]
    for (kernel, process), profiles in launches.items():
        shapes = {(profile.grid, profile.block) for profile in profiles}
        if len(shapes) > 1:
            notes.append(f"{kernel}: launches of {len(shapes)} different shapes are one benchmark")
        where = f"{origin}: launch {profiles[0].number}"
        runs += _runs(kernel, process if len(processes) > 1 else None, profiles, where)
    capabilities = dict.fromkeys(p.capability for p in found.profiles if p.capability)
    environment = {"compute_capability": " | ".join(capabilities)} if capabilities else {}
    return ResultFile(
        kind="ncu", origin=origin, runs=tuple(runs), environment=environment, notes=tuple(notes)
    )


def _runs(kernel: str, run: str | None, profiles: Sequence[Profile], where: str) -> list[Run]:
    metrics: dict[str, tuple[Unit, list[float]]] = {}
    for profile in profiles:
        for value in profile.values:
            if value.amount is not None:
                name = _ALIASES.get(value.name, value.name)
                metrics.setdefault(name, (_unit(value), []))[1].append(value.amount)
    clock = next((metrics[name][1] for name in _CLOCKS if metrics.get(name)), None)
    runs = [
        checked(
            Run(
                benchmark=kernel,
                values=tuple(values),
                unit=unit,
                run=run,
                metric=name,
                higher_is_better=_better(name, unit),
                clock_hz=sum(clock) / len(clock) if clock else None,
                source=where,
            )
        )
        for name, (unit, values) in metrics.items()
    ]
    if runs:
        return runs
    failed = Run(
        benchmark=kernel,
        values=(),
        unit=Unit.SECONDS,
        run=run,
        metric=PREFERRED[0],
        failure="no metric",
        source=where,
    )
    return [failed]


def _unit(value: Value) -> Unit:
    found = _UNITS.get(value.kind)
    if found is not None:
        return found
    name = value.name.lower()
    return Unit.CYCLES if "cycles_elapsed" in name or "elapsed cycles" in name else Unit.COUNT


def assumed(found: ResultFile) -> ResultFile:
    """The same with a note on chosen metrics of which nobody says which direction is better."""
    names = dict.fromkeys(
        run.metric
        for run in found.runs
        if run.unit in {Unit.COUNT, Unit.RATIO} and run.higher_is_better is None
    )
    if not names:
        return found
    shown = ", ".join([*names][:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    note = f"{found.origin}: taken to be better when lower, as the file does not say: {shown}"
    return replace(found, notes=(*found.notes, note))


def _better(name: str, unit: Unit) -> bool | None:
    if unit is not Unit.RATIO:
        return None
    return True if any(word in name.lower() for word in _GOOD) else None
