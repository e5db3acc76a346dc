"""``perfkit.baseline/1``: the file of a baseline as entries, and older versions of it.

A file of every older version stays among the tests, and ``MIGRATIONS`` brings each to the next.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import InputError
from perfkit.gate.evidence import LEAST, MOST
from perfkit.gate.noise_floor import NoiseFloor
from perfkit.readers.checks import amount, mapping, sequence, text
from perfkit.readers.results import Run, Unit
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

VERSION: Final = 1
SCHEMA: Final = "perfkit.baseline"
_NAMED: Final = re.compile(rf"{re.escape(SCHEMA)}/([0-9]{{1,9}})", re.ASCII)
_AGAIN: Final = "record it again: perfkit gate record"


@record
class Entry:
    """Runs of one benchmark and metric in one environment."""

    benchmark: str
    metric: str
    unit: Unit
    higher_is_better: bool
    environment: Mapping[str, str]  #: of gpu, compute_capability, driver, toolkit what is known
    runs: tuple[Run, ...]  #: one value each, the median of the run
    noise: NoiseFloor | None  #: None: too few runs
    #: date, command, perfkit, archdb, commit, host, sm_clock_mhz: as far as they are known
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """What recording again replaces."""
        return self.benchmark, self.metric, tuple(sorted(self.environment.items()))


def written(entries: Iterable[Entry]) -> bytes:
    """The file: sorted, so that two of them can be compared line by line."""
    document = {
        "schema": f"{SCHEMA}/{VERSION}",
        "entries": [to_json(entry) for entry in sorted(entries, key=lambda entry: entry.key)],
    }
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def is_baseline(document: object) -> bool:
    """Whether a JSON document says that it is one, of any version."""
    name = document.get("schema") if isinstance(document, dict) else None
    return isinstance(name, str) and name.startswith(f"{SCHEMA}/")


def parsed(data: bytes, origin: str) -> tuple[Entry, ...]:
    """The entries of a file of any version so far.

    Raises:
        InputError: cut off, not a baseline, of a version to come, or with values that no
            measurement has; ``where`` is the file and the place in it.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = origin if line is None else f"{origin}:{line}"
        raise InputError(
            f"broken JSON: {getattr(error, 'msg', error)}", where=where, hint=_AGAIN
        ) from None
    if not is_baseline(document):
        raise InputError("not a baseline", where=origin, hint=_AGAIN)
    document = _migrated(document, origin)
    found = sequence(document.get("entries"), f"{origin}: entries")
    entries = [_entry(one, f"{origin}: entries[{i}]") for i, one in enumerate(found)]
    if len({entry.key for entry in entries}) < len(entries):
        raise InputError("an entry is there twice", where=origin, hint=_AGAIN)
    return tuple(entries)


def _migrated(document: dict[str, Any], origin: str) -> dict[str, Any]:
    named = _NAMED.fullmatch(document["schema"])
    if named is None:
        raise InputError(f"{document['schema']!r} is no version", where=origin, hint=_AGAIN)
    version = int(named[1])
    if version > VERSION:
        raise InputError(
            f"written by a newer perfkit: format {version} of a baseline, this one reads {VERSION}",
            where=origin,
            hint="pip install -U perfkit, or record a new baseline",
        )
    for older in range(version, VERSION):
        document = MIGRATIONS[older](document, origin)
    return document


def _from_0(document: dict[str, Any], origin: str) -> dict[str, Any]:
    """Version 0 had one environment for the whole file, bare values and no noise floor."""
    where = f"{origin}: benchmarks"
    about = {key: document[key] for key in ("date", "command", "perfkit") if key in document}
    entries = []
    for name, one in mapping(document.get("benchmarks"), where).items():
        entry = mapping(one, f"{where}.{name}")
        values = sequence(entry.get("values"), f"{where}.{name}.values")
        entries.append(
            {
                "benchmark": name,
                "metric": entry.get("metric", "time"),
                "unit": entry.get("unit", "s"),
                "higher_is_better": entry.get("higher_is_better", False),
                "environment": document.get("environment", {}),
                "runs": [{"value": value} for value in values],
                "noise": None,
                "about": about,
            }
        )
    return {"schema": f"{SCHEMA}/1", "entries": entries}


