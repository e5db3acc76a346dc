"""``perfkit gate run``: two programs in turn, until it is clear whether one is worse."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.cli import collect_options, talk
from perfkit.cli.collect_options import Collection
from perfkit.cli.gate_output import Output, Report, write
from perfkit.cli.gate_policy import Settings
from perfkit.cli.groups import Without, grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.interrupts import terminable
from perfkit.cli.progress import progress
from perfkit.errors import EXIT_INTERRUPTED, UsageError
from perfkit.gate.collected import Stopped
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perfkit.device.collect import Side
    from perfkit.device.here import Here
    from perfkit.device.program_run import Program
    from perfkit.gate.baseline import Chosen
    from perfkit.gate.collected import Attempt, GateRun
    from perfkit.gate.policy import Policy

app = new_app()

_SIDES: Final = ("baseline", "candidate")


@record
class Sides:
    """What is compared, as typed."""

    baseline_cmd: Annotated[
        str | None,
        typer.Option("--baseline-cmd", metavar="COMMAND", help="The benchmark before the change."),
    ] = None
    candidate_cmd: Annotated[
        str | None,
        typer.Option("--candidate-cmd", metavar="COMMAND", help="The benchmark after it."),
    ] = None
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", "-b", metavar="FILE", help="A recorded one: perfkit gate record."
        ),
    ] = None
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="SPEC",
            help="In place of commands: what 'perfkit measure' takes, run in each folder.",
        ),
    ] = None
    baseline_dir: Annotated[
        Path | None, typer.Option("--baseline-dir", metavar="FOLDER", help="Where it runs.")
    ] = None
    candidate_dir: Annotated[
        Path | None, typer.Option("--candidate-dir", metavar="FOLDER", help="Where it runs.")
    ] = None

    def programs(self, how: Collection) -> tuple[Program | None, Program]:
        """The baseline's, None where it is recorded, and the candidate's.

        Raises:
            UsageError: a side is missing, or there twice.
        """
        if self.measure is not None and self.candidate_cmd is not None:
            raise UsageError("--measure and --candidate-cmd: one of them is the candidate")
        given = [self.baseline_cmd, self.baseline]
        if self.measure is not None:
            candidate = collect_options.measured(self.measure, self.candidate_dir)
            given.append(self.baseline_dir if self.baseline_cmd is None else None)
        elif self.candidate_cmd is not None:
            candidate = how.program(self.candidate_cmd, "--candidate-cmd", self.candidate_dir)
        else:
            raise UsageError(
                "nothing to judge", hint="write --candidate-cmd './bench --flags', or --measure"
            )
        if sum(one is not None for one in given) != 1:
            raise UsageError(
                "what it is compared with: --baseline-cmd or --baseline, one of them",
                hint="--measure with --baseline-dir measures the code of that folder",
            )
        if self.baseline is not None:
            return None, candidate
        if self.baseline_cmd is not None:
            return how.program(self.baseline_cmd, "--baseline-cmd", self.baseline_dir), candidate
        return collect_options.measured(self.measure or "", self.baseline_dir), candidate


@app.command(
    epilog=examples(
        "perfkit gate run --baseline-cmd old/bench --candidate-cmd new/bench",
        "perfkit gate run --baseline-cmd './a {out}' --candidate-cmd './b {out}'",
        "perfkit gate run --baseline-cmd a --candidate-cmd b --metric 'in (.*) ms'",
        "perfkit gate run -b base.json --candidate-cmd ./bench --metric wall",
        "perfkit gate run --measure scale.yaml --baseline-dir main",
    )
)
@grouped
def run(
    *,
    sides: Sides,
    how: Collection,
    most: Annotated[
        int,
        typer.Option("--max-pairs", metavar="N", min=2, max=500, help="No more pairs than these."),
    ] = 30,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget", metavar="SECONDS", min=0, help="No further pair that would not fit in."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help="Of the order in which sides run."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FOLDER",
            help="Write the runs there, after each: baseline.csv, candidate.csv.",
        ),
    ] = None,
    settings: Annotated[Settings, Without("rule", "metric")],
    out: Output,
) -> None:
    """Run two benchmarks in turn and judge whether one is worse.

    Pairs of processes in random order; after each the comparison is asked, and it ends when it can
    tell, or at --max-pairs or --budget. Looking so often does not raise the risk of a false alarm:
    it is shared out among the looks. Ctrl-C keeps what is done. The exit code is 0 if all pass, 1
    if anything fails, 3 if nothing fails and something cannot be told: a run that failed, too.
    """
    from perfkit.device.gate_run import Plan, gate_run
    from perfkit.device.here import here
    from perfkit.report.views import gate_run as view

    policy = settings.read()
    before, after = sides.programs(how)
    machine = here()
    for note in machine.notes:
        talk.note(note)
    candidate = _side("candidate", after, after, how, machine)
    baseline: Side | Chosen = (
        _stored(sides.baseline or Path(), machine, policy.timing)
        if before is None
        else _side("baseline", before, after, how, machine)
    )
    plan = Plan(
        policy=policy.timing,
        seed=random.SystemRandom().randrange(10**6) if seed is None else seed,
        most=most,
        budget_s=budget,
        warm_up=how.warm_up,
        environment=machine.environment,
    )
    kept = _keeper(keep, before is None)
    with progress("measuring") as tell, terminable():
        done = gate_run(plan, baseline, candidate, tell=tell, keep=kept)
    _say(done)
    found = policy.outcome((), done.verdicts)
    report = Report(
        topic="gate-run",
        document=lambda: view.document(found, done),
        content=lambda: view.content(found, done),
    )
    try:
        write(found, policy.on_inconclusive, out, report)
    except typer.Exit:
        if done.stopped is not Stopped.INTERRUPTED:
            raise
    if done.stopped is Stopped.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)


def _side(name: str, program: Program, candidate: Program, how: Collection, machine: Here) -> Side:
    """A side; what has no name of its own is called after the candidate, on both."""
    from perfkit.device.collect import Side

    return Side(
        name,
        program,
        how.metric_of(program, collect_options.name_of(candidate)),
        time_limit_s=how.time_limit,
        monitors=machine.monitors,
    )


def _stored(path: Path, machine: Here, policy: Policy) -> Chosen:
    """What is recorded for this machine, if the threshold suits its noise."""
    from perfkit.files import shown
    from perfkit.gate.baseline import chosen, load
    from perfkit.gate.noise_floor import refuse_below_floor

    found = chosen(load(path), shown(path), machine.environment)
    told = next((one.environment["gpu"] for one in found.files if "gpu" in one.environment), None)
    if told is not None and "gpu" not in machine.environment:
        talk.note(f"the baseline is of {told}; whether this is the same cannot be told here")
    refuse_below_floor(found.floors, policy)
    return found


def _keeper(folder: Path | None, is_stored: bool) -> Callable[[Sequence[Attempt]], None]:
    """Writes the runs so far, a file for each side."""
    if folder is None:
        return lambda _: None
    from perfkit import durable
    from perfkit.device.collect import results
    from perfkit.report.runs_csv import render

    with durable.writable(folder):
        folder.mkdir(parents=True, exist_ok=True)

    def keep(attempts: Sequence[Attempt]) -> None:
        for side in _SIDES[is_stored:]:
            found = results(attempts, side, {})
            if not found.runs:
                continue
            try:
                durable.replace(folder / f"{side}.csv", render(found.runs).encode())
            except UsageError as error:  # a full disk must not cost the runs that are done
                talk.note(f"not kept: {error}")

    return keep


def _say(done: GateRun) -> None:
    for note in done.notes:
        talk.note(note)
    collect_options.tell_left(done.attempts)
    for one in done.attempts:
        if one.failure is not None:
            collect_options.tell_failure(one)
