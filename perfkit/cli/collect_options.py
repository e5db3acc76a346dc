"""Options of commands that run benchmark programs: what is run, and where its number is."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from perfkit.cli import talk
from perfkit.errors import UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.device.collect import Metric
    from perfkit.device.program_run import Program
    from perfkit.gate.collected import Attempt

#: a program is named for its script, not for what runs scripts
_INTERPRETERS: Final = ("python", "bash", "sh", "env", "nice", "taskset", "numactl")
_NAME: Final = 60  #: characters of a name that somebody has not chosen


@record
class Collection:
    """As typed."""

    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="REGEX|wall",
            help="Where the number is: a regular expression with one group, over what the program "
            "prints ('time: ([0-9.]+) ms'); 'wall', the time of the process; or, of a file of "
            "results, which metrics.",
        ),
    ] = None
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit", metavar="UNIT", help="Of the number; if not given the word after it."
        ),
    ] = None
    results_file: Annotated[
        str | None,
        typer.Option(
            "--results-file",
            metavar="FILE",
            help="That the program writes its results to, in its folder. {out} in the command is "
            "the name of a temporary one.",
        ),
    ] = None
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="Of the benchmark, where its results have none."
        ),
    ] = None
    shell: Annotated[bool, typer.Option("--shell", help="Commands are lines for the shell.")] = (
        False
    )
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", min=0.01, help="Of each process.")
    ] = 600
    warm_up: Annotated[
        int,
        typer.Option(
            "--warm-up", metavar="N", min=0, max=100, help="First runs that do not count."
        ),
    ] = 1

    def program(self, text: str, option: str, folder: Path | None) -> Program:
        """The program of an option; raises as ``program_run.program``."""
        from perfkit.device.program_run import program

        return program(text, option, shell=self.shell, folder=folder)

    def metric_of(self, program: Program, name: str) -> Metric:
        """Where the numbers of a program are.

        Raises:
            UsageError: options that contradict each other.
        """
        from perfkit.device.collect import WALL, Metric
        from perfkit.readers.program_output import is_about_output, unit_named

        if self.unit is not None:
            unit_named(self.unit)
        if self.results_file is not None and program.writes_out:
            raise UsageError("--results-file and {out}: results are in one file")
        fields: dict[str, Any] = {"benchmark": self.name or name}
        writes = self.results_file is not None or program.writes_out
        if self.metric == WALL:
            fields["wall"] = True
        elif self.metric is not None and not writes and is_about_output(self.metric):
            fields |= {"pattern": self.metric, "unit": self.unit}
        else:
            fields |= {"names": self.metric, "results_file": self.results_file}
        if self.unit is not None and "pattern" not in fields:
            raise UsageError("--unit is of a number in the output: --metric with a group")
        return Metric(**fields)


def name_of(program: Program) -> str:
    """A name for what has none: the script or program, with what is peculiar to the call left out.

    >>> from perfkit.device.program_run import Program
    >>> name_of(Program(words=("python3", "-O", "tools/bench.py", "--fast")))
    'bench.py'
    >>> name_of(Program(words=("./build/bench", "4096")))
    'bench'
    """
    words = program.words[0].split() if program.is_shell else program.words
    names = [Path(word).name for word in words if not word.startswith("-") and "=" not in word]
    own = [name for name in names if not name.rstrip("0123456789.").startswith(_INTERPRETERS)]
    return (own or names or ["benchmark"])[0][:_NAME]


def measured(spec: str, folder: Path | None) -> Program:
    """The call of ``perfkit measure`` that a spec stands for: one process, its results in a file.

    Raises:
        UsageError: nothing, or quotes that do not close.
    """
    from perfkit.device.program_run import OUT, program

    own = f"{shlex.quote(sys.executable)} -m perfkit measure"
    program(spec, "--measure", shell=False, folder=folder)
    line = f"{own} {spec} --runs 1 --format json --output {OUT}"
    return program(line, "--measure", shell=False, folder=folder)


def tell_left(attempts: Sequence[Attempt]) -> None:
    """Say that runs left processes running, which may disturb the runs after them."""
    those = [one for one in attempts if one.left]
    if those:
        many = f"{len(those)} of {len(attempts)} runs left processes behind"
        some = ", ".join(those[0].left[:3])
        talk.note(f"{many}, such as {some}: they may disturb the runs after them")


def tell_failure(one: Attempt) -> None:
    """Say of a run that failed what the verdict does not: its last words, and what would help."""
    if one.log:
        talk.note(f"{which(one)} of the {one.side} printed: {one.log}")
    if one.hint:
        talk.note(one.hint)


def which(one: Attempt) -> str:
    return f"run {one.number}" if one.number else "warm-up"
