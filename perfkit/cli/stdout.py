"""What stdout can show."""

from __future__ import annotations

import os
import sys


def knows_unicode() -> bool:
    """Whether stdout takes lines, blocks and Greek letters."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().startswith("utf")


def is_colour_terminal() -> bool:
    """Whether stdout is a terminal that may get colours, lines and a fixed width."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and knows_unicode()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
