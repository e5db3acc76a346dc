"""Fields of a record reach Typer as options one by one, and the command as a record."""

from __future__ import annotations

import inspect
from typing import Annotated

import pytest
import typer
from typer.main import get_command

from perfkit.cli.app import COMMANDS, LazyGroup
from perfkit.cli.groups import Without, grouped
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.record import record


@record
class Size:
    width: Annotated[int, typer.Option("--width", "-w")] = 3
    height: Annotated[int | None, typer.Option("--height")] = None
    depth: Annotated[list[str] | None, typer.Option("--depth-of")] = None


def call(command, *arguments):
    app = typer.Typer(add_completion=False)
    app.command()(grouped(command))
    return get_command(app)(args=list(arguments), standalone_mode=False)


def test_a_record_arrives_with_what_was_typed_and_its_defaults():
    seen = []

    def draw(name: Annotated[str, typer.Argument()], *, size: Size, last: bool = False) -> None:
        seen.append((name, size, last))

    call(draw, "box", "-w", "7", "--depth-of", "a", "--depth-of", "b", "--last")
    assert seen == [("box", Size(width=7, height=None, depth=["a", "b"]), True)]


def test_what_is_left_out_is_no_option_and_keeps_its_default():
    seen = []

    def draw(*, size: Annotated[Size, Without("width", "depth")]) -> None:
        seen.append(size)

    call(draw, "--height", "2")
    assert seen == [Size(width=3, height=2)]
    with pytest.raises(Exception, match="No such option"):
        call(draw, "--width", "2")


def test_a_field_that_is_not_there_cannot_be_left_out():
    def draw(*, size: Annotated[Size, Without("weight")]) -> None: ...

    with pytest.raises(TypeError, match="Size has no weight"):
        grouped(draw)


def test_options_stand_where_the_record_stands_and_the_help_is_the_commands():
    def draw(first: int = 1, *, size: Size, last: int = 2) -> None:
        """Draw it."""

    flat = grouped(draw)
    assert list(inspect.signature(flat).parameters) == ["first", "width", "height", "depth", "last"]
    assert flat.__doc__ == "Draw it."


@pytest.mark.parametrize(
    ("group", "options", "commands"),
    [
        (LaunchOptions, {"threads", "regs", "smem"}, {"occupancy", "fits", "recommend"}),
        (KernelOptions, {"include", "compiler"}, {"occupancy", "fits", "recommend", "inspect"}),
    ],
)
def test_commands_with_a_group_have_its_options(group, options, commands):
    assert options <= set(inspect.signature(group).parameters)
    assert commands <= COMMANDS.keys()
    lazy = LazyGroup(name="perfkit")
    for name in commands:
        assert options <= {param.name for param in lazy.get_command(None, name).params}
