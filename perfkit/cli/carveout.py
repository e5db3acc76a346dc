"""``perfkit carveout``: how an SM splits its memory into shared memory and L1."""

from __future__ import annotations

from perfkit.analysis.carveout import Outcome, Setting, outcome, table
from perfkit.cli import options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.launch_options import refuse_what_fits_nowhere
from perfkit.errors import UsageError

app = new_app()


@app.command(
    epilog=examples(
        "perfkit carveout -g h100", "perfkit carveout -g a100 -t 256 -r 32 -s 20K --chart"
    )
)
@grouped
def carveout(
    gpu: options.GpuOption = None,
    threads: options.ThreadsOption = None,
    regs: options.RegsOption = None,
    smem: options.SmemOption = None,
    *,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show how an SM splits its memory into shared memory and L1.

    One line per capacity and the preferences that lead to it. With --threads, --regs and --smem
    also the resident blocks of that launch, the L1 that is left, and which preference to set.
    """
    if threads is None and (regs is not None or smem is not None):
        raise UsageError(
            "--regs and --smem describe a launch: how many threads per block?",
            hint="write --threads 256",
        )
    if threads is not None and regs is None:
        raise UsageError(
            "no register count given",
            hint="write --regs 40, or --regs 0 if they do not limit",
        )
    targets = options.targets(gpu)
    size = options.size(smem, "--smem") or 0
    refuse_what_fits_nowhere([(target.capability, size) for target in targets], "--smem")
    found: list[Setting] = []
    outcomes: list[Outcome] = []
    for target in targets:
        block = None if threads is None else options.block_threads(target.capability, threads)
        found += table(target, threads=block, regs=regs or 0, smem=size)
        if block is not None:
            outcomes.append(outcome(target, threads=block, regs=regs or 0, smem=size))
    from perfkit.report.views import carveout as view

    emit(
        "carveout",
        document=lambda: view.document(found, outcomes),
        content=lambda: view.content(found, outcomes),
        format=format,
        output=output,
        chart=drawing,
    )
