"""The baseline file: runs of unchanged code, where they were made, and how much they scatter.

An entry is a benchmark and metric in one environment; recording again replaces the entries that are
recorded and leaves the others. The file is replaced as a whole (``perfkit.durable``), under a lock,
so that writers do not lose one another's entries and a crash leaves the old file or the new one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit import durable, files
from perfkit.errors import InputError, UsageError
from perfkit.gate.baseline_format import Entry, parsed, written
from perfkit.gate.evidence import ENVIRONMENT, collect
from perfkit.readers.results import ResultFile, Run
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from perfkit.gate.evidence import Key, Series
    from perfkit.gate.noise_floor import NoiseFloor

_MOST_BYTES: Final = 2**30
#: what is kept beside the runs, where it is known
ABOUT: Final = ("date", "command", "commit", "host", "sm_clock_mhz", "perfkit", "archdb")
#: a threshold has to lie above the noise floor; above this one any lets code pass that takes twice
#: as long
MOST_FLOOR: Final = 1.0
#: what ``merge.joined`` puts between values of files that differ
_DIFFERS: Final = " | "


@record
class Chosen:
    """The part of a baseline that a candidate is compared with."""

    files: tuple[ResultFile, ...]
    floors: Mapping[Key, NoiseFloor]
    notes: tuple[str, ...] = ()


def load(path: str | Path) -> tuple[Entry, ...]:
    """The entries of a baseline file.

    Raises:
        InputError: it cannot be read, or is not a baseline; see ``baseline_format.parsed``.
    """
    return parsed(files.read(path, _MOST_BYTES, "a baseline"), files.shown(path))


def ready(path: str | Path) -> None:
    """Refuse before anything is measured what ``update`` would refuse afterwards; raises as it."""
    update(path, ())


def update(path: str | Path, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Record entries: those of the same key are replaced, the others stay. Gives all of them.

    Raises:
        UsageError: the file cannot be written; it is as it was.
        InputError: what is there is no baseline: it is not overwritten.
    """
    fresh = tuple(entries)
    return change(path, lambda _: fresh)


def change(
    path: str | Path, made: Callable[[tuple[Entry, ...]], Iterable[Entry]]
) -> tuple[Entry, ...]:
    """``update`` with entries made of those that are there, which nobody else changes meanwhile."""
    with durable.locked(path):
        kept: tuple[Entry, ...] = ()
        with files.readable(path):
            # an empty file, as mktemp makes it, has nothing to lose
            there = Path(path).exists() and Path(path).stat().st_size > 0
        if there:
            try:
                kept = load(path)
            except InputError as error:
                hint = "it is left as it is; remove it, or record into another file"
                raise InputError(error.message, where=error.where, hint=hint) from None
        fresh = {entry.key: entry for entry in made(kept)}
        merged = {entry.key: entry for entry in kept} | fresh
        if fresh:
            durable.replace(path, written(merged.values()))
    return tuple(merged.values())


def entries_of(found: ResultFile, about: Mapping[str, str]) -> tuple[Entry, ...]:
    """What results give a baseline: the median of each run, and the noise floor.

    Args:
        found: the runs of one environment. What it says of itself comes before ``about``.
        about: what else is known: the environment by its keys, date, command, commit.

    Raises:
        InputError: a run that failed, a value that is no measurement, a unit that changes, or runs
            of several environments: a baseline must not hold what no candidate can be held against.
    """
    told = {**about, **found.environment}
    for name, title in ENVIRONMENT.items():
        if _DIFFERS in told.get(name, ""):
            raise InputError(
                f"runs of several environments, {title}: {told[name]}",
                where=found.origin,
                hint="record them one after the other",
            )
    series, _ = collect(found)
    for one in series.values():
        if one.problem is not None:
            raise InputError(
                f"{one.benchmark}, {one.metric}: {one.problem.replace('_', ' ')}: {one.detail}",
                where=found.origin,
                hint="a baseline holds only what was measured; --skip-failed leaves it out",
            )
    from perfkit.gate.noise_floor import floors

    wanted = [*series.values()]
    environment = {name: told[name] for name in ENVIRONMENT if told.get(name)}
    known = {name: told[name] for name in ABOUT if told.get(name)}
    return tuple(
        Entry(
            benchmark=one.benchmark,
            metric=one.metric,
            unit=one.unit,
            higher_is_better=one.higher_is_better,
            environment=environment,
            runs=_runs(one),
            noise=noise,
            about=known,
        )
        for one, noise in zip(wanted, floors(wanted), strict=True)
    )


