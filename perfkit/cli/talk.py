"""What is said beside the answer, on stderr; ``--quiet`` leaves it out."""

from __future__ import annotations

from typing import Final

import typer

_QUIET: Final = {"quiet": False}
_SAID: Final[set[str]] = set()


def be_quiet(quiet: bool) -> None:
    """Whether notes are left out from now on; set anew for every command line."""
    _QUIET["quiet"] = quiet
    _SAID.clear()


def is_quiet() -> bool:
    return _QUIET["quiet"]


def note(text: str) -> None:
    """Say ``text``, once: compiling for each of many GPUs finds the same again."""
    if not is_quiet() and text not in _SAID:
        _SAID.add(text)
        typer.echo(f"perfkit: note: {text}", err=True)
