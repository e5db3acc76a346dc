"""``perfkit gpu``: the products of the database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perfkit.arch import catalog
from perfkit.cli import options
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.errors import UsageError

app = new_app(
    no_args_is_help=True,
    help="Products: SMs, clocks, memory and peaks.",
    epilog=examples("perfkit gpu show h200", "perfkit gpu compare a100 h100 rtx-4090"),
)


def _complete(incomplete: str) -> list[str]:
    numbers = set(catalog.capability_keys())
    return [name for name in catalog.names() if name.startswith(incomplete) and name not in numbers]


@app.command("list", epilog=examples("perfkit gpu list", "perfkit gpu list --match rtx -f csv"))
def list_(
    match: Annotated[
        str | None,
        typer.Option("--match", metavar="TEXT", help="Only names or capabilities containing this."),
    ] = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """List the products of the database."""
    from perfkit.report.views import gpu as view

    wanted = (match or "").lower()
    found = [
        gpu
        for gpu in catalog.all_gpus()
        if wanted in f"{gpu.key} {gpu.name.lower()} {gpu.compute_capability} {gpu.segment}"
    ]
    if not found:
        raise UsageError(f"no product matches {match!r}", hint="perfkit gpu list shows them all")
    emit(
        "gpu-list",
        document=lambda: view.listing(found),
        content=lambda: view.listing_content(found),
        format=format,
        output=output,
    )


@app.command(epilog=examples("perfkit gpu show h100", "perfkit gpu show rtx-4090 --sources"))
def show(
    gpu: Annotated[str, typer.Argument(autocompletion=_complete, help="h100, rtx-4090, …")],
    sources: Annotated[
        bool, typer.Option("--sources", help="Show where each fact comes from.")
    ] = False,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show everything known of one product, with its peak rates."""
    from perfkit.report.views import gpu as view

    found = catalog.gpu(gpu)
    capability = catalog.capability(str(found.compute_capability))
    emit(
        "gpu",
        document=lambda: view.document(found, capability, with_sources=sources),
        content=lambda: view.content(found, capability),
        format=format,
        output=output,
    )


@app.command(epilog=examples("perfkit gpu compare a100 h100 rtx-4090"))
def compare(
    gpus: Annotated[list[str], typer.Argument(autocompletion=_complete, help="Two or more.")],
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show products side by side: SMs, clocks, memory and dense peaks."""
    from perfkit.report.views import gpu as view

    named = [catalog.gpu(name.strip()) for text in gpus for name in text.split(",")]
    found = list({one.key: one for one in named}.values())
    if len(found) < 2:
        raise UsageError("nothing to compare with", hint="perfkit gpu compare a100 h100")
    pairs = [(one, catalog.capability(str(one.compute_capability))) for one in found]
    emit(
        "gpu-compare",
        document=lambda: view.comparison(pairs),
        content=lambda: {"gpus": [view.content(one, cc) for one, cc in pairs]},
        format=format,
        output=output,
    )


@app.command(
    epilog=examples(
        "perfkit gpu new rtx-6090 --like rtx-5090",
        "perfkit gpu new rtx-6090 --like rtx-5090 -o own/gpu/rtx-6090.yaml",
    )
)
def new(
    key: Annotated[str, typer.Argument(help="Of the new product: rtx-6090.")],
    like: Annotated[
        str,
        typer.Option("--like", metavar="GPU", autocompletion=_complete, help="A similar product."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a new file instead of stdout."),
    ] = None,
) -> None:
    """Print the file of a similar product as a start for a new one.

    'perfkit arch check' then names what is left to replace.
    """
    from perfkit.arch import template
    from perfkit.cli.emit import write

    text = template.product(key, catalog.gpu(like).key)
    if output is None:
        write(text, None)
        return
    if output.name != f"{key}.yaml":
        raise UsageError(f"--output {output}: a product's file is named {key}.yaml")
    try:
        with output.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"--output {output}: exists, and is left as it is") from None
    except OSError as error:
        raise UsageError(f"--output {output}: {error.strerror or error}") from None
