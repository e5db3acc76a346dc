"""``perfkit sweep``: occupancy over ranges of every input."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from perfkit.cli import options
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.emit import emit, replacing, stdout
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.launch_options import refuse_what_fits_nowhere
from perfkit.errors import UsageError
from perfkit.models.launch import check
from perfkit.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from perfkit.arch.types import Target

app = new_app()

#: more rows than anybody reads; CSV and Parquet have no limit
_READABLE_ROWS: Final = 100_000


class RuleName(StrEnum):
    DRIVER = "driver"
    HARDWARE = "hardware"


class SweepFormat(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


@app.command(
    epilog=examples(
        "perfkit sweep -g h100 -t 64:1024:64 -r 32,64,128 --chart",
        "perfkit sweep -g 8.6,9.0 -t 256 -r 40 -s 0:96K:1K -f csv -o out.csv",
        "perfkit sweep -g h100 -s 0:227K:1K --carveout 50% --occupancy-rule hardware",
    )
)
@grouped
def sweep(
    gpu: options.GpuOption = None,
    threads: Annotated[
        str,
        typer.Option(
            "--threads", "-t", metavar="RANGE", help="Block sizes: 256, 64,128 or 32:1024:32."
        ),
    ] = "32:1024:32",
    regs: Annotated[
        str,
        typer.Option(
            "--regs", "-r", metavar="RANGE", help="Registers per thread: 40, 32,64 or 16:255:8."
        ),
    ] = "32",
    smem: Annotated[
        str,
        typer.Option(
            "--smem", "-s", metavar="RANGE", help="Bytes per block: 0, 16K,48K or 0:96K:1K."
        ),
    ] = "0",
    carveout: Annotated[
        str,
        typer.Option(
            "--carveout", metavar="SHARES", help="Preferences: default, 0%,50%,100% or 64KiB."
        ),
    ] = "default",
    barriers: options.BarriersOption = None,
    occupancy_rule: Annotated[
        RuleName,
        typer.Option(
            "--occupancy-rule", help="As NVIDIA's occupancy API, or as the hardware does it."
        ),
    ] = RuleName.DRIVER,
    format: Annotated[SweepFormat, options.FORMAT] = SweepFormat.TABLE,  # noqa: A002
    *,
    drawing: ChartOptions,
    output: options.OutputOption = None,
) -> None:
    """Compute occupancy over ranges of launch configurations.

    All combinations of GPUs, block sizes, registers, shared memory and carveout, one row each.
    A range first:last:step includes its last value. Rows are in the order of the options, the
    last one varying fastest; carveout_percent -1 means no preference.
    """
    targets = options.targets(gpu)
    axes = {
        "threads": _range(threads, "--threads", _whole),
        "regs": _range(regs, "--regs", _whole),
        "smem": _range(smem, "--smem", parse_bytes),
    }
    percents = _carveouts(targets, carveout)
    _refuse_the_impossible(targets, axes, barriers)
    from perfkit.analysis import frame

    pieces = frame.pieces(
        targets,
        **axes,
        carveout=percents,
        barriers=1 if barriers is None else barriers,
        rule=occupancy_rule.value,
    )
    rows = len(targets) * math.prod(map(len, axes.values())) * len(percents)
    if drawing.chart is not None and format in {SweepFormat.CSV, SweepFormat.PARQUET}:
        raise UsageError(f"--chart goes with a table, not with {format} of any length")
    if format is SweepFormat.CSV:
        _write_csv(pieces, output)
    elif format is SweepFormat.PARQUET:
        _write_parquet(pieces, output)
    elif rows > _READABLE_ROWS:
        raise UsageError(f"{rows} rows", hint="write them to a file: -f csv or -f parquet, and -o")
    else:
        _emit(pieces, format, output, drawing)


def _refuse_the_impossible(
    targets: tuple[Target, ...], axes: dict[str, Sequence[int]], barriers: int | None
) -> None:
    """Raise ``InvalidLaunch`` for values that no launch on any of the targets can have."""
    for target in targets:
        for end in (min, max):
            check(
                target.capability,
                end(axes["threads"]),
                end(axes["regs"]),
                0,
                None,
                1 if barriers is None else barriers,
                0,
            )
    # of several sizes those that fit nowhere are rows with no block
    smallest = min(axes["smem"])
    refuse_what_fits_nowhere([(target.capability, smallest) for target in targets], "--smem")


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise UsageError(f"{text!r} is not a whole number")
    return int(text)


def _range(text: str, option: str, read: Callable[[str], int]) -> Sequence[int]:
    """Read ``a``, ``a,b`` and ``first:last:step``, and mixtures: ends included, each value once."""
    values: list[int] = []
    for part in text.split(","):
        try:
            numbers = [read(number.strip()) for number in part.split(":")]
        except UsageError as error:
            raise UsageError(f"{option} {text!r}: {error.message}", hint=error.hint) from None
        if len(numbers) == 1:
            values += numbers
        elif len(numbers) <= 3 and numbers[-1] > 0 and numbers[0] <= numbers[1]:
            step = numbers[2] if len(numbers) == 3 else 1
            if (numbers[1] - numbers[0]) // step > 10**7:
                raise UsageError(f"{option} {part!r}: too many values", hint="use a larger step")
            values += range(numbers[0], numbers[1] + 1, step)
        else:
            raise UsageError(f"{option} {part!r}: not a range", hint="write first:last:step")
    return list(dict.fromkeys(values))


def _carveouts(targets: tuple[Target, ...], text: str) -> list[int]:
    """Percentages, -1 for none; a size must mean the same percentage on every target."""
    percents = []
    for part in (one.strip() for one in text.split(",")):
        found = {options.carveout_percent(target.capability, part) for target in targets}
        if len(found) > 1:
            raise UsageError(
                f"--carveout {part} is another share on each GPU", hint="write a percentage"
            )
        (percent,) = found
        percents.append(-1 if percent is None else percent)
    return list(dict.fromkeys(percents))


def _write_csv(pieces: Iterator[pd.DataFrame], output: Path | None) -> None:
    if output is None:
        with stdout() as stream:
            _stream_csv(pieces, stream)
        return
    with replacing(output) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        _stream_csv(pieces, stream)


def _stream_csv(pieces: Iterator[pd.DataFrame], stream: TextIO) -> None:
    for number, piece in enumerate(pieces):
        piece.to_csv(stream, index=False, header=number == 0, lineterminator="\n")


def _write_parquet(pieces: Iterator[pd.DataFrame], output: Path | None) -> None:
    if output is None:
        raise UsageError("Parquet is binary", hint="name a file: --output sweep.parquet")
    from perfkit.report import parquet

    with replacing(output) as partial:
        parquet.write(pieces, partial)


def _emit(
    pieces: Iterator[pd.DataFrame],
    format: SweepFormat,  # noqa: A002
    output: Path | None,
    drawing: ChartOptions,
) -> None:
    from perfkit.report.views import sweep as view

    rows: list[dict[Any, Any]] = [row for piece in pieces for row in piece.to_dict("records")]
    emit(
        "sweep",
        document=lambda: view.document(rows),
        content=lambda: view.content(rows),
        format=options.Format(format.value),
        output=output,
        chart=drawing,
    )
