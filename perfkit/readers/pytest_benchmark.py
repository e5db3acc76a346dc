"""Results of pytest-benchmark: ``--benchmark-json`` with its samples, or a saved summary."""

from __future__ import annotations

from typing import Any, Final

from perfkit.readers.checks import amounts, checked, mapping, optional, sequence, text
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("time",)


def knows(document: object) -> bool:
    """Benchmarks beside a description of the machine, with statistics."""
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        return False
    entries = document["benchmarks"]
    if not entries:
        return "machine_info" in document
    return isinstance(entries[0], dict) and "stats" in entries[0]


def read(document: dict[str, Any], origin: str) -> ResultFile:
    """One run of every test, parameters in its name. A test that fails is not in the file.

    Raises:
        InputError: not the structure, or a value that is no number; ``where`` is its path.
    """
    entries = sequence(document["benchmarks"], f"{origin}: benchmarks")
    runs = tuple(_run(item, f"{origin}: benchmarks[{i}]") for i, item in enumerate(entries))
    return ResultFile(
        kind="pytest-benchmark", origin=origin, runs=runs, environment=_environment(document)
    )


def _run(item: object, where: str) -> Run:
    entry = mapping(item, where)
    stats = mapping(entry.get("stats"), f"{where}.stats")
    values = amounts(sequence(stats.get("data"), f"{where}.stats.data"), f"{where}.stats.data")
    centre = optional(stats, "median", f"{where}.stats")
    mean = optional(stats, "mean", f"{where}.stats")
    centre = mean if centre is None else centre
    deviation = optional(stats, "stddev", f"{where}.stats")
    rounds = optional(stats, "rounds", f"{where}.stats")
    summary = not values
    return checked(
        Run(
            benchmark=text(entry.get("fullname") or entry.get("name"), f"{where}.fullname"),
            values=() if summary and centre is None else values or (centre or 0.0,),
            unit=Unit.SECONDS,
            spread=deviation / mean if summary and mean and deviation is not None else None,
            samples=int(rounds) if summary and rounds and 0 < rounds < 2**63 else None,
            source=where,
        )
    )


def _environment(document: dict[str, Any]) -> dict[str, str]:
    machine, commit = document.get("machine_info"), document.get("commit_info")
    found = {
        "host": machine.get("node") if isinstance(machine, dict) else None,
        "date": document.get("datetime"),
        "commit": commit.get("id") if isinstance(commit, dict) else None,
    }
    return {key: str(value) for key, value in found.items() if value}
