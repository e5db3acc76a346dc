"""What every reader asks of what it has read: the right kind of value, and a possible one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perfkit.errors import InputError
from perfkit.readers.results import Run, Unit

#: there is no kernel that takes no time, and none that does nothing per second
_POSITIVE: Final = frozenset(
    {Unit.SECONDS, Unit.CYCLES, Unit.BYTES_PER_SECOND, Unit.FLOP_PER_SECOND, Unit.PER_SECOND}
)
_KINDS: Final = {
    bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list",
    dict: "an object", type(None): "null",
}  # fmt: skip


def checked(run: Run) -> Run:
    """``run``, or its failure where it has no value or an impossible one (0 s, NaN, -1 GB/s)."""
    values = run.values
    spread = run.spread
    if spread is not None and not 0 <= spread < math.inf:
        run = replace(run, spread=None)
    if run.failure is not None:
        return run if not values else replace(run, values=())
    if not values:
        return replace(run, failure="no value")
    if len(values) == 1 and 0 < values[0] < math.inf:
        return run
    low = 0.0 if run.unit in _POSITIVE else -math.inf
    for i, value in enumerate(values):
        if not low < value < math.inf:
            which = f", sample {i + 1} of {len(values)}" if len(values) > 1 else ""
            reason = f"{run.metric} is {value:g} {run.unit}{which}: no possible measurement"
            return replace(run, values=(), failure=reason)
    return run


def mapping(value: object, where: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise _wrong("an object", value, where)


def sequence(value: object, where: str) -> list[Any]:
    """A list; null counts as an empty one, as several programs write it."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise _wrong("a list", value, where)


def text(value: object, where: str) -> str:
    if isinstance(value, str):
        return value
    raise _wrong("text", value, where)


def amount(value: object, where: str) -> float:
    """A number, also one written as text. NaN and infinity pass: ``checked`` says what they mean.

    Raises:
        InputError: no number, with the value.
    """
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            # 1_000 is Python's own spelling, nobody else's
            return float(value.replace("_", "?") if isinstance(value, str) else value)
        except (ValueError, OverflowError):
            shown = f"{value!r}" if isinstance(value, str) else "a number of that size"
            raise InputError(f"{shown[:80]} is not a number", where=where) from None
    raise _wrong("a number", value, where)


def amounts(values: Sequence[object], where: str) -> tuple[float, ...]:
    """Numbers of a list; ``where`` names the list."""
    return tuple(
        value if type(value) is float else amount(value, f"{where}[{i}]")
        for i, value in enumerate(values)
    )


def optional(document: Mapping[str, Any], key: str, where: str) -> float | None:
    """A number that may be missing or null."""
    value = document.get(key)
    return None if value is None else amount(value, f"{where}.{key}")


def _wrong(wanted: str, value: object, where: str) -> InputError:
    found = _KINDS.get(type(value), type(value).__name__)
    return InputError(f"should be {wanted}, is {found}", where=where)
