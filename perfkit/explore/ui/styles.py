"""How the styles of ``paint`` look, and lines of them as content of a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.content import Content

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.explore.paint import Line, Style

#: colours of Okabe and Ito for dark ground; without colour bold, dim and reverse remain
LOOKS: Final[dict[Style, str]] = {
    "": "",
    "title": "bold #56b4e9",
    "value": "bold",
    "dim": "dim",
    "wrong": "bold #ff8534",
    "binds": "bold #e69f00",
    "curve": "#56b4e9",
    "present": "bold #f0e442",
}


def content(lines: Iterable[Line]) -> Content:
    """The lines as one piece of content."""
    parts: list[tuple[str, str] | str] = []
    for line in lines:
        parts += [(text, LOOKS[style]) if LOOKS[style] else text for text, style in line]
        parts.append("\n")
    return Content.assemble(*parts[:-1])
