"""How commands present themselves, all in the same way."""

from __future__ import annotations

from typing import Any

import typer


def new_app(**settings: Any) -> typer.Typer:
    """The Typer object of one command module; ``--install-completion`` is the program's alone."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, **settings)


def examples(*lines: str) -> str:
    """An epilog with one example per line; without the mark they would run into one paragraph."""
    return block("Examples", *lines)


def block(title: str, *lines: str) -> str:
    """Lines that keep their breaks, under a title."""
    return "\b\n" + "\n".join([f"{title}:", *(f"  {line}" for line in lines)])