def without_failed(found: ResultFile) -> tuple[ResultFile, tuple[str, ...]]:
    """Results without the benchmarks that ``entries_of`` refuses, and what is wrong with those."""
    series, _ = collect(found)
    broken = {key: one for key, one in series.items() if one.problem is not None}
    kept = tuple(run for run in found.runs if (run.benchmark, run.metric) not in broken)
    said = tuple(f"{one.benchmark}: {one.detail}" for one in broken.values())
    return replace(found, runs=kept), said


def without_noisy(entries: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Entries without those that no threshold suits, and what is wrong with those."""
    from perfkit.gate.words import percent

    kept, said = [], []
    for entry in entries:
        if entry.noise is None or entry.noise.floor <= MOST_FLOOR:
            kept.append(entry)
            continue
        said.append(
            f"{entry.benchmark}, {entry.metric}: its noise floor is {percent(entry.noise.floor)}, "
            f"and no threshold above {percent(MOST_FLOOR)} tells anything"
        )
    return tuple(kept), tuple(said)


def _runs(series: Series) -> tuple[Run, ...]:
    return tuple(
        Run(
            benchmark=series.benchmark,
            metric=series.metric,
            unit=series.unit,
            higher_is_better=series.higher_is_better,
            values=(value,),
            run=str(number + 1),
            spread=spread,
            clock_hz=clock,
        )
        for number, (value, spread, clock) in enumerate(
            zip(series.values, series.spreads, series.clocks_hz, strict=True)
        )
    )


def chosen(entries: Sequence[Entry], origin: str, environment: Mapping[str, str]) -> Chosen:
    """The entries that a candidate from ``environment`` is to be compared with.

    Those from elsewhere are taken only where there are no others, for the verdict to name what
    differs.

    Raises:
        UsageError: the candidate does not say where it was made, and the baseline has several.
        InputError: the baseline is empty.
    """
    if not entries:
        raise InputError("the baseline has no entries", where=origin)
    taken = _fitting(entries, origin, environment) or _newest(entries)
    here = {(entry.benchmark, entry.metric) for entry in taken}
    elsewhere = sorted({e.benchmark for e in entries if (e.benchmark, e.metric) not in here})
    notes = []
    if elsewhere:
        shown = ", ".join(elsewhere[:5]) + (", …" if len(elsewhere) > 5 else "")
        notes.append(f"{origin} has {shown} of other GPUs, drivers or toolkits only")
    groups: dict[tuple[tuple[str, str], ...], list[Entry]] = {}
    for entry in taken:
        groups.setdefault(entry.key[2], []).append(entry)
    return Chosen(
        files=tuple(
            ResultFile(
                kind="perfkit-baseline",
                origin=origin,
                runs=tuple(
                    replace(run, run=f"{number}:{run.run}") for e in group for run in e.runs
                ),
                environment=dict(group[0].environment),
            )
            for number, group in enumerate(groups.values())
        ),
        floors={(e.benchmark, e.metric): e.noise for e in taken if e.noise is not None},
        notes=tuple(notes),
    )


def _agreeing(entry: Entry, environment: Mapping[str, str]) -> int | None:
    """How much of what both sides say of the environment agrees; None: something differs."""
    told = entry.environment
    both = [name for name in ENVIRONMENT if told.get(name) and environment.get(name)]
    return len(both) if all(told[name] == environment[name] for name in both) else None


def _fitting(entries: Sequence[Entry], origin: str, environment: Mapping[str, str]) -> list[Entry]:
    """Of each benchmark and metric the entry that agrees with the environment in most."""
    found: dict[tuple[str, str], tuple[int, list[Entry]]] = {}
    for entry in entries:
        agreeing = _agreeing(entry, environment)
        if agreeing is not None:
            most, taken = found.get((entry.benchmark, entry.metric), (-1, []))
            if agreeing > most:
                found[entry.benchmark, entry.metric] = (agreeing, [entry])
            elif agreeing == most:
                taken.append(entry)
    for _, taken in found.values():
        if len(taken) > 1:
            raise _ambiguous(taken[0], taken[1], origin)
    return [taken[0] for _, taken in found.values()]


def _ambiguous(one: Entry, other: Entry, origin: str) -> UsageError:
    names = [
        f"{title} {one.environment.get(name, '?')} and {other.environment.get(name, '?')}"
        for name, title in ENVIRONMENT.items()
        if other.environment.get(name) != one.environment.get(name)
    ]
    return UsageError(
        f"the baseline has {one.benchmark} of several environments ({'; '.join(names)}), and the "
        "candidate does not say which is its own",
        where=origin,
        hint="keep one baseline file for each, or compare results that name GPU and driver",
    )


def _newest(entries: Sequence[Entry]) -> list[Entry]:
    """Of each benchmark and metric the entry recorded last."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.about.get("date", "")):
        found[entry.benchmark, entry.metric] = entry
    return list(found.values())
