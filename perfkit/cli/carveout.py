"""``perfkit carveout``: how an SM splits its memory into shared memory and L1."""

from __future__ import annotations

import typer

from perfkit.analysis.carveout import table
from perfkit.cli import options
from perfkit.cli.emit import emit

app = typer.Typer(rich_markup_mode=None)


@app.command(
    epilog="Examples: perfkit carveout -g h100; perfkit carveout -g a100 -t 256 -r 32 -s 20K"
)
def carveout(
    gpu: options.GpuOption = None,
    threads: options.ThreadsOption = None,
    regs: options.RegsOption = None,
    smem: options.SmemOption = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show the capacities a preference leads to, and what each means for a launch.

    With --threads, --regs and --smem: the resident blocks and the L1 left at every capacity.
    """
    block = options.volume(options.dimensions(threads, "--threads")) if threads else None
    found = tuple(
        row
        for target in options.targets(gpu)
        for row in table(
            target, threads=block, regs=regs or 0, smem=options.size(smem, "--smem") or 0
        )
    )
    from perfkit.report.views import carveout as view

    emit(
        "carveout",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
