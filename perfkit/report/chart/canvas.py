"""A grid of characters with colours, and lines on it in braille dots or plain ASCII.

Own and small, because a terminal chart must work wherever perfkit does, without an extra: plotext
changed its interface between 5 and 6, and has neither lanes nor cells.
"""

from __future__ import annotations

from typing import Final, Literal

Colour = int | Literal["ink", "alarm", "soft"]

_ACROSS: Final = 2
_DOWN: Final = 4
_BRAILLE: Final = 0x2800
#: bit of the dot at (x, y) of a cell
_BITS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
#: of a line of each slot after the first, which is drawn in dots
_LETTERS: Final = ".*+x%="

#: 256-colour codes nearest to the slots of ``theme.DARK`` and readable on white
_CODES: Final[dict[Colour, int]] = {
    **dict(enumerate((32, 172, 35, 169, 74, 166))),
    "alarm": 166,
    "soft": 245,
}


class Canvas:
    """Characters at column and row, and dots between; (0, 0) is at the top left."""

    def __init__(self, width: int, height: int, *, is_ascii: bool, is_coloured: bool) -> None:
        self.width: Final = width
        self.height: Final = height
        self._is_ascii = is_ascii
        self._is_coloured = is_coloured
        self._characters = [[" "] * width for _ in range(height)]
        self._colours: list[list[Colour]] = [["ink"] * width for _ in range(height)]

    def put(self, column: int, row: int, text: str, colour: Colour = "ink") -> None:
        """Text from a place to the right; what is outside is cut."""
        for x, character in enumerate(text, column):
            if 0 <= x < self.width and 0 <= row < self.height:
                self._characters[row][x] = character
                self._colours[row][x] = colour

    def line(self, start: tuple[float, float], end: tuple[float, float], slot: int) -> None:
        """From one place to another, in cells."""
        steps = max(abs(end[0] - start[0]) * _ACROSS, abs(end[1] - start[1]) * _DOWN, 1)
        count = int(steps) + 1
        for i in range(count + 1):
            share = i / count
            x = start[0] + (end[0] - start[0]) * share
            y = start[1] + (end[1] - start[1]) * share
            self._dot(x, y, slot)

    def _dot(self, x: float, y: float, slot: int) -> None:
        column, row = min(int(x), self.width - 1), min(int(y), self.height - 1)
        if column < 0 or row < 0:
            return
        if self._is_ascii or slot:
            self.put(column, row, _LETTERS[slot], slot)
            return
        bit = _BITS[int((x - column) * _ACROSS) % _ACROSS][int((y - row) * _DOWN) % _DOWN]
        before = ord(self._characters[row][column])
        dots = before - _BRAILLE if before >= _BRAILLE else 0
        self.put(column, row, chr(_BRAILLE + (dots | bit)), slot)

    def lines(self) -> list[str]:
        """Rows of text, in colours if the canvas has them."""
        if not self._is_coloured:
            return ["".join(row).rstrip() for row in self._characters]
        both = zip(self._characters, self._colours, strict=True)
        return [_painted(row, colours) for row, colours in both]


def legend_letter(slot: int, *, is_ascii: bool) -> str:
    """How a line of a slot looks."""
    return _LETTERS[slot] * 2 if slot or is_ascii else "⠒⠒"


def painted(text: str, colour: Colour) -> str:
    """In a colour of the terminal."""
    code = _CODES.get(colour)
    return text if code is None or not text.strip() else f"\x1b[38;5;{code}m{text}\x1b[0m"


def _painted(row: list[str], colours: list[Colour]) -> str:
    found, start = [], 0
    length = len("".join(row).rstrip())
    for x in range(1, length + 1):
        if x == length or colours[x] != colours[start]:
            found.append(painted("".join(row[start:x]), colours[start]))
            start = x
    return "".join(found)
