"""``perfkit latency``: how many warps hide a latency, and whether a launch has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.analysis.latency import WHOLE_GPU, LatencyQuestion, Level
from perfkit.analysis.latency import latency as answer
from perfkit.cli import options, talk
from perfkit.cli.emit import emit
from perfkit.cli.failures import Failures
from perfkit.cli.help import examples, new_app
from perfkit.cli.launch_options import refuse_what_fits_nowhere
from perfkit.cli.quantities import scaled
from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from perfkit.analysis.launch import Launch
    from perfkit.arch.types import Target

app = new_app()


@app.command(
    epilog=examples(
        "perfkit latency -g h100 --level dram --latency-ns 600 --width 16 --ilp 4",
        "perfkit latency -g h100 --latency-ns 600 --width 16 -t 256 -r 64",
        "perfkit latency -g h200,a100 --level l1 --width 16",
        "perfkit latency -g 7.0 --level issue --latency-cycles 4",
    )
)
def latency(
    gpu: options.GpuOption = None,
    level: Annotated[
        Level, typer.Option("--level", help="What is waited for.", show_default=True)
    ] = Level.DRAM,
    latency_ns: Annotated[
        float | None, typer.Option("--latency-ns", metavar="NS", help="The latency in ns.")
    ] = None,
    latency_cycles: Annotated[
        float | None,
        typer.Option("--latency-cycles", metavar="N", help="The latency in cycles of the SM."),
    ] = None,
    width: Annotated[
        int,
        typer.Option("--width", metavar="BYTES", help="Bytes that a thread accesses at once."),
    ] = 4,
    ilp: Annotated[
        int,
        typer.Option(
            "--ilp",
            metavar="N",
            min=1,
            max=10**6,
            help="Accesses of a thread that do not wait for one another.",
        ),
    ] = 1,
    gb_per_s: Annotated[
        float | None,
        typer.Option(
            "--gb-per-s", metavar="N", help="Bandwidth of the level, whole GPU: measured, or of L2."
        ),
    ] = None,
    clock_mhz: Annotated[
        float | None, typer.Option("--clock-mhz", metavar="MHZ", help="Clock of the SMs.")
    ] = None,
    threads: options.ThreadsOption = None,
    regs: options.RegsOption = None,
    smem: options.SmemOption = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show how many warps hide a latency.

    By Little's law: bytes (or instructions) under way = rate x latency. With --threads and --regs
    also the warps that such a launch has, and the share of the peak rate that they can keep up.
    Without a latency that of the database, for products of which it was measured: of one thread
    alone. It grows with load, and depends on the pattern of the accesses.
    """
    if latency_ns is not None and latency_cycles is not None:
        raise UsageError(
            "one latency is enough", hint="write --latency-ns 600 or --latency-cycles 4"
        )
    if threads is None and (regs is not None or smem is not None):
        raise UsageError(
            "--regs and --smem describe a launch: how many threads per block?",
            hint="write --threads 256",
        )
    question = LatencyQuestion(
        level=level,
        latency_s=scaled(latency_ns, "--latency-ns", 1e-9),
        latency_cycles=scaled(latency_cycles, "--latency-cycles", 1.0),
        width_bytes=width,
        ilp=ilp,
        bytes_per_s=scaled(gb_per_s, "--gb-per-s", 1e9),
        clock_hz=scaled(clock_mhz, "--clock-mhz", 1e6),
    )
    targets, named = _targets(gpu, level)
    size = options.size(smem, "--smem") or 0
    refuse_what_fits_nowhere([(target.capability, size) for target in targets], "--smem")
    failures, left_out, found = Failures(), Failures(), []
    for target in targets:
        with (failures if target.label in named else left_out).collected():
            found.append(answer(target, question, _launch(target, threads, regs, size)))
    if not found:
        failures.raise_first()
        left_out.raise_first()
    for text in left_out.summed_up():
        talk.note(f"left out: {text}")
    from perfkit.report.views import latency as view

    emit(
        "latency",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
    failures.report()


def _targets(gpu: str | None, level: Level) -> tuple[tuple[Target, ...], frozenset[str]]:
    """The targets of ``--gpu``, and the labels of those that have to answer, for they are named.

    A family, or ``all``, stands for its products where bandwidths are asked for: a capability has
    none.
    """
    from perfkit.analysis.products import products

    given = options.targets(gpu)
    if level not in WHOLE_GPU:
        return given, frozenset(target.label for target in given)
    found: dict[str, Target] = {}
    named: set[str] = set()
    for name in (part.strip() for part in (gpu or "").split(",")):
        here = options.targets(name)
        try:
            meant, is_named = products(name, here)
        except UnknownTarget:  # a capability by its number, which says itself what it lacks
            meant, is_named = here, True
        found.update((target.label, target) for target in meant)
        named.update(target.label for target in meant if is_named)
    return tuple(found.values()), frozenset(named)


def _launch(target: Target, threads: str | None, regs: int | None, smem: int) -> Launch | None:
    from perfkit.analysis.launch import Launch

    if threads is None:
        return None
    block = options.block_threads(target.capability, threads)
    return Launch(threads=block, regs=regs or 0, smem=smem)
