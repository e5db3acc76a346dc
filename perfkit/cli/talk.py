"""What is said beside the answer, on stderr; ``--quiet`` leaves it out."""

from __future__ import annotations

from typing import Final

import typer

_QUIET: Final = {"quiet": False}


def be_quiet(quiet: bool) -> None:
    """Whether notes are left out from now on; set anew for every command line."""
    _QUIET["quiet"] = quiet


def is_quiet() -> bool:
    return _QUIET["quiet"]


def note(text: str) -> None:
    if not is_quiet():
        typer.echo(f"perfkit: note: {text}", err=True)
