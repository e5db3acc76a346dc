"""``perfkit gate record``: a baseline, from results or from a benchmark that it runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from uuid import uuid4

import typer

from perfkit.cli import collect_options, options, talk
from perfkit.cli.collect_options import Collection
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.interrupts import terminable
from perfkit.cli.progress import progress
from perfkit.errors import EXIT_INCONCLUSIVE, EXIT_INTERRUPTED, DeviceError, InputError, UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.here import Here
    from perfkit.device.program_run import Program
    from perfkit.gate.baseline_format import Entry
    from perfkit.readers.results import ResultFile

app = new_app()

_NOISY: Final = 5  #: named one by one


@record
class What:
    """Where the runs come from, as typed."""

    cmd: Annotated[
        str | None,
        typer.Option("--cmd", metavar="COMMAND", help="A benchmark program to run, --runs times."),
    ] = None
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", metavar="SPEC", help="The same with what 'perfkit measure' takes."
        ),
    ] = None
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=500, help="Processes to run.")
    ] = 10
    dir: Annotated[Path | None, typer.Option("--dir", metavar="FOLDER", help="Where it runs.")] = (
        None
    )
    here: Annotated[
        bool,
        typer.Option(
            "--here", help="The results were made on this machine: its GPU, driver and toolkit."
        ),
    ] = False
    skip_failed: Annotated[
        bool,
        typer.Option(
            "--skip-failed",
            help="Leave benchmarks out that have no result; if not given nothing is recorded then.",
        ),
    ] = False

    keep_noisy: Annotated[
        bool,
        typer.Option(
            "--keep-noisy",
            help="Record benchmarks with a noise floor above 100%, too; if not given they are left "
            "out, and the exit code is 3.",
        ),
    ] = False

    def program(self, how: Collection) -> Program | None:
        """The program to run; None: results are given."""
        if self.cmd is not None and self.measure is not None:
            raise UsageError("--cmd and --measure: one of them")
        if self.measure is not None:
            return collect_options.measured(self.measure, self.dir)
        return None if self.cmd is None else how.program(self.cmd, "--cmd", self.dir)


@app.command(
    epilog=examples(
        "perfkit gate record results.json -o perfkit-baseline.json",
        "perfkit gate record run-*.json --here -o perfkit-baseline.json",
        "perfkit gate record --cmd './bench {out}' --runs 15 -o perfkit-baseline.json",
        "perfkit gate record --cmd ./bench --metric 'time: (.*) ms' -o base.json",
        "perfkit gate record results.json --history s3://bucket/history",
    )
)
@grouped
def record_baseline(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[RESULT]...", help="Results of benchmarks.")
    ] = None,
    *,
    what: What,
    how: Collection,
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="FOLDER|URL",
            help="Also add the runs to this history: perfkit gate history.",
        ),
    ] = None,
    commit: Annotated[
        str | None,
        typer.Option(
            "--commit",
            metavar="NAME",
            help="That is measured; if not given what CI or git tells.",
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="The same of the branch.")
    ] = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The baseline: perfkit-baseline.json."),
    ] = None,
) -> None:
    """Record a baseline, from results or by running a benchmark.

    It holds runs of unchanged code, where they were made and how much they scatter. An entry is a
    benchmark and metric on one GPU, driver and toolkit: recording again replaces those that are
    measured and leaves the others. The file is replaced as a whole, so that nothing that happens
    meanwhile breaks it. A benchmark whose unchanged runs differ by more than 100% is left out, with
    exit code 3.
    """
    program = what.program(how)
    if output is None and history is None:
        raise UsageError("nowhere to record to", hint="write -o perfkit-baseline.json")
    if bool(paths) is (program is not None):
        raise UsageError(
            "nothing to record" if program is None else "results and a command: one of them",
            hint="name files of results, or write --cmd './bench'",
        )
    from perfkit.gate.baseline import update
    from perfkit.report.views import baseline as view

    _refuse_unwritable(output, history)
    found, machine = _collected(program, what, how) if program else _read(paths or [], what, how)
    every, told = _entries(found, machine, what, commit, branch)
    kept, noisy = _kept(every, output, what)
    try:
        if output is not None:
            update(output, kept)
    finally:  # what one place does not take the other one still gets
        if history is not None:
            _append(history, every, told)
    emit(
        "baseline",
        document=lambda: view.document(kept, output),
        content=lambda: view.content(kept),
        format=format,
        output=None,
    )
    if noisy:
        _tell_noisy(noisy)
        raise typer.Exit(EXIT_INCONCLUSIVE)


def _entries(
    found: ResultFile, machine: Here, what: What, commit: str | None, branch: str | None
) -> tuple[tuple[Entry, ...], str | None]:
    """All that was measured, and its branch."""
    from perfkit.device.commits import commit_here
    from perfkit.gate.baseline import entries_of, without_failed

    told = commit_here(what.dir) | {
        key: value for key, value in (("commit", commit), ("branch", branch)) if value
    }
    about = {**machine.about, **machine.environment, **told}
    if commit:
        found = replace(found, environment={**found.environment, "commit": commit})
    if what.skip_failed:
        found, lost = without_failed(found)
        for one in lost:
            talk.note(f"left out: {one}")
        if not found.runs:
            raise InputError("every benchmark has failed", where=found.origin)
    return entries_of(found, about), told.get("branch")


def _kept(
    entries: tuple[Entry, ...], output: Path | None, what: What
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """What goes into the baseline, and what is wrong with the rest; a history takes everything."""
    from perfkit.gate.baseline import without_noisy

    return (entries, ()) if output is None or what.keep_noisy else without_noisy(entries)


def _tell_noisy(noisy: tuple[str, ...]) -> None:
    for one in noisy[:_NOISY]:
        talk.note(f"left out: {one}")
    if len(noisy) > _NOISY:
        talk.note(f"left out: {len(noisy) - _NOISY} more")
    talk.note(
        "a baseline of them would decide nothing: more runs lower the floor, longer runs and fixed "
        "clocks the noise; --keep-noisy records them as they are"
    )


def _refuse_unwritable(output: Path | None, history: str | None) -> None:
    """Before the program runs, perhaps for hours."""
    from perfkit.gate import baseline, history_file

    if output is not None:
        baseline.ready(output)
    if history is not None:
        history_file.ready(history)


def _append(history: str, entries: tuple[Entry, ...], branch: str | None) -> None:
    from perfkit.gate.history import rows_of
    from perfkit.gate.history_file import append

    rows = rows_of(entries, uuid4().hex, datetime.now(UTC), branch)
    name = append(history, rows)
    talk.note(f"{len(rows)} runs added to {history} as {name}")


def _read(paths: list[Path], what: What, how: Collection) -> tuple[ResultFile, Here]:
    """What is in files of results; of this machine only what perfkit itself is, unless --here."""
    from perfkit.device.here import here
    from perfkit.readers.recognise import read_results

    for option, value in (("--unit", how.unit), ("--results-file", how.results_file)):
        if value is not None:
            raise UsageError(f"{option} is of a program that is run: --cmd")
    found = read_results([*paths], metric=how.metric)
    for note in found.notes:
        talk.note(note)
    machine = here()
    if not what.here:
        own = {key: machine.about[key] for key in ("date", "perfkit", "archdb")}
        return found, replace(machine, about=own, environment={})
    for note in machine.notes:
        talk.note(note)
    return found, machine


def _collected(program: Program, what: What, how: Collection) -> tuple[ResultFile, Here]:
    """Runs of a program, made now.

    Raises:
        DeviceError: a run failed; nothing is recorded.
    """
    from perfkit.device.collect import Side, collect, interruptible, results
    from perfkit.device.here import here
    from perfkit.gate.collected import Attempt

    machine = here()
    for note in machine.notes:
        talk.note(note)
    side = Side(
        "baseline",
        program,
        how.metric_of(program, collect_options.name_of(program)),
        time_limit_s=how.time_limit,
        monitors=machine.monitors,
    )
    attempts: list[Attempt] = []
    with progress("measuring") as tell, terminable(), interruptible() as interrupted:
        for one in collect(side, what.runs, warm_up=how.warm_up, tell=tell):
            attempts.append(one)  # noqa: PERF402 - what is done stays when Ctrl-C comes
    if interrupted:
        talk.note("nothing is recorded")
        raise typer.Exit(EXIT_INTERRUPTED)
    collect_options.tell_left(attempts)
    last = attempts[-1]
    if last.failure is not None:
        collect_options.tell_failure(last)
        raise DeviceError(
            f"{collect_options.which(last)}: {last.failure}",
            where=program.title,
            hint="nothing is recorded: a baseline holds only what was measured",
        )
    for one in attempts:
        if one.throttles and one.number:
            talk.note(f"clocks were held down in run {one.number}: {', '.join(one.throttles)}")
    found = results(attempts, "baseline", machine.environment)
    return replace(found, environment={**found.environment, "command": program.title}), machine
