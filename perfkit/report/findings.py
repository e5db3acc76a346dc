"""What machines that show findings get: one record each, whatever the format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from perfkit.record import record

#: error: it fails the run; warning: nobody can tell; note: nobody can tell, and it is let through
Level = Literal["none", "note", "warning", "error"]


@record
class Finding:
    """One thing that was checked, passed or not."""

    level: Level
    suite: str  #: what kind of check it belongs to: ``static``, ``timing``
    rule: str  #: code of what was checked: ``registers``
    reason: str  #: code of how it ended: ``over_limit``
    subject: str  #: kernel or benchmark
    title: str  #: subject and rule, in a line
    message: str
    next_step: str | None = None
    file: str | None = None
    line: int | None = None


def place(file: str) -> Path:
    """The file as the viewers know it: relative to where the command runs, if it lies inside."""
    path = Path(file)
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
