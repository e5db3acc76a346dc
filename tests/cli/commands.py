"""Every command and group of the program, as Typer has them."""

from __future__ import annotations

import typer

from perfkit.cli.app import app


def walk(command, name=(), context=None):
    """Every command and group, by what one types."""
    context = context or typer.Context(command)
    found = {name: command}
    if hasattr(command, "list_commands"):
        for child in command.list_commands(context):
            found |= walk(command.get_command(context, child), (*name, child))
    return found


COMMANDS = walk(typer.main.get_command(app))
