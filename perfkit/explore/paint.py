"""The view as lines of styled text, for any width."""

from __future__ import annotations

import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

from perfkit.explore.bars import drawing, share_bar, value_of
from perfkit.explore.view import EXPLAINED
from perfkit.units import format_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.analysis.occupancy import Estimate
    from perfkit.explore.view import Panel, Trouble, View
    from perfkit.models.occupancy import Occupancy

Style = Literal["", "title", "value", "dim", "wrong", "binds", "curve", "present"]
#: pieces of one line, each with its style
Line = tuple[tuple[str, Style], ...]

#: a column of names that leaves values enough room
_LABEL = 22
_NARROWEST = 20


def answer(view: View, *, width: int, explain: bool) -> tuple[Line, ...]:
    """Numbers and tables, or why there are none.

    Args:
        view: what there is to say.
        width: columns; lines are broken between words to fit.
        explain: also what each table means.
    """
    width = max(width, _NARROWEST)
    found = [line for one in view.troubles for line in trouble(one, width)]
    if view.state.gpu is None:
        found += _wrapped("Choose a GPU: press ctrl+g.", width, "title")
    if view.estimate is not None:
        found += _headline(view.estimate, width)
        found += _explained("answer", width) if explain else []
    for panel in view.panels:
        found += [(), *_panel(panel, width), *(_explained(panel.key, width) if explain else [])]
    if view.notes:
        found.append(())
    for note in view.notes:
        found += _wrapped(f"note: {note}", width, "dim")
    return tuple(found)


def drawn(view: View, *, width: int, explain: bool) -> tuple[Line, ...]:
    """The curves, one below the other."""
    if view.estimate is None:
        return ()
    width = max(width, _NARROWEST)
    found: list[Line] = []
    for curve in view.curves:
        picture = drawing(
            curve,
            value_of(view.estimate, curve),
            most_warps=view.estimate.driver.max_warps_per_sm,
            width=width,
            height=4,
        )
        found.append(((f"warps/SM over {picture.title}"[:width], "title"),))
        found += [_row(row, picture.column) for row in picture.rows]
        found += [((picture.axis[:width], "dim"),), ((picture.pointer, "present"),)]
    return (*found, *(_explained("curves", width) if explain else []))


def brief(view: View) -> str:
    """The answer in one line, for a terminal in which the tables are out of sight."""
    if view.estimate is None:
        return view.troubles[0].text if view.troubles else ""
    driver, hardware = view.estimate.driver, view.estimate.hardware
    shares = format_ratio(driver.ratio)
    if hardware is not None and hardware.occupancy.ratio != driver.ratio:
        shares += f" (hardware {format_ratio(hardware.occupancy.ratio)})"
    return f"{shares}, limited by {_names(driver)}"


def _names(one: Occupancy) -> str:
    return " and ".join(name.replace("_", " ") for name in one.binding)


def plain(text: str) -> str:
    """For a terminal that knows no other letters than those of ASCII; as many columns.

    >>> plain("██▎░ ◀ binds"), plain("│▂▄█ ▲ 8 µs")
    ('##.- < binds', '|.=# ^ 8 us')
    """
    return text.translate(_PLAIN).encode("ascii", "replace").decode()


_PLAIN: Final = str.maketrans("█▉▊▋▌▍▎▏░▁▂▃▄▅▆▇│┤▲▼◀▾…µ", "#####...-...====||^v<v.u")


def _row(row: str, column: int | None) -> Line:
    if column is None:
        return ((row, "curve"),)
    return (
        (row[:column], "curve"),
        (row[column : column + 1], "present"),
        (row[column + 1 :], "curve"),
    )


def _headline(found: Estimate, width: int) -> list[Line]:
    """Occupancy by both rules as bars, and what limits it."""
    lines = _rule("API", found.driver, "", width)
    if found.hardware is not None:
        lines += _rule("hardware", found.hardware.occupancy, found.hardware.evidence, width)
    first, *more = _wrapped(f"limited by {_names(found.driver)}", width, "binds")
    return [*lines, first, *more]


def _rule(name: str, one: Occupancy, evidence: str, width: int) -> list[Line]:
    ratio = format_ratio(one.ratio)
    blocks = "1 block" if one.blocks_per_sm == 1 else f"{one.blocks_per_sm} blocks"
    rest = f"{blocks}, {one.warps_per_sm} of {one.max_warps_per_sm} warps"
    room = width - len(f"{name:<9}") - 1 - len(f"{ratio:>7}")
    bar = share_bar(one.ratio, max(4, min(40, room)))
    first: Line = ((f"{name:<9}", ""), (bar, "curve"), (f"{ratio:>7}", "value"))
    said = f"{rest} ({evidence})" if evidence else rest
    return [first, *_wrapped(said, width, "value", indent=" " * 9)]


def _panel(panel: Panel, width: int) -> list[Line]:
    """Names and values in two columns, whatever the length of either."""
    lines = _wrapped(panel.title, width, "title")
    values = [f"{one.value} ◀ binds" if one.is_marked else one.value for one in panel.lines]
    room = max((len(one.label) for one in panel.lines), default=0) + 2
    if room + max(map(len, values), default=0) > width:
        room = min(room, _LABEL, width * 2 // 5)
    for one, value in zip(panel.lines, values, strict=True):
        style: Style = "binds" if one.is_marked else "value"
        both = textwrap.wrap(one.label, room - 2), textwrap.wrap(value, width - room)
        lines += [
            ((label.ljust(room), ""), (text, style))
            for label, text in zip_longest(*both, fillvalue="")
        ]
    return lines


def trouble(one: Trouble, width: int) -> Iterator[Line]:
    """Why something is missing, and what to do."""
    width = max(width, _NARROWEST)
    yield from _wrapped(one.text, width, "wrong")
    if one.hint:
        yield from _wrapped(f"hint: {one.hint}", width, "dim")


def _explained(key: str, width: int) -> list[Line]:
    return _wrapped(EXPLAINED[key], width, "dim")


def _wrapped(text: str, width: int, style: Style, *, indent: str = "") -> list[Line]:
    pieces = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)
    return [((piece, style),) for piece in pieces]