#: version -> what makes the next one of it
MIGRATIONS: Final[Mapping[int, Callable[[dict[str, Any], str], dict[str, Any]]]] = {0: _from_0}


def to_json(entry: Entry) -> dict[str, Any]:
    """An entry as the file has it."""
    noise = entry.noise
    return {
        "benchmark": entry.benchmark,
        "metric": entry.metric,
        "unit": entry.unit,
        "higher_is_better": entry.higher_is_better,
        "environment": dict(sorted(entry.environment.items())),
        "runs": [_run_to_json(run) for run in entry.runs],
        "noise": noise
        and {
            "relative": noise.relative,
            "interval": list(noise.interval),
            "runs": noise.runs,
            "floor": noise.floor,
            "notes": list(noise.notes),
        },
        "about": dict(sorted(entry.about.items())),
    }


def _run_to_json(run: Run) -> dict[str, Any]:
    further = {"spread": run.spread, "clock_hz": run.clock_hz}
    return {"value": run.values[0], **{k: v for k, v in further.items() if v is not None}}


def _entry(value: object, where: str) -> Entry:
    found = mapping(value, where)
    benchmark = text(found.get("benchmark"), f"{where}.benchmark")
    metric = text(found.get("metric"), f"{where}.metric")
    try:
        unit = Unit(text(found.get("unit"), f"{where}.unit"))
    except ValueError:
        known = ", ".join(Unit)
        message = f"unknown unit {found['unit']!r}"
        raise InputError(message, where=f"{where}.unit", hint=f"units are {known}") from None
    better = found.get("higher_is_better")
    if not isinstance(better, bool):
        raise InputError("should be true or false", where=f"{where}.higher_is_better")
    runs = [
        _run(one, f"{where}.runs[{i}]", Run(
            benchmark=benchmark, metric=metric, values=(), unit=unit, run=str(i + 1),
            higher_is_better=better,
        ))
        for i, one in enumerate(sequence(found.get("runs"), f"{where}.runs"))
    ]  # fmt: skip
    if not runs:
        raise InputError("no runs", where=f"{where}.runs", hint=_AGAIN)
    return Entry(
        benchmark=benchmark,
        metric=metric,
        unit=unit,
        higher_is_better=better,
        environment=_texts(found.get("environment"), f"{where}.environment"),
        runs=tuple(runs),
        noise=_noise(found.get("noise"), f"{where}.noise"),
        about=_texts(found.get("about"), f"{where}.about"),
    )


def _run(value: object, where: str, like: Run) -> Run:
    from dataclasses import replace

    found = mapping(value, where)
    number = amount(found.get("value"), f"{where}.value")
    if not LEAST <= number <= MOST:
        raise InputError(f"{number:g} is no measurement", where=f"{where}.value", hint=_AGAIN)
    return replace(
        like,
        values=(number,),
        spread=_positive(found, "spread", where, least=0.0),
        clock_hz=_positive(found, "clock_hz", where),
        source=where,
    )


def _positive(
    found: Mapping[str, Any], key: str, where: str, *, least: float = LEAST
) -> float | None:
    value = found.get(key)
    if value is None:
        return None
    number = amount(value, f"{where}.{key}")
    if not least <= number <= MOST:
        raise InputError(f"{number:g} is out of range", where=f"{where}.{key}", hint=_AGAIN)
    return number


def _noise(value: object, where: str) -> NoiseFloor | None:
    if value is None:
        return None
    found = mapping(value, where)
    interval = sequence(found.get("interval"), f"{where}.interval")
    numbers = [amount(found.get(key), f"{where}.{key}") for key in ("relative", "floor", "runs")]
    numbers += [amount(one, f"{where}.interval") for one in interval]
    if len(interval) != 2 or not all(math.isfinite(n) and n >= 0 for n in numbers):
        raise InputError("no noise floor", where=where, hint=_AGAIN)
    return NoiseFloor(
        relative=numbers[0],
        floor=numbers[1],
        runs=int(numbers[2]),
        interval=(numbers[3], numbers[4]),
        notes=tuple(text(note, f"{where}.notes") for note in sequence(found.get("notes"), where)),
    )


def _texts(value: object, where: str) -> dict[str, str]:
    found = {} if value is None else mapping(value, where)
    return {key: text(one, f"{where}.{key}") for key, one in found.items()}
