"""A number in what a program prints, found by a regular expression with one group.

Its unit is the word that follows it in the output, or a given one. Several numbers are samples of
one run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from perfkit.errors import InputError, UsageError
from perfkit.readers.checks import checked
from perfkit.readers.quantities import quantity
from perfkit.readers.results import Run, Unit

if TYPE_CHECKING:
    from perfkit.readers.quantities import Quantity

#: the word after a number: 3.1 ms, 3.1ms, 3.1 (ms), 3.1 GB/s.
_WORD: Final = re.compile(r"[ \t]*[(\[]?[ \t]*([^\s\d.,;:()\[\]=][^\s,;:()\[\]]*)")


def is_about_output(pattern: str) -> bool:
    """Whether a regular expression asks for a number: it has a group.

    Raises:
        UsageError: no regular expression, or one with several groups.
    """
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise UsageError(f"--metric {pattern!r} is no regular expression: {error}") from None
    if groups > 1:
        raise UsageError(
            f"--metric {pattern!r} has {groups} groups, and one is the number",
            hint="write (?:…) for others",
        )
    return groups == 1


def unit_named(text: str) -> Quantity:
    """What a unit means.

    Raises:
        UsageError: nothing that is known.
    """
    found = quantity(text)
    if found is None:
        raise UsageError(
            f"unknown unit {text!r}", hint="write s, ms, us, ns, cycles, GB/s, GFLOP/s …"
        )
    return found


def by_pattern(text: str, pattern: str, unit: str | None, benchmark: str, origin: str) -> Run:
    """The run whose samples ``pattern`` finds.

    Args:
        text: what the program printed.
        pattern: with one group around the number.
        unit: of the number; None: as the output has it.
        benchmark: name of the run.
        origin: where the text is from, for messages.

    Raises:
        InputError: it matches nothing, what it finds is no number, or has no unit.
    """
    values: list[float] = []
    units = set()
    for match in re.finditer(pattern, text, re.MULTILINE):
        found = match[1] or ""
        try:
            number = float(found.strip() if "_" not in found else "no")
        except ValueError:
            message = f"{pattern!r} finds {found[:40]!r}, which is no number"
            raise InputError(message, where=origin, hint="put the group around digits") from None
        scale = unit_named(unit) if unit is not None else _following(match, origin)
        values.append(scale.of(number))
        units.add(scale.unit)
    if not values:
        raise InputError(f"{pattern!r} matches nothing in the output", where=origin)
    if len(units) > 1:
        raise InputError(f"numbers in several units: {', '.join(sorted(units))}", where=origin)
    (held,) = units
    metric = "time" if held is Unit.SECONDS else str(held)
    return checked(
        Run(benchmark=benchmark, values=tuple(values), unit=held, metric=metric, source=origin)
    )


def _following(number: re.Match[str], origin: str) -> Quantity:
    word = _WORD.match(number.string, number.end(1))
    found = quantity(word[1].rstrip(".")) if word else None
    if found is None:
        shown = f"{word[1][:20]!r} is no unit" if word else "no unit follows"
        raise InputError(
            f"the unit of {number[1].strip()[:40]!r} is not known: {shown}",
            where=origin,
            hint="write --unit ms",
        )
    return found
