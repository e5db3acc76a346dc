"""Runs for the tests of the gate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perfkit.readers.results import Run, Unit


def runs(values: Iterable[float], benchmark: str = "k", **fields: Any) -> list[Run]:
    """One run for each value, in seconds unless told otherwise."""
    unit = fields.pop("unit", Unit.SECONDS)
    return [Run(benchmark=benchmark, values=(value,), unit=unit, **fields) for value in values]


def pairs(values: Iterable[float], benchmark: str = "k", **fields: Any) -> list[Run]:
    """The same with pair ids 0, 1, 2 …"""
    return [
        run
        for index, value in enumerate(values)
        for run in runs([value], benchmark, pair=str(index), **fields)
    ]
