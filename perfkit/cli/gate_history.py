"""``perfkit gate history``: runs over many commits, and the commits that changed them."""

from __future__ import annotations

from typing import Annotated

import typer

from perfkit.cli import options, talk
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.cli.quantities import share
from perfkit.errors import EXIT_INCONCLUSIVE, EXIT_NO, UsageError
from perfkit.gate.history import CommitOrder

app = new_app()


@app.command(
    epilog=examples(
        "perfkit gate history history/",
        "perfkit gate history history/ --benchmark '^gemm' --commits",
        "perfkit gate history history/ --order git",
        "perfkit gate history s3://bucket/history --last 200 -f json",
    )
)
def history(
    where: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER|URL", help="A history: perfkit gate record --history writes it."
        ),
    ],
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", metavar="REGEX", help="Only those whose name contains it."),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            "--branch",
            metavar="NAME",
            help="Of several; if not given main, or the one with most runs.",
        ),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option("--last", metavar="N", min=1, help="Only so many commits, the newest."),
    ] = None,
    order: Annotated[
        CommitOrder,
        typer.Option(
            "--order",
            help="Of commits: as they were added; by the dates of their first runs; or by the git "
            "repository of this directory, parents before their children.",
        ),
    ] = CommitOrder.ADDED,
    least: Annotated[
        str,
        typer.Option("--min-change", metavar="SHARE", help="Changes under this are left out."),
    ] = "0.5%",
    commits: Annotated[bool, typer.Option("--commits", help="Also list every commit.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Exit code 1 where the last change of a benchmark is for the worse; 3 where none "
            "has commits enough to tell.",
        ),
    ] = False,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show benchmarks over commits, and which commit changed them.

    Each commit counts with the median of its runs. A change is one that lasts: the ranks of commits
    before and after it are compared at every place, so that bad nights, outliers and two modes
    raise no alarm; in less than 1 % of series without a change one is found. Commits are in the
    order in which they were added to the history, whatever the clock said; it is said where dates
    tell another one.
    """
    from perfkit.gate.history import history as analysed
    from perfkit.gate.history_file import load
    from perfkit.report.views import gate_history as view

    least_change = share(least, "--min-change")
    rows, notes = load(where)
    for note in notes:
        talk.note(note)
    found = analysed(
        rows,
        benchmark=benchmark,
        branch=branch,
        last=last,
        least=least_change,
        by_date=order is CommitOrder.DATE,
        places=_places({row.commit for row in rows} - {""}) if order is CommitOrder.GIT else None,
    )
    emit(
        "gate-history",
        document=lambda: view.document(found, commits=commits),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
    if check:
        if any(trace.steps and trace.steps[-1].worse for trace in found.traces):
            raise typer.Exit(EXIT_NO)
        if not any(trace.enough for trace in found.traces):
            raise typer.Exit(EXIT_INCONCLUSIVE)


def _places(names: set[str]) -> dict[str, int]:
    """Of commits in the repository here; those that it does not have are said.

    Raises:
        UsageError: there is none, or it has none of them.
    """
    from perfkit.device.commits import places

    found = places(names)
    if not found:
        raise UsageError(
            "--order git: there is no git repository here"
            if found is None
            else "--order git: the repository here has none of the commits",
            hint="run it in the repository that was measured (fetched with its history), or leave "
            "--order out",
        )
    if lost := len(names) - len(found):
        talk.note(
            f"{lost} of {len(names)} commits are not in this repository: each stays behind "
            "the one that was added before it"
        )
    return found
