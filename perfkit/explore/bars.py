"""Curves and shares as blocks of text, without a library for charts."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from perfkit.record import record
from perfkit.units import format_bytes

if TYPE_CHECKING:
    from perfkit.analysis.curves import Curve, Steps
    from perfkit.analysis.occupancy import Estimate

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_SHADE: Final = "░"
_FULL: Final = 8
#: columns for numbers on the left: four digits at most, and the axis
MARGIN: Final = 4

#: quantity -> title, values of one column at least (block sizes are warps, registers come in 8)
_TITLES: Final = {
    "block_size": ("block size, threads", 32),
    "registers": ("registers per thread", 8),
    "shared_memory": ("shared memory per block", 1024),
}


@record
class Drawing:
    """One curve as lines of text, without colours."""

    title: str
    rows: tuple[str, ...]  #: the uppermost first, each with its margin
    column: int | None  #: of the present launch in the rows; None: beyond the curve
    axis: str
    pointer: str  #: below the axis: where the present launch is, and its value


def share_bar(ratio: float, width: int) -> str:
    """A bar of ``width`` columns that is full at 1, to the nearest eighth of a column.

    >>> share_bar(0.75, 8), share_bar(0.55, 4)
    ('██████░░', '██▎░')
    """
    filled, rest = divmod(round(min(1.0, ratio) * width * 8), 8)
    part = "▏▎▍▌▋▊▉"[rest - 1] if rest else ""
    return ("█" * filled + part).ljust(width, _SHADE)


def value_of(found: Estimate, curve: Curve) -> int:
    """Where on the curve the launch is."""
    driver = found.driver
    values = {
        "block_size": driver.threads,
        "registers": driver.regs,
        "shared_memory": driver.smem_bytes,
    }
    return values[curve.quantity]


def drawing(curve: Curve, value: int, *, most_warps: int, width: int, height: int) -> Drawing:
    """The curve in ``height`` rows; every column stands for the largest value in it.

    Args:
        curve: warps over one quantity.
        value: of the present launch; its column shows this very value.
        most_warps: what fills the height.
        width: columns, the margin included.
        height: rows of blocks.
    """
    title, unit = _TITLES[curve.quantity]
    columns = min(width - MARGIN, -(-curve.last // unit))
    # so that steps of 8 registers or a warp each have a column of their own
    per_column = -(-curve.last // (columns * unit)) * unit
    columns = -(-curve.last // per_column)
    place = max(0, -(-value // per_column) - 1)
    column = place if curve.first <= value <= curve.last or value == 0 else None
    shown = [min((i + 1) * per_column, curve.last) for i in range(columns)]
    if column is not None:
        shown[column] = value
    heights = [
        tuple(
            round(_at(steps, at) * height * _FULL / most_warps)
            for steps in (curve.driver, curve.hardware)
        )
        for at in shown
    ]
    rows = tuple(
        _margin(row, height, most_warps) + "".join(_cell(two, row) for two in heights)
        for row in reversed(range(height))
    )
    text = str if curve.quantity != "shared_memory" else format_bytes
    # where the curve begins, as the pointer: the first column may be many values wide
    ends = text(curve.first), text(curve.last)
    gap = max(1, columns - len(ends[0]) - len(ends[1]))
    return Drawing(
        title=title,
        rows=rows,
        column=None if column is None else MARGIN + column,
        axis=" " * MARGIN + ends[0] + " " * gap + ends[1],
        pointer=_pointer(column, columns, text(value)),
    )


def _at(steps: Steps, value: int) -> int:
    place = bisect_right(steps, value, key=lambda step: step[0]) - 1
    return steps[max(0, place)][1]


def _margin(row: int, height: int, most: int) -> str:
    label = {height - 1: str(most), 0: "0"}.get(row, "")
    return f"{label:>{MARGIN - 1}}{'┤' if label else '│'}"


def _cell(heights: tuple[int, ...], row: int) -> str:
    """Solid as far as both rules go, shaded where only one does."""
    low, high = (min(_FULL, max(0, h - row * _FULL)) for h in sorted(heights))
    return _SHADE if low == 0 and high else _EIGHTHS[low]


def _pointer(column: int | None, columns: int, text: str) -> str:
    """A mark below the column, with its value on the side that has room."""
    if column is None:
        return f"{' ' * MARGIN}{text}: beyond this curve"
    if column + 2 + len(text) <= columns:
        return f"{' ' * (MARGIN + column)}▲ {text}"
    return " " * max(0, MARGIN + column - len(text) - 1) + f"{text} ▲"
