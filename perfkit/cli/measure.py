"""``perfkit measure``: kernels timed on the card at hand, against what bounds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.cli import measure_options as mine
from perfkit.cli import options, talk
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.effort_options import Effort, plan_of
from perfkit.cli.emit import emit
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.interrupts import terminable
from perfkit.cli.progress import progress
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from perfkit.device.measure import Item
    from perfkit.device.properties import Device

app = new_app()

#: files that a kernel of the user's comes in: CUDA sources, and descriptions as of ``--spec``
_SOURCES: Final = (".cu", ".cuh")
_SPECS: Final = (".yaml", ".yml")


@app.command(
    epilog=examples(
        "perfkit measure --list",
        "perfkit measure vector_add 'transpose_*' --ceilings h200.json",
        "perfkit measure matmul_tiled --size m=2048,n=2048,k=2048 --threads 128",
        "perfkit measure a.cu --kernel a --grid 64 -t 256 --arg 'x:f32[1<<20]'",
        "perfkit measure --spec scale.yaml",
        "perfkit measure --python bench.py:matmul --flops 137.4G --dtype bf16",
    )
)
@grouped
def measure(
    *,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KERNELS|FILE]",
            help="Kernels of the library, by name or pattern; 'all'; a CUDA source; or a YAML "
            "file as of --spec.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the library.")] = False,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="SIZES", help="Of the kernels: 16M or m=4096,n=4096."),
    ] = None,
    own: mine.OwnKernel,
    effort: Effort,
    ceilings: Annotated[
        Path | None,
        typer.Option(
            "--ceilings",
            metavar="FILE",
            help="Measured ceilings of the cards, in place of data sheets: perfkit ceilings.",
        ),
    ] = None,
    drawing: ChartOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Time kernels on this machine's GPU, against their bounds.

    The library's kernels, your own CUDA source with the arguments that you describe, or Python code
    that launches work. Results are checked; each run is a process of its own with a time limit.
    """
    if list_:
        return _list(names or [], format, output)
    what = [bool(names), own.spec is not None, own.python is not None]
    if sum(what) != 1:
        raise UsageError(
            "nothing to measure" if not any(what) else "kernels, --spec or --python: one of them",
            hint="perfkit measure --list shows the library; 'all' measures it",
        )
    from perfkit.device.items import devices_of
    from perfkit.device.measure import measure as run
    from perfkit.report.views import measure as view
    from perfkit.report.views import measure_content

    drawing.check(is_table=format is options.Format.TABLE, output=output)
    plan = plan_of(effort)
    # what the command line names is read before the card is looked for
    known = mine.ceilings(ceilings)
    asked = _asked(names or [], size, own, effort.cold)
    devices = devices_of(effort.device)
    items = asked(devices)
    with progress("measuring") as tell, terminable():
        report = run(items, devices, plan, ceilings=known, tell=tell)
    emit(
        "measure",
        document=lambda: view.document(report),
        content=lambda: measure_content.content(report),
        format=format,
        output=output,
        chart=drawing,
        measured=True,
    )
    mine.tell_failures(report)
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _list(names: Sequence[str], format: options.Format, output: Path | None) -> None:  # noqa: A002
    from perfkit.device.items import listed
    from perfkit.report.views import measure as view

    found = listed(names)
    emit(
        "measure-list",
        document=lambda: view.list_document(found),
        content=lambda: view.list_content(found),
        format=format,
        output=output,
    )


def _asked(
    names: Sequence[str], size: str | None, own: mine.OwnKernel, cold: bool | None
) -> Callable[[Sequence[Device]], tuple[Item, ...]]:
    """What is asked for; called with the cards it leaves out what they cannot run.

    Raises:
        UsageError, InputError: whatever the cards are.
    """
    from perfkit.device import items

    found = _own(names, size, own, cold)
    if found is not None:
        return lambda _: (found,)
    mine.only(own, None, "a kernel of the library", "threads")
    sizes = mine.sizes(size, own.threads)

    def of_library(devices: Sequence[Device]) -> tuple[Item, ...]:
        those, left_out = items.of_workloads(names, sizes, cold=cold, devices=devices)
        for text in left_out:
            talk.note(text)
        if not those:
            raise UsageError("none of these kernels runs on this card")
        return those

    of_library(())
    return of_library


def _own(
    names: Sequence[str], size: str | None, own: mine.OwnKernel, cold: bool | None
) -> Item | None:
    """Code of the user's; None: kernels of the library."""
    from perfkit.device import items
    from perfkit.device.kernel_file import read

    if own.python is not None:
        mine.only(own, size, "--python", "flops", "bytes", "dtype", "unit")
        flow, moved = mine.work(own)
        return items.of_python(own.python, flow=flow, moved_bytes=moved, cold=cold)
    if own.spec is not None:
        mine.only(own, size, "--spec")
        return items.of_kernel(read(own.spec), cold=cold)
    if not any(name.endswith((*_SOURCES, *_SPECS)) for name in names):
        return None
    if len(names) > 1 or size is not None:
        raise UsageError("a file of yours stands alone, and its sizes are its arguments")
    if names[0].endswith(_SPECS):
        mine.only(own, size, names[0])
        return items.of_kernel(read(Path(names[0])), cold=cold)
    return items.of_kernel(mine.spec(names[0], own), cold=cold)
