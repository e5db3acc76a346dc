"""The command line as data, for the pages of the commands and the man page.

Both are written from what ``perfkit --help`` is made of, so that they cannot say anything else.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import typer

from perfkit.cli.app import app
from perfkit.report import schema as schemas


class Row(NamedTuple):
    """An option or an argument."""

    names: str  #: ``-g, --gpu NAMES``
    help: str


class Command(NamedTuple):
    """A command as typed, or a group of commands."""

    name: str  #: ``perfkit gpu show``
    usage: str
    paragraphs: tuple[str, ...]  #: the first is one sentence
    arguments: tuple[Row, ...]
    options: tuple[Row, ...]
    epilog: dict[str, tuple[str, ...]]  #: ``Examples`` and ``Exit codes``, line by line
    topics: tuple[str, ...]  #: JSON Schemas of what it prints
    members: tuple[Command, ...]  #: of a group

    @property
    def word(self) -> str:
        return self.name.split()[-1]


def program() -> Command:
    """The whole command line."""
    return _described(typer.main.get_command(app), "perfkit", None)


def _described(command: Any, word: str, parent: Any) -> Command:
    context = command.make_context(word, [], parent=parent, resilient_parsing=True)
    rows: dict[str, list[Row]] = {"argument": [], "option": []}
    for one in command.get_params(context):
        if not getattr(one, "hidden", False) and (record := one.get_help_record(context)):
            rows[one.param_type_name].append(Row(*map(_line, record)))
    members = ()
    if hasattr(command, "list_commands"):
        members = tuple(
            _described(command.get_command(context, name), name, context)
            for name in command.list_commands(context)
        )
    return Command(
        name=context.command_path,
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        paragraphs=tuple(map(_line, inspect.cleandoc(command.help or "").split("\n\n"))),
        arguments=tuple(rows["argument"]),
        options=tuple(rows["option"]),
        epilog=dict(_blocks(command.epilog or "")),
        topics=() if members else tuple(_topics(context.command_path)),
        members=members,
    )


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _blocks(epilog: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    r"""Blocks as ``cli.help.block`` writes them: the mark ``\b``, a title, lines."""
    for block in filter(None, epilog.split("\b\n")):
        title, *lines = block.strip().splitlines()
        yield title.rstrip(":"), tuple(line[2:] for line in lines)


def _topics(path: str) -> Iterator[str]:
    """The schemas of what a command writes: of its own name unless ``_TOPICS`` knows better."""
    words = path.split()[1:]
    for topic in _TOPICS.get(" ".join(words), ("-".join(words),)):
        if topic in schemas.topics():
            yield topic


_TOPICS = {
    "arch show": ("arch",),
    "gate check": ("gate",),
    "gate record": ("baseline",),
    "gemm": ("gemm", "gemm-rank", "tuning"),
    "gpu show": ("gpu",),
    "measure": ("measure", "measure-list"),
    "recommend": ("recommend", "tuning"),
}


def walk(command: Command) -> Iterator[Command]:
    """A command and all below it, in the order of the help."""
    yield command
    for one in command.members:
        yield from walk(one)
