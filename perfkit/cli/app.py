"""The command line: which commands exist, and the one place where errors become exit codes.

Each command lives in its own module, imported only when it runs.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException
from typer.main import get_command
from typer.models import TyperPath

from perfkit import __version__
from perfkit.cli import talk
from perfkit.cli.help import block, examples
from perfkit.errors import (
    EXIT_CODES,
    EXIT_INTERRUPTED,
    CompileError,
    PerfkitError,
    Unavailable,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: command -> its module in ``perfkit.cli``, in the order of ``perfkit --help``
COMMANDS: Final = {
    "occupancy": "occupancy",
    "explore": "explore",
    "sweep": "sweep",
    "carveout": "carveout",
    "inspect": "inspect",
    "fits": "fits",
    "diff": "diff",
    "access": "access",
    "roofline": "roofline",
    "gemm": "gemm",
    "recommend": "recommend",
    "diagnose": "diagnose",
    "latency": "latency",
    "overlap": "overlap",
    "ceilings": "ceilings",
    "measure": "measure",
    "validate": "validate",
    "gate": "gate",
    "report": "report",
    "arch": "arch",
    "gpu": "gpu",
    "doctor": "doctor",
    "schema": "schema",
}

#: how models begin a message about an input that is also an option: ``regs = 256: …``
_INPUT: Final = re.compile(
    r"^(threads|regs|smem|carveout|barriers|grid|cluster|width|tile|warp|instruction|stages"
    r"|swizzle|split_k|top|clock_mhz|elements|per-thread) = "
)


class _NamedPath(TyperPath):
    """A path that is named: ``"$LIBRARY"`` of a script that does not set it is no directory."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("is empty: write the name of a file, or . for this directory", param, ctx)
        return super().convert(value, param, ctx)


def _refuse_nan(kind: Any) -> None:
    """No comparison with a limit is true of it: ``nan`` seconds would be within every limit."""
    plain = kind.convert

    def convert(value: Any, param: Any, ctx: Any) -> Any:
        number = plain(value, param, ctx)
        if isnan(number):
            kind.fail(f"{value!r} is not a number", param, ctx)
        return number

    kind.convert = convert


def _complete(command: Any) -> None:
    """What every command has: the option ``--quiet``; no empty name for a file to read, no NaN."""
    if hasattr(command, "commands"):
        for one in command.commands.values():
            _complete(one)
        return
    for one in command.params:
        if one.param_type_name == "argument" and isinstance(one.type, TyperPath):
            one.type = _NamedPath()
        if one.type.name == "float range":
            _refuse_nan(one.type)
    names = [one.name for one in command.params]
    command.params.insert(
        names.index("output") if "output" in names else len(names),
        TyperOption(
            param_decls=["--quiet", "-q"],
            is_flag=True,
            default=False,
            expose_value=False,
            callback=lambda _context, _option, value: talk.be_quiet(value),
            help="Leave the notes out.",
        ),
    )


class LazyGroup(TyperGroup):
    """Imports a command's module when the command is asked for."""

    modules: ClassVar[Mapping[str, str]] = COMMANDS

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = dict.fromkeys(self.modules)  # only for "did you mean"

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.modules)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in self.modules:
            return None
        module = import_module(f"perfkit.cli.{self.modules[cmd_name]}")
        command = get_command(module.app)
        command.name = cmd_name
        if not isinstance(command, LazyGroup):  # whose commands are completed when asked for
            _complete(command)
        return command

    def invoke(self, ctx: Any) -> Any:
        gc.freeze()  # the modules stay: never look at them again
        gc.enable()
        return super().invoke(ctx)


app = typer.Typer(
    name="perfkit",
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"perfkit {__version__}")
        raise typer.Exit


_EXAMPLES: Final = examples(
    "perfkit occupancy kernel.cu --gpu a100,h100",
    "perfkit occupancy --gpu rtx-4090 --threads 256 --regs 40 --smem 16K",
    "perfkit gpu show h100",
)
_EXIT_CODES: Final = block(
    "Exit codes", *(f"{code:<3} {meaning}" for code, meaning in EXIT_CODES.items())
)


@app.callback(epilog=f"{_EXAMPLES}\n\n{_EXIT_CODES}")
def perfkit(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """GPU occupancy and performance analysis for CUDA kernels, with no GPU needed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises for bad input.

    Without a command it shows the help on stderr and returns 2: a script whose variable with the
    command is empty must not go on as if it had an answer.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an ASCII terminal gets ? instead of a crash
    talk.be_quiet(False)
    try:
        code = _run(None if argv is None else list(argv))
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:
        talk.say("perfkit: interrupted")
    return code


def _run(arguments: list[str] | None) -> int:
    typed = sys.argv[1:] if arguments is None else arguments
    talk.asked(typed)
    # None is not the same: completion comes without arguments
    words = _with_bare_chart(typed) if "--chart" in typed else arguments
    try:
        return int(app(args=words, prog_name="perfkit", standalone_mode=False) or 0)
    except PerfkitError as error:
        return report_error(error)
    except TyperException as error:
        return _refused(error)
    except (OSError, MemoryError) as error:
        return report_error(_of_the_machine(error))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception as error:  # the last resort: say that it is our fault
        if os.environ.get("PERFKIT_DEBUG"):
            raise
        bug = PerfkitError(
            f"internal error: {type(error).__name__}: {error}",
            hint="this is a bug in perfkit; PERFKIT_DEBUG=1 shows where",
        )
        return report_error(bug)


def _with_bare_chart(arguments: Sequence[str]) -> list[str]:
    """``--chart`` at the end, or in front of another option, is ``--chart -``."""
    found: list[str] = []
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        found.append(argument)
        is_bare = following is None or (following.startswith("-") and following != "-")
        if argument == "--chart" and is_bare:
            found.append("-")
    return found


def _of_the_machine(error: OSError | MemoryError) -> PerfkitError:
    """The home directory of --install-completion, a disk that fails, memory that is limited."""
    if isinstance(error, MemoryError):
        return Unavailable("not enough memory", hint="'ulimit -v' shows whether it is limited")
    reason = error.strerror or str(error)
    return UsageError(reason, where=error.filename and str(error.filename))


def _refused(error: TyperException) -> int:
    from perfkit.cli.refused import refused

    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message(), err=True)
        return error.exit_code
    return report_error(refused(error))


def report_error(error: PerfkitError) -> int:
    """Write the error as a person reads it; gives its exit code."""
    if isinstance(error, CompileError) and error.log.strip():
        talk.say(error.log.rstrip())
    # the option as typed; a model does not know that there are options
    message = _INPUT.sub(lambda found: f"--{found[1].replace('_', '-')} ", str(error))
    talk.say(f"perfkit: error: {message}")
    if error.hint:
        talk.say(f"hint: {error.hint}")
    return error.exit_code
