"""Where the labels of marks go, so that none covers another: geometry, in points.

Widths are estimated from the number of letters: measured ones would differ with the version of the
fonts, and the picture with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from perfkit.record import record

#: of the letters, points
SIZE: Final = 6.5
#: mean width of a letter of DejaVu Sans, in sizes; and of a bold one, which a label may be
_LETTER: Final = 0.68
_HEIGHT: Final = 9.0
#: from a mark to its label, and half of a mark
_ASIDE, _ABOVE, _BELOW, _HALF_MARK = 4.0, 3.0, -10.0, 3.0
#: over a panel, up to what stands on it
_HEADROOM: Final = 3.0
#: labels above one another
_MOST_ROWS: Final = 4
#: share of the panel from which on a label goes to the left of its mark
_NEAR_THE_END: Final = 0.75


@record
class Anchor:
    """A mark in points from the lower left corner of its panel; without letters it has no label."""

    x: float
    y: float
    letters: int
    is_below: bool = False  #: where the label should go


class Offset(NamedTuple):
    """From the mark to the lower corner of its label, points; ``is_left``: to the right corner."""

    across: float
    up: float
    is_left: bool


class Box(NamedTuple):
    left: float
    low: float
    right: float
    high: float

    def common(self, other: Box) -> float:
        """Area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.high, other.high) - max(self.low, other.low)
        return max(width, 0.0) * max(height, 0.0)

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.high - self.low)


def offsets(anchors: Sequence[Anchor], width: float, height: float) -> list[Offset]:
    """One for each mark; the first ones choose first.

    A label goes to the first place, nearest first, where it covers no mark, no other label and
    nothing outside the panel; where there is none, to the one where it covers least.

    >>> offsets([Anchor(x=0, y=50, letters=5), Anchor(x=1, y=51, letters=5)], 120, 100)
    [Offset(across=4.0, up=3.0, is_left=False), Offset(across=4.0, up=12.0, is_left=False)]
    """
    panel = Box(0.0, 0.0, width, height + _HEADROOM)
    taken = [
        Box(one.x - _HALF_MARK, one.y - _HALF_MARK, one.x + _HALF_MARK, one.y + _HALF_MARK)
        for one in anchors
    ]
    found = []
    for one in anchors:
        if not one.letters:
            found.append(next(_candidates(one, width)))
            continue

        def covered(offset: Offset, one: Anchor = one) -> float:
            box = box_of(one, offset)
            outside = box.area - box.common(panel)
            return outside + sum(box.common(other) for other in taken)

        best = min(_candidates(one, width), key=covered)  # the first of equals
        found.append(best)
        taken.append(box_of(one, best))
    return found


def box_of(one: Anchor, offset: Offset) -> Box:
    """What a label covers."""
    wide = one.letters * _LETTER * SIZE
    left = one.x + offset.across - (wide if offset.is_left else 0.0)
    low = one.y + offset.up
    return Box(left, low, left + wide, low + _HEIGHT)


def _candidates(one: Anchor, width: float) -> Iterator[Offset]:
    at_the_end = one.x > _NEAR_THE_END * width
    for is_below in (one.is_below, not one.is_below):
        for row in range(_MOST_ROWS):
            up = _BELOW - row * _HEIGHT if is_below else _ABOVE + row * _HEIGHT
            for is_left in (at_the_end, not at_the_end):
                yield Offset(-_ASIDE if is_left else _ASIDE, up, is_left)
