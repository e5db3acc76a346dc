"""Pictures of a warp in text: which bytes of a sector, which banks, which lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from perfkit.models.coalescing import LINE_BYTES, SECTOR_BYTES
from perfkit.models.lanes import WARP_LANES, Addresses

_CELL_BYTES: Final = 4  #: that one character stands for
#: of 0 to 32: nothing, then digits and letters
_DIGITS: Final = ".123456789abcdefghijklmnopqrstuvw"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as ranges.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7-8'
    """
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{low}-{high}" if high > low else str(low) for low, high in spans)


def mask(lanes: Iterable[int]) -> str:
    """Lanes as the mask of a warp.

    >>> mask([0, 4, 31])
    '0x80000011'
    """
    return f"{sum(1 << lane for lane in lanes):#010x}"


def lines(width: int, touched: Addresses) -> list[tuple[int, str]]:
    """Each cache line touched: its address, and its four sectors.

    ``#`` is 4 bytes that are used, ``+`` used in part, ``.`` moved but not used; sectors that do
    not move are blank.

    >>> lines(4, range(0, 128, 8))
    [(0, '#.#.#.#. #.#.#.#. #.#.#.#. #.#.#.#.')]
    """
    used = {
        byte
        for address in touched
        if address is not None
        for byte in range(address, address + width)
    }
    return [
        (
            line * LINE_BYTES,
            " ".join(
                _sector(used, line * LINE_BYTES + start)
                for start in range(0, LINE_BYTES, SECTOR_BYTES)
            ).rstrip(),
        )
        for line in sorted({byte // LINE_BYTES for byte in used})
    ]


def _sector(used: set[int], first: int) -> str:
    if used.isdisjoint(range(first, first + SECTOR_BYTES)):
        return " " * (SECTOR_BYTES // _CELL_BYTES)
    cells = (
        sum(byte in used for byte in range(start, start + _CELL_BYTES))
        for start in range(first, first + SECTOR_BYTES, _CELL_BYTES)
    )
    return "".join("#" if cell == _CELL_BYTES else "+" if cell else "." for cell in cells)


def banks(words_per_bank: Sequence[int]) -> str:
    """Distinct words per bank, in groups of eight banks.

    >>> banks([2] * 8 + [0] * 24)
    '22222222 ........ ........ ........'
    """
    return _grouped(_DIGITS[count] for count in words_per_bank)


def outcomes(values: Sequence[int | None], kind: str) -> str:
    """What each lane does: ``#`` and ``.`` of a condition, paths or tenths of a loop by digits.

    >>> outcomes([1, 0] * 8, "condition"), outcomes([0, 3, 6, 9], "trips")
    ('#.#.#.#. #.#.#.#.', '.369')
    """
    if kind == "condition":
        return _grouped(" " if v is None else "#" if v else "." for v in values)
    known = sorted({v for v in values if v is not None})
    if kind == "switch":
        # the paths by number, from 1
        return _grouped(" " if v is None else _DIGITS[known.index(v) + 1] for v in values)
    longest = max(known, default=0) or 1
    return _grouped(" " if v is None else _DIGITS[-(-9 * v // longest)] for v in values)


def _grouped(cells: Iterable[str]) -> str:
    text = "".join(cells)
    return " ".join(text[start : start + 8] for start in range(0, WARP_LANES, 8)).rstrip()
