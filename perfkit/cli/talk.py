"""What was asked, and what is said beside the answer, on stderr; ``--quiet`` leaves it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import typer

_QUIET: Final = {"quiet": False}
_SAID: Final[set[str]] = set()
_ASKED: Final[list[str]] = []
_OUTPUT: Final = ("-o", "--output")
#: what moves the cursor, speaks to the terminal or turns directions; lines and tabs may stand
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def be_quiet(quiet: bool) -> None:
    """Whether notes are left out from now on; set anew for every command line."""
    _QUIET["quiet"] = quiet
    _SAID.clear()


def is_quiet() -> bool:
    return _QUIET["quiet"]


def asked(arguments: Sequence[str]) -> None:
    """What was typed after ``perfkit``."""
    _ASKED[:] = arguments


def command_line() -> str:
    """What was typed, ready for a shell, with the GPU that the environment chose.

    Without the file that it is written to: the answer is the same wherever it lies.
    """
    import os
    import shlex

    words = iter(_ASKED)
    kept = [
        word
        for word in words
        if not (word.startswith("--output=") or (word in _OUTPUT and next(words, "")))
    ]
    gpu = os.environ.get("PERFKIT_GPU")
    chosen = [f"PERFKIT_GPU={shlex.quote(gpu)}"] if gpu else []
    return " ".join([*chosen, shlex.join(["perfkit", *kept])])


def note(text: str) -> None:
    """Say ``text``, once: compiling for each of many GPUs finds the same again."""
    if not is_quiet() and text not in _SAID:
        _SAID.add(text)
        say(f"perfkit: note: {text}")


def say(text: str) -> None:
    """One line to stderr; a file's or kernel's name in it must not command the terminal.

    Where stderr takes nothing (a full disk) the exit code is all that is left to tell.
    """
    with suppress(OSError):
        typer.echo(_CONTROL.sub("\ufffd", text), err=True)
