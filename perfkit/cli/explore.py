"""``perfkit explore``: a launch that changes under one's fingers, in the terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.cli import options, talk
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.cli.stdout import knows_unicode
from perfkit.errors import NoExtra, PerfkitError, Unavailable

if TYPE_CHECKING:
    from perfkit.explore.state import State

app = new_app()

DTypeOption = Annotated[
    str | None, typer.Option("--dtype", metavar="TYPE", help="Type of the operation's operands.")
]
OpOption = Annotated[
    str | None,
    typer.Option(
        "--op",
        metavar="OPERATION",
        help="Work for the roofline bound, as 'perfkit roofline' takes it: gemm:4096.",
    ),
]


@app.command(
    epilog=examples(
        "perfkit explore -g h100",
        "perfkit explore kernel.cu -g a100",
        "perfkit explore libkernels.so --kernel gemm -g h100 --smem-dynamic 64K",
        "perfkit explore -g rtx-4090 -t 256 -r 40 -s 16K --op gemm:4096 --dtype f16",
    )
)
@grouped
def explore(
    path: Annotated[
        Path | None,
        typer.Argument(help="Any file with kernels; another one can be opened inside."),
    ] = None,
    gpu: options.GpuOption = None,
    *,
    launch: LaunchOptions,
    op: OpOption = None,
    dtype: DTypeOption = None,
    kernels: KernelOptions,
    output: options.OutputOption = None,
) -> None:
    """Explore a launch: change it and see what it does at once.

    Block size, registers, shared memory, carveout, clusters and barriers can be moved with the
    keys; occupancy by both rules, limits, cliffs, the cache split, waves, curves and the bound of
    an operation follow. The options say where it starts. Everything can be done with the keyboard;
    '?' shows the keys. On leaving, the command lines that give the last state are printed.
    """
    _require_textual()
    _require_terminal()
    from perfkit.cli.explore_desk import Desk, start
    from perfkit.explore.ui.app import Explorer

    desk = Desk(kernels)
    state = start(desk, path, gpu, launch)
    talk.be_quiet(True)  # a line on stderr would tear the screen
    begun = replace(state, op=op or "", dtype=dtype or "")
    explorer = Explorer(begun, desk, is_ascii=not knows_unicode())
    last = explorer.run()
    if explorer.return_code:
        raise PerfkitError(
            "internal error in the explorer",
            hint="this is a bug in perfkit; what textual printed above shows where",
        )
    _say_goodbye(last, desk.compiling, output)


def _require_textual() -> None:
    """Raise ``NoExtra`` where the terminal library is not installed."""
    if find_spec("textual") is None:
        raise NoExtra("the explorer needs textual", hint="pip install 'perfkit[explore]'")


def _require_terminal() -> None:
    """Raise ``Unavailable`` where nobody could see or press anything."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise Unavailable(
            "the explorer needs a terminal for its input and output",
            hint="'perfkit occupancy' gives the same answers as text or JSON",
        )


def _say_goodbye(last: State | None, compiling: tuple[str, ...], output: Path | None) -> None:
    """What gives the last state again, where it stays when the explorer is gone."""
    from perfkit.cli.emit import write
    from perfkit.explore.commands import occupancy_command, roofline_command

    if last is None:
        return
    lines = (occupancy_command(last, compiling), roofline_command(last))
    write("".join(f"{line}\n" for line in lines if line is not None), output)
