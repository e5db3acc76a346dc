"""Colours, line styles, markers and hatches: one of each for every slot.

The colours are those of M. Okabe and K. Ito, told apart with any kind of colour blindness; line
styles, markers and hatches tell them apart without any. For a page that is light or dark as the
reader's system is, a figure is drawn in ``TOKENS``, which become variables of its style sheet.
"""

from __future__ import annotations

from typing import Final

from perfkit.record import record


@record
class Theme:
    ink: str  #: text, axes, the present launch
    soft: str  #: grid lines and guides
    paper: str
    alarm: str  #: cliffs and conflicts
    slots: tuple[str, ...]


LIGHT: Final = Theme(
    ink="#1f2328",
    soft="#b0b7bf",
    paper="#ffffff",
    alarm="#d55e00",
    slots=("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"),
)
DARK: Final = Theme(
    ink="#e6edf3",
    soft="#59636e",
    paper="#0d1117",
    alarm="#ff8534",
    slots=("#56b4e9", "#e69f00", "#00c08b", "#e29cc4", "#f0e442", "#ff8534"),
)
#: stands for a colour that the reader's system decides; no colour of either theme
TOKENS: Final = Theme(
    ink="#fa0001",
    soft="#fa0002",
    paper="#fa0003",
    alarm="#fa0004",
    slots=("#fa0010", "#fa0011", "#fa0012", "#fa0013", "#fa0014", "#fa0015"),
)

DASHES: Final = ("solid", "dashed", "dashdot", "dotted", (0, (5, 1)), (0, (3, 1, 1, 1)))
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
HATCHES: Final = ("", "///", "...", "\\\\\\", "xxx", "---")
SLOTS: Final = len(DASHES)


def named() -> dict[str, tuple[str, str, str]]:
    """Token -> name of its variable, its light and its dark colour."""
    found = {
        getattr(TOKENS, name): (f"--{name}", getattr(LIGHT, name), getattr(DARK, name))
        for name in ("ink", "soft", "paper", "alarm")
    }
    slots = zip(TOKENS.slots, LIGHT.slots, DARK.slots, strict=True)
    return found | {t: (f"--slot{i}", light, dark) for i, (t, light, dark) in enumerate(slots)}
