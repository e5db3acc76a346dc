"""Results of ``perfkit measure -f json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from perfkit.readers.checks import amounts, checked, mapping, optional, sequence, text
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("time",)

_SCHEMA: Final = "perfkit.measure/"
#: key of an environment there -> here
_ENVIRONMENT: Final = {
    "device": "gpu",
    "compute_capability": "compute_capability",
    "driver": "driver",
    "toolkit": "toolkit",
    "date": "date",
}


def knows(document: object) -> bool:
    name = document.get("schema") if isinstance(document, dict) else None
    return isinstance(name, str) and name.startswith(_SCHEMA)


def read(document: Mapping[str, Any], origin: str) -> ResultFile:
    """One run for each process that was started.

    A kernel whose result was wrong has failed, however fast it was. Of several cards the name of
    the card is part of the benchmark's, and so are rests before bursts.

    Raises:
        InputError: something is missing or of the wrong kind, with its path.
    """
    devices = [
        mapping(one, f"{origin}: devices[{i}]")
        for i, one in enumerate(sequence(document.get("devices"), f"{origin}: devices"))
    ]
    runs: list[Run] = []
    told: dict[str, list[str]] = {}
    for i, device in enumerate(devices):
        where = f"{origin}: devices[{i}]"
        about = mapping(device.get("environment"), f"{where}.environment")
        for theirs, ours in _ENVIRONMENT.items():
            if isinstance(value := about.get(theirs), str):
                told.setdefault(ours, []).append(value)
        number = optional(about, "index", f"{where}.environment")
        prefix = f"GPU {i if number is None else int(number)}: " if len(devices) > 1 else ""
        found = sequence(device.get("measurements"), f"{where}.measurements")
        for j, one in enumerate(found):
            place = f"{where}.measurements[{j}]"
            runs += _runs(mapping(one, place), prefix, place)
    return ResultFile(
        kind="perfkit-measure",
        origin=origin,
        runs=tuple(runs),
        environment={k: " | ".join(dict.fromkeys(v)) for k, v in told.items()},
    )


def _runs(one: Mapping[str, Any], prefix: str, where: str) -> list[Run]:
    sizes = mapping(one.get("sizes"), f"{where}.sizes")
    parts = [f"{name}={value}" for name, value in sizes.items()]
    if rest_s := optional(one, "rest_s", where):
        parts.append(f"rest={rest_s:g} s")
    named = ", ".join(parts)
    benchmark = prefix + text(one.get("name"), f"{where}.name") + (f"[{named}]" if named else "")
    failure = _failure(one, where)
    if failure is not None:
        return [
            Run(benchmark=benchmark, values=(), unit=Unit.SECONDS, failure=failure, source=where)
        ]
    found = []
    for i, run in enumerate(sequence(one.get("runs"), f"{where}.runs")):
        place = f"{where}.runs[{i}]"
        entry = mapping(run, place)
        samples = sequence(entry.get("samples_s"), f"{place}.samples_s")
        found.append(
            checked(
                Run(
                    benchmark=benchmark,
                    values=amounts(samples, f"{place}.samples_s"),
                    unit=Unit.SECONDS,
                    run=str(i + 1),
                    clock_hz=optional(entry, "sm_clock_hz", place),
                    source=place,
                )
            )
        )
    return found


def _failure(one: Mapping[str, Any], where: str) -> str | None:
    failure = one.get("failure")
    if failure is not None:
        return text(mapping(failure, f"{where}.failure").get("message"), f"{where}.failure.message")
    checks = sequence(one.get("checks"), f"{where}.checks")
    wrong = [
        str(check.get("output", "?"))
        for i, item in enumerate(checks)
        if (check := mapping(item, f"{where}.checks[{i}]")).get("right") is not True
    ]
    if wrong:
        return f"its result is wrong: {', '.join(wrong)}"
    return None if one.get("runs") else "no run"
