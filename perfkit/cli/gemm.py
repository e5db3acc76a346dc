"""``perfkit gemm``: tiles of a matrix product, one by one or ranked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.analysis.gemm import GemmQuestion, ask
from perfkit.analysis.gemm_best import estimate_or_best
from perfkit.analysis.roofline import RooflineQuestion
from perfkit.cli import bound_options, options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.tuning_options import TuneOptions, present, refuse_unmeasured, tune
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from perfkit.analysis.gemm import GemmEstimate
    from perfkit.analysis.tuning import Tuning
    from perfkit.arch.types import Target
    from perfkit.device.tuning import Try

app = new_app()

_WHOLE: Final = re.compile(r"[0-9]{1,18}")


@app.command(
    epilog=examples(
        "perfkit gemm -g h100 --shape 4096 --dtype f16 --chart",
        "perfkit gemm -g t4 --shape 4096 --dtype f16 --tile 64x64x32 --warp 32x32x32",
        "perfkit gemm -g h100 --shape 16x8192x8192 --dtype bf16 --rank --chart",
        "perfkit gemm -g device --shape 4096 --dtype bf16 --measure",
    )
)
@grouped
def gemm(
    gpu: bound_options.GpuOption = None,
    regs: Annotated[
        int | None,
        typer.Option("--regs", "-r", metavar="N", help="Registers per thread, if known."),
    ] = None,
    cluster: options.ClusterOption = None,
    shape: Annotated[
        str | None,
        typer.Option("--shape", metavar="MxNxK", help="Sizes of the product; one number for all."),
    ] = None,
    dtype: bound_options.DTypeOption = None,
    accumulate: bound_options.AccumulateOption = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="TYPE", help="Type of the result.")
    ] = None,
    tile: Annotated[
        str | None, typer.Option("--tile", metavar="MxNxK", help="Tile of a block.")
    ] = None,
    warp: Annotated[
        str | None, typer.Option("--warp", metavar="MxNxK", help="Tile of a warp.")
    ] = None,
    instruction: Annotated[
        str | None,
        typer.Option(
            "--instruction",
            metavar="MxNxK",
            help="Matrix instruction: 16x8x16, 64x256x16 (wgmma); if not given that of a warp.",
        ),
    ] = None,
    stages: Annotated[
        int | None,
        typer.Option(
            "--stages",
            metavar="N",
            help="Slices of k in shared memory; if not given 3, or 2 before 8.0.",
        ),
    ] = None,
    split_k: Annotated[
        int | None, typer.Option("--split-k", metavar="N", help="Blocks that share a tile's k.")
    ] = None,
    stream_k: Annotated[
        bool, typer.Option("--stream-k", help="Every SM gets the same number of k steps.")
    ] = False,
    swizzle: Annotated[
        int, typer.Option("--swizzle", metavar="N", help="Width of the bands of tiles.")
    ] = 1,
    rank: Annotated[
        bool, typer.Option("--rank", help="Compare all tilings and list the best.")
    ] = False,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="With --rank: how many to list.")
    ] = 10,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Build the best-ranked tilings, run them here and list the fastest."
        ),
    ] = False,
    clock_mhz: bound_options.ClockOption = None,
    ceilings: bound_options.CeilingsOption = None,
    *,
    tuning: TuneOptions,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Bound a matrix product with the tiles that compute it.

    Threads, shared memory, registers, occupancy, waves, traffic of each memory level, and the
    least time with them. Without --tile the best-ranked tiling; --rank lists all that are tied
    with it, --measure tries them.
    """
    _refuse_what_excludes(tile, warp, stream_k=stream_k, split_k=split_k)
    if not measure:
        refuse_unmeasured(tuning, "write --measure, on a machine with the GPU")
    targets, named = bound_options.products(gpu)
    m, n, k = _sizes(shape, "--shape", cube=True) or _missing("--shape 4096x4096x4096")
    question = GemmQuestion(
        m=m,
        n=n,
        k=k,
        roofs=RooflineQuestion(
            dtype=bound_options.required_dtype(dtype),
            accumulate=bound_options.dtype(accumulate, "--accumulate"),
            clock_mhz=clock_mhz,
            ceilings=bound_options.ceilings(ceilings, targets),
        ),
        out=bound_options.dtype(out, "--out"),
        swizzle=swizzle,
        regs=regs,
        instruction=_sizes(instruction, "--instruction"),
    )
    if rank or measure:
        of_a_tile = {"tile": tile, "warp": warp, "instruction": instruction, "stages": stages,
                     "cluster": cluster, "split-k": split_k, "stream-k": stream_k or None,
                     "regs": regs}  # fmt: skip
        _refuse_with_rank(of_a_tile)
        if measure:
            drawing.check(is_table=format is options.Format.TABLE, output=output)
            _measure(targets, question, tuning, format, output, drawing)
            return
        _rank(targets, named, question, top, format, output, drawing)
        return
    sizes = (_sizes(tile, "--tile"), _sizes(warp, "--warp"), stages, _cluster(cluster))
    split = 0 if stream_k else 1 if split_k is None else split_k
    found, left_out = bound_options.answers(
        targets, named, lambda target: estimate_or_best(target, question, *sizes, split)
    )
    _emit(found, left_out, format, output, drawing)


