"""Help: the keys, the fields and the tables, from where each is written once."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from perfkit.explore.fields import FIELDS
from perfkit.explore.view import EXPLAINED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from perfkit.explore.paint import Line

KEYS: Final = {
    "tab, shift+tab": "next and previous field",
    "up, down": "more and less; page up and page down: in large steps",
    "ctrl+g": "choose a GPU",
    "ctrl+o": "open a file with kernels, or go back to typed numbers",
    "ctrl+y": "copy the command line that gives the present state",
    "ctrl+l": "command lines and launch code, to read and copy",
    "ctrl+t": "explain every table, or not",
    "ctrl+up, ctrl+down": "scroll the tables; so do the keys when they have the focus",
    "?, f1": "this help",
    "ctrl+q, ctrl+c": "quit; the command lines are printed then",
}
_NAMES: Final = {
    "answer": "Occupancy",
    "limits": "Limits",
    "costs": "Room before occupancy drops",
    "gains": "What would raise it",
    "cache": "Shared memory and L1",
    "whole": "Whole GPU",
    "bound": "Bound of an operation",
    "sm": "What an SM has",
    "curves": "Curves",
}


def help_lines(width: int) -> tuple[Line, ...]:
    """Everything, in lines of at most ``width`` columns."""
    parts = {
        "Keys": KEYS.items(),
        "Fields": [(field.label, field.help) for field in FIELDS.values()],
        "Tables": [(name, EXPLAINED[key]) for key, name in _NAMES.items()],
    }
    return tuple(
        line
        for title, entries in parts.items()
        for line in (((title, "title"),), *_entries(entries, width), ())
    )


def _entries(entries: Iterable[tuple[str, str]], width: int) -> Iterator[Line]:
    for name, text in entries:
        yield ((name, "value"),)
        for piece in textwrap.wrap(text, width - 2):
            yield ((f"  {piece}", ""),)
