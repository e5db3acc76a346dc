"""Rows of a CSV file below its header, with their lines, and numbers in the file's notation."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence

from perfkit.errors import InputError
from perfkit.readers.numerals import Mark, MixedNumeralsError, decimal_mark, number


def rows(
    lines: Sequence[str], first: int, origin: str, delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Line number, counted from 1, and cells of every row from ``lines[first]`` on.

    Raises:
        InputError: broken quoting, with the line.
    """
    # a cell in quotes may have line breaks, which tell two names apart
    reader = csv.reader((f"{line}\n" for line in lines[first:]), delimiter=delimiter, strict=True)
    start = first + 1
    try:
        for cells in reader:
            yield start, cells
            start = first + 1 + reader.line_num
    except csv.Error as error:
        raise InputError(f"broken CSV: {error}", where=f"{origin}:{start}") from None


def mark_of(
    texts: Iterable[str], origin: str, *, given: Mark | None, otherwise: Mark | None
) -> Mark:
    """The decimal mark of a file: as given, as its numbers show, or ``otherwise``.

    Raises:
        InputError: numbers contradict one another, or nothing decides.
    """
    if given is not None:
        return given
    try:
        found = decimal_mark(texts) or otherwise
    except MixedNumeralsError as error:
        raise InputError(f"numbers in two notations: {error}", where=origin) from None
    if found is None:
        raise InputError(
            "its numbers can be read in two ways, and nothing in the file says which",
            where=origin,
            hint="write --decimal point or --decimal comma",
        )
    return found


def cell(text: str, mark: Mark, where: str) -> float:
    """A number of the file; NaN, infinity and what has no number in it (NaN) pass.

    Raises:
        InputError: no number.
    """
    text = text.strip()
    found = number(text, mark)
    if found is None:
        if not text:
            return math.nan
        if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
            return float(text)
        raise InputError(f"{text[:80]!r} is not a number", where=where)
    return found
