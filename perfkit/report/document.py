"""What a renderer gets: tables of raw values, with the unit of each column, and notes.

Views build documents from results; renderers know nothing but this. Numbers become text here and
only here (``Column.text``); machine formats write the raw values under ``Column.key``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from perfkit.record import record
from perfkit.units import (
    format_bytes,
    format_count,
    format_ratio,
    format_seconds,
    format_traffic,
)

Unit = Literal[
    "text",
    "count",
    "share",
    "percent",
    "preference",
    "bytes",
    "ratio",
    "names",
    "yes",
    "tflops",
    "rate",
    "hertz",
    "mhz",
    "gb_per_s",
    "bandwidth",
    "seconds",
    "flop",
    "intensity",
    "traffic",
]

#: what an absent value looks like
ABSENT: Final = "-"


#: what moves the cursor, ends a line, speaks to the terminal or turns the direction of what follows
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


def printable(text: str) -> str:
    r"""Text for people: a name from a file must not end a line or command a terminal.

    >>> printable("two\nlines, \x1b[31mred")
    'two lines,  [31mred'
    """
    return _CONTROL.sub(" ", text)


def _format_rate(flop_per_s: float) -> str:
    return f"{_four_digits(flop_per_s / 1e12)} TFLOP/s"


def _four_digits(value: float) -> str:
    """Without an exponent for what is large."""
    return f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def _format_names(names: tuple[str, ...]) -> str:
    return ", ".join(str(name).replace("_", " ") for name in names) or ABSENT


_FORMAT: Final[dict[Unit, Callable[[Any], str]]] = {
    "text": lambda value: printable(str(value)),
    "count": lambda value: f"{value:g}" if isinstance(value, float) else str(value),
    "share": lambda value: f"{value[0]} of {value[1]}",
    "percent": lambda value: f"{value}%",
    "preference": lambda value: "default" if value < 0 else f"{value}%",
    "bytes": format_bytes,
    "ratio": format_ratio,
    "names": _format_names,
    "yes": lambda value: "yes" if value else "no",
    "tflops": lambda value: _format_rate(value * 1e12),
    "rate": _format_rate,
    "bandwidth": lambda value: f"{_four_digits(value / 1e9)} GB/s",
    "hertz": lambda value: f"{value / 1e6:g} MHz",
    "mhz": lambda value: f"{value:g} MHz",
    "gb_per_s": lambda value: f"{value:g} GB/s",
    "seconds": format_seconds,
    "flop": lambda value: format_count(value, "FLOP"),
    "intensity": lambda value: f"{_four_digits(value)} FLOP/byte",
    "traffic": format_traffic,
}

_LEFT: Final[frozenset[Unit]] = frozenset({"text", "names", "yes"})


class Cell(NamedTuple):
    """A value with its own text, in a column of values of several units."""

    raw: Any
    text: str
    look: str = ""  #: how serious it is, for formats that have weights and colours


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: its key in machine formats, its title, and the unit of its values."""

    key: str
    title: str
    unit: Unit = "text"

    @property
    def is_left(self) -> bool:
        return self.unit in _LEFT

    def text(self, value: Any) -> str:
        if isinstance(value, Cell):
            return printable(value.text)
        return ABSENT if value is None else _FORMAT[self.unit](value)


@record
class Table:
    """Rows of raw values."""

    title: str | None = None
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    collapsed: bool = False  #: where the format can fold it away; it then has a title

    def texts(self) -> list[list[str]]:
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def without_empty_columns(self) -> Table:
        """Drop columns in which every value is absent or empty."""
        keep = [
            i for i in range(len(self.columns)) if any(row[i] not in _EMPTY for row in self.rows)
        ]
        return Table(
            title=self.title,
            columns=tuple(self.columns[i] for i in keep),
            rows=tuple(tuple(row[i] for i in keep) for row in self.rows),
            collapsed=self.collapsed,
        )


_EMPTY: Final = (None, "", ())


@record
class Document:
    """What a command has to say, in the order in which people read it."""

    tables: tuple[Table, ...]  #: one without rows or columns is not shown
    notes: tuple[str, ...] = ()
    summary: str | None = None  #: the whole answer in one line, in front of everything
    #: the same results as one flat table, for CSV and the like; None: the first table is it
    flat: Table | None = field(default=None)