def _emit(
    found: Sequence[GemmEstimate],
    left_out: Mapping[str, str],
    format: options.Format,  # noqa: A002
    output: Path | None,
    drawing: ChartOptions,
) -> None:
    from perfkit.report.views import gemm as view
    from perfkit.report.views import gemm_content

    emit(
        "gemm",
        document=lambda: view.document(found, left_out),
        content=lambda: gemm_content.content(found, left_out),
        format=format,
        output=output,
        chart=drawing,
    )


def _rank(
    targets: tuple[Target, ...],
    named: frozenset[str],
    question: GemmQuestion,
    top: int,
    format: options.Format,  # noqa: A002
    output: Path | None,
    drawing: ChartOptions,
) -> None:
    from perfkit.analysis.gemm_rank import rank
    from perfkit.report.views import gemm_rank as view

    found, left_out = bound_options.answers(
        targets, named, lambda target: rank(target, question, limit=top)
    )
    emit(
        "gemm-rank",
        document=lambda: view.document(found, left_out),
        content=lambda: view.content(found, left_out),
        format=format,
        output=output,
        chart=drawing,
    )


def _measure(
    targets: tuple[Target, ...],
    question: GemmQuestion,
    tuning: TuneOptions,
    format: options.Format,  # noqa: A002
    output: Path | None,
    drawing: ChartOptions,
) -> None:
    for target in targets:
        ask(target, question)  # what nothing can have is told before a card is asked for
    device, here = present(targets)

    def work(how: Try) -> Tuning:
        from perfkit.device.tuning import tune_gemm

        return tune_gemm(device, here, question, how)

    tune(
        work,
        tuning,
        ceilings=question.roofs.ceilings,
        format=format,
        output=output,
        drawing=drawing,
    )


def _refuse_what_excludes(
    tile: str | None, warp: str | None, *, stream_k: bool, split_k: int | None
) -> None:
    if (tile is None) != (warp is None):
        raise UsageError(
            "--tile and --warp belong together",
            hint="write --tile 128x128x32 --warp 64x64x32, or neither for the best tiling",
        )
    if stream_k and split_k is not None:
        raise UsageError("--stream-k and --split-k exclude each other")
    if split_k == 0:
        raise UsageError("--split-k 0: at least one block computes a tile", hint="--stream-k")


def _refuse_with_rank(of_a_tile: Mapping[str, object]) -> None:
    """What a ranking would pass over in silence."""
    names = " and ".join(f"--{name}" for name, value in of_a_tile.items() if value is not None)
    if names:
        raise UsageError("--rank compares all tilings", hint=f"leave out {names}")


def _missing(example: str) -> tuple[int, int, int]:
    raise UsageError("no shape of a matrix product given", hint=f"write {example}")


def _sizes(text: str | None, option: str, *, cube: bool = False) -> tuple[int, int, int] | None:
    """Read ``128x128x32``."""
    if text is None:
        return None
    parts = [part.strip() for part in text.lower().split("x")]
    if cube and len(parts) == 1:
        parts *= 3
    if len(parts) != 3 or not all(_WHOLE.fullmatch(part) for part in parts):
        raise UsageError(
            f"{option} {text!r}: not three whole numbers", hint=f"write {option} 128x128x32"
        )
    m, n, k = map(int, parts)
    return m, n, k


def _cluster(text: str | None) -> tuple[int, int]:
    if text is None:
        return 1, 1
    m, n, rest = options.dimensions(text, "--cluster")
    if rest != 1:
        raise UsageError(f"--cluster {text}: blocks along m and n only", hint="write --cluster 2x1")
    return m, n
