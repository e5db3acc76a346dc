"""Results of hyperfine, ``--export-json``: every time is that of a process, and so a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from perfkit.readers.checks import amount, amounts, checked, mapping, optional, sequence, text
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("time",)


def knows(document: object) -> bool:
    """Results with a command."""
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        return False
    entries = document["results"]
    return bool(entries) and isinstance(entries[0], dict) and "command" in entries[0]


def read(document: dict[str, Any], origin: str) -> ResultFile:
    """A run of every process of every command.

    Raises:
        InputError: not the structure, or a value that is no number; ``where`` is its path.
    """
    runs: list[Run] = []
    for i, item in enumerate(sequence(document["results"], f"{origin}: results")):
        where = f"{origin}: results[{i}]"
        runs += _runs(mapping(item, where), where)
    return ResultFile(kind="hyperfine", origin=origin, runs=tuple(runs))


def _runs(entry: dict[str, Any], where: str) -> Iterator[Run]:
    name = _name(entry, where)
    times = amounts(sequence(entry.get("times"), f"{where}.times"), f"{where}.times")
    if not times:
        yield _summary(entry, name, where)
        return
    codes = sequence(entry.get("exit_codes"), f"{where}.exit_codes")
    memory = sequence(entry.get("memory_usage_byte"), f"{where}.memory_usage_byte")
    for i, seconds in enumerate(times):
        place = f"{where}.times[{i}]"
        failure = _ended(codes[i]) if i < len(codes) else None
        yield checked(
            Run(
                benchmark=name,
                values=(seconds,),
                unit=Unit.SECONDS,
                run=str(i + 1),
                failure=failure,
                source=place,
            )
        )
        if i < len(memory) and failure is None:
            yield checked(
                Run(
                    benchmark=name,
                    values=(amount(memory[i], f"{where}.memory_usage_byte[{i}]"),),
                    unit=Unit.BYTES,
                    run=str(i + 1),
                    metric="memory",
                    source=place,
                )
            )


def _ended(code: object) -> str | None:
    """Why a process counts as failed."""
    if code is None:
        return "ended by a signal"
    return f"exit code {code}" if code != 0 else None


def _name(entry: dict[str, Any], where: str) -> str:
    """The command or its label, and the parameters that it does not show."""
    name = text(entry.get("command"), f"{where}.command")
    parameters = mapping(entry.get("parameters") or {}, f"{where}.parameters")
    hidden = [f"{key}={value}" for key, value in parameters.items() if str(value) not in name]
    return f"{name} [{', '.join(hidden)}]" if hidden else name


def _summary(entry: dict[str, Any], name: str, where: str) -> Run:
    mean = optional(entry, "mean", where)
    median = optional(entry, "median", where)
    deviation = optional(entry, "stddev", where)
    centre = mean if median is None else median
    return checked(
        Run(
            benchmark=name,
            values=() if centre is None else (centre,),
            unit=Unit.SECONDS,
            spread=deviation / mean if mean and deviation is not None else None,
            source=where,
        )
    )
