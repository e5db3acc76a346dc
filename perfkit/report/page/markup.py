"""Pieces of HTML. Whatever is not this module's own is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Final

from perfkit.report.chart.words import clean
from perfkit.report.document import Cell, Column, Table

#: letters of a name that stands on one line whatever is in it
_ONE_WORD: Final = 32


def text(value: str) -> str:
    """A name from a file as text of a page; bytes that are no text become ``?``."""
    return escape(clean(value))


def paragraph(value: str, *, faint: bool = False) -> str:
    return f'<p class="faint">{text(value)}</p>' if faint else f"<p>{text(value)}</p>"


def listing(values: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(value)}</li>" for value in values) + "</ul>"


def points(values: Iterable[str]) -> str:
    """A list of what is HTML already."""
    return "<ul>" + "".join(f"<li>{value}</li>" for value in values) + "</ul>"


def link(name: str, title: str) -> str:
    """To a section of the page."""
    return f'<a href="#{name}">{text(title)}</a>'


def outcome(words: str, look: str) -> str:
    """With its colour and weight."""
    return f'<span class="{look}">{text(words)}</span>'


def section(name: str, title: str, parts: Iterable[str]) -> str:
    """With an id to link to."""
    body = "\n".join(part for part in parts if part)
    heading = f'<h2 id="{name}">{text(title)}</h2>'
    return f'<section aria-labelledby="{name}">\n{heading}\n{body}\n</section>'


def folded(title: str, body: str) -> str:
    return f"<details><summary>{text(title)}</summary>\n{body}\n</details>"


def table(one: Table, *, level: int = 3, rows: Iterable[str] | None = None) -> str:
    """Rows that the page's script can sort and filter, in a frame that the keyboard can scroll.

    Args:
        one: the table.
        level: of the heading over it.
        rows: what ``row`` made of those that are shown; None: of all.
    """
    title = one.title or "table"
    head = "".join(
        f'<th scope="col"{_class("l" if column.is_left else "")}>{text(column.title)}</th>'
        for column in one.columns
    )
    body = "\n".join((row(one, each) for each in one.rows) if rows is None else rows)
    drawn = (
        f'<div class="wide" tabindex="0" role="region" aria-label="{text(title)}">'
        f'<table class="data">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>'
        "</table></div>"
    )
    if one.collapsed:
        return folded(title, drawn)
    return f"<h{level}>{text(title)}</h{level}>\n{drawn}" if one.title else drawn


def _class(kinds: str) -> str:
    return f' class="{kinds}"' if kinds else ""


def row(one: Table, values: tuple[Any, ...], *, longest: int | None = None) -> str:
    """One row; ``longest``: letters of a text that is shown in full."""
    pairs = zip(one.columns, values, strict=True)
    return f"<tr>{''.join(_cell(column, value, longest) for column, value in pairs)}</tr>"


def abridged(value: str, most: int) -> str:
    """A text that is too long for a page without its middle, with its length.

    >>> abridged("gemm<" + 900 * "x" + ">", 40)
    'gemm<xxxxxxxxxxxxxxx…xxx> (906 letters)'
    """
    if len(value) <= most:
        return value
    # names begin with what they are called and end with what tells them apart
    head, tail = most // 2, most // 10
    return f"{value[:head]}…{value[-tail:]} ({len(value):,} letters)"


def _cell(column: Column, value: Any, longest: int | None) -> str:
    """With the number to sort by, where the text is not that number."""
    shown = column.text(value)
    if longest is not None:
        shown = abridged(shown, longest)
    raw = value.raw if isinstance(value, Cell) else value
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
    key = f' data-v="{raw}"' if is_number and shown != str(raw) else ""
    # h100-sxm5 is one word
    one = "n" if "-" in shown[1:] and " " not in shown and len(shown) <= _ONE_WORD else ""
    look = value.look if isinstance(value, Cell) else ""
    kinds = " ".join(filter(None, ("l" if column.is_left else "", look, one)))
    return f"<td{_class(kinds)}{key}>{text(shown)}</td>"
