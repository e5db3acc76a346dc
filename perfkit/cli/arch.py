"""``perfkit arch``: the compute capabilities of the database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perfkit.arch import catalog
from perfkit.cli import options
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.errors import EXIT_NO, UsageError

app = new_app(
    no_args_is_help=True,
    help="Compute capabilities: limits and features.",
    epilog=examples("perfkit arch show 9.0 --sources", "perfkit arch compare 8.0 9.0"),
)

SourcesOption = Annotated[
    bool, typer.Option("--sources", help="Show where each fact comes from, and what conflicts.")
]


def _complete(incomplete: str) -> list[str]:
    return [key for key in catalog.capability_keys() if key.startswith(incomplete)]


@app.command("list", epilog=examples("perfkit arch list", "perfkit arch list -f csv"))
def list_(
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """List every compute capability with its main limits."""
    from perfkit.report.views import arch as view

    found = catalog.all_capabilities()
    emit(
        "arch-list",
        document=lambda: view.listing(found),
        content=lambda: view.listing_content(found),
        format=format,
        output=output,
    )


@app.command(epilog=examples("perfkit arch show 9.0", "perfkit arch show hopper --sources"))
def show(
    capability: Annotated[
        str,
        typer.Argument(autocompletion=_complete, help="9.0 or sm_90; a product: its capability."),
    ],
    sources: SourcesOption = False,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show everything known of one compute capability."""
    from perfkit.report.views import arch as view

    found, product = catalog.capability_of(capability)
    emit(
        "arch",
        document=lambda: view.document(found, product, with_sources=sources),
        content=lambda: view.capability_content(found),
        format=format,
        output=output,
    )


@app.command(
    epilog=examples("perfkit arch compare 8.6 9.0", "perfkit arch compare v100 h100 -f csv")
)
def compare(
    capabilities: Annotated[
        list[str], typer.Argument(autocompletion=_complete, help="Two or more capabilities.")
    ],
    all_facts: Annotated[bool, typer.Option("--all", help="Also what is the same.")] = False,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show what differs between compute capabilities."""
    from perfkit.report.views import arch as view

    targets = options.targets(",".join(capabilities))
    found = list({t.capability.compute_capability: t.capability for t in targets}.values())
    if len(found) < 2:
        raise UsageError("nothing to compare with", hint="perfkit arch compare 8.6 9.0")
    emit(
        "arch-compare",
        document=lambda: view.comparison(found, everything=all_facts),
        content=lambda: view.comparison_content(found, everything=all_facts),
        format=format,
        output=output,
    )


@app.command(epilog=examples("perfkit arch check", "perfkit arch check my-archdb"))
def check(
    directory: Annotated[
        Path | None,
        typer.Argument(help="A database or overlay; default: the shipped one and PERFKIT_ARCHDB."),
    ] = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Audit a database: schema, sources and plausible values.

    Peak rates are held against the published ones. Exit code 1 if there are findings.
    """
    from perfkit.arch import audit, load
    from perfkit.report.views import arch as view

    if directory is not None and not directory.is_dir():
        raise UsageError(f"{directory} is not a directory")
    directories = (directory,) if directory is not None else load.directories()
    files = sum(len(audit.audited_files(one)) for one in directories)
    findings = [finding for one in directories for finding in audit.audit(one)]
    emit(
        "arch-check",
        document=lambda: view.audit_document(files, findings),
        content=lambda: view.audit_content(files, findings),
        format=format,
        output=output,
    )
    if findings:
        raise typer.Exit(EXIT_NO)
