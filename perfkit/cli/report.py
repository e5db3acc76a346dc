"""``perfkit report``: one HTML page from any results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perfkit.cli import options, talk
from perfkit.cli.emit import write
from perfkit.cli.failures import Failures
from perfkit.cli.help import examples, new_app
from perfkit.cli.stdout import knows_unicode

app = new_app()


@app.command(
    epilog=examples(
        "perfkit report occupancy.json roofline.json -o report.html",
        "perfkit report results/*.json --title 'Nightly' -o report.html",
    )
)
def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT.json...", help="What '-f json -o FILE' of any command wrote."
        ),
    ],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Heading of the page.")
    ] = "perfkit report",
    output: options.OutputOption = None,
) -> None:
    """Make one HTML page of any results.

    Summary, tables to sort and filter, charts, the facts behind them with their sources, and how
    to repeat it, in one file that needs nothing beside it. Charts need the extra 'plot'.

    Files that cannot be read are named on the page and on stderr, and the exit code is 2.
    """
    from perfkit.report.page import page
    from perfkit.report.page.results import load

    failures = Failures()
    found = []
    for path in dict.fromkeys(results):
        with failures.collected():
            found.append(load(path))
    if not found:
        failures.raise_first()
    text, missing = page.render(found, title=title, failed=failures.texts())
    if output is None and not knows_unicode():
        # the page says that it is UTF-8, of which ASCII is a part
        text = text.encode("ascii", "xmlcharrefreplace").decode()
    if missing:
        talk.note(f"without charts: {missing}")
    write(text, output)
    failures.report()
