"""Numbers as a program printed them for people somewhere: 1,234.5 or 1.234,5 or 1 234,5.

A file is written in one locale, so all of its numbers are looked at together: one that can be read
in one way only decides for those that could be read in two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final, Literal

Mark = Literal[".", ","]

_NUMBER: Final = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d{1,3})?", re.ASCII)
#: spaces and apostrophes are no decimal mark anywhere; nor is what a byte becomes that is not
#: UTF-8, which is a space of a Windows code page
_SPACED: Final = re.compile(
    r"[+-]?\d{1,3}(?:([ \u00a0\u2009\u202f'\u2019\ufffd])\d{3})(?:\1\d{3})*(?:[.,]\d+)?", re.ASCII
)
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:([.,])\d{3})+", re.ASCII)
_OTHER: Final[dict[Mark, Mark]] = {".": ",", ",": "."}


class MixedNumeralsError(ValueError):
    """One number says that the mark is a point, another that it is a comma."""


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(_joined(text)) is not None


def _joined(text: str) -> str:
    """Without what stands between groups of three digits, unless that may be a decimal mark."""
    match = _SPACED.fullmatch(text)
    return text.replace(match[1], "") if match else text


def decimal_mark(texts: Iterable[str]) -> Mark | None:
    """The decimal mark of all ``texts`` that are numbers; None: it cannot be told.

    What only has commas in front of groups of three is taken as 1,234: programs that print a comma
    for the decimal mark print points somewhere as well, or another number of digits.

    Raises:
        MixedNumeralsError: they do not agree.

    >>> decimal_mark(["117.344", "65,77"]), decimal_mark(["117.344", "65.77"])
    (',', '.')
    >>> decimal_mark(["117.344"]) is None, decimal_mark(["508,757", "12"])
    (True, '.')
    """
    evidence: dict[Mark, str] = {}
    has_open_points = False
    for text in map(_joined, texts):
        if not is_number(text):
            continue
        mark = _mark_of(text)
        if mark is not None:
            evidence.setdefault(mark, text)
        has_open_points |= mark is None and "." in text
    if len(evidence) == 2:
        raise MixedNumeralsError(f"{evidence['.']!r} and {evidence[',']!r}")
    if evidence:
        return next(iter(evidence))
    return None if has_open_points else "."


def _mark_of(text: str) -> Mark | None:
    """What one number says for sure."""
    marks = [c for c in text if c in ".,"]
    if not marks:
        return None
    last: Mark = "." if marks[-1] == "." else ","
    if len(set(marks)) == 2:
        return last
    if len(marks) > 1:  # 27.595.520: groups
        return _OTHER[last]
    # 117.344 can be either; 0.344 and 1234.567 are no groups
    grouped = _GROUPED.fullmatch(text)
    return None if grouped and not text.lstrip("+-").startswith("0") else last


def number(text: str, mark: Mark) -> float | None:
    """The value of ``text``, or None where it is no number.

    >>> number("27.595.520", ","), number("1,234.5", "."), number("PolicySpread", ".")
    (27595520.0, 1234.5, None)
    >>> number("27 595 520,5", ","), number("1'234.5", "."), number("12 34", ".")
    (27595520.5, 1234.5, None)
    """
    text = _joined(text)
    if not is_number(text):
        return None
    try:
        found = float(text.replace(_OTHER[mark], "").replace(mark, "."))
    except ValueError:
        return None
    return found if math.isfinite(found) else None
