"""Options of the commands that bound a time: data types, clocks, ceilings, products."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.cli import options
from perfkit.cli.quantities import naming
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.units import parse_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfkit.models.roofs import Ceilings

T = TypeVar("T")


def _complete_product(incomplete: str) -> list[str]:
    """Complete the last name of a comma-separated list; a bare capability is no product."""
    head, comma, last = incomplete.rpartition(",")
    numbers = set(catalog.capability_keys())
    known = [name for name in catalog.names() if name not in numbers]
    return [head + comma + name for name in known if name.startswith(last)]


GpuOption = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        "-g",
        metavar="NAMES",
        envvar="PERFKIT_GPU",
        autocompletion=_complete_product,
        help="Product: h100, rtx-4090; several separated by commas; a family (hopper) or 'all' for "
        "all its products; 'device' for the card in this machine.",
    ),
]
DTypeOption = Annotated[
    str | None,
    typer.Option("--dtype", metavar="TYPE", help=f"Type of the operands: {', '.join(DType)}."),
]
AccumulateOption = Annotated[
    str | None,
    typer.Option(
        "--accumulate",
        metavar="TYPE",
        help="Type of the sums; if not given f32, f64 for f64, s32 for integers.",
    ),
]
ClockOption = Annotated[
    float | None,
    typer.Option(
        "--clock-mhz", metavar="MHZ", help="Clock of the SMs instead of the product's own."
    ),
]
CeilingsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--ceilings",
        metavar="FILE",
        help="Measured ceilings of a product, in place of its data sheet; may be repeated. "
        "'perfkit schema ceilings' shows the format.",
    ),
]
TimeOption = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="Measured time, to compare: 8.5456ms or 120us."),
]


def products(text: str | None) -> tuple[tuple[Target, ...], frozenset[str]]:
    """The products of ``--gpu``, and the labels of those that stand there by name.

    Raises:
        UsageError: nothing given, or an empty name between commas.
        UnknownTarget: a name the database does not hold, or a bare capability.
    """
    from perfkit.analysis.products import products as of

    options.targets(text)  # refuses what is no list of names
    found: dict[str, Target] = {}
    named: set[str] = set()
    for name in (part.strip() for part in (text or "").split(",")):
        targets, is_named = of(name, options.targets(name))
        found.update((target.label, target) for target in targets)
        named.update(target.label for target in targets if is_named)
    return tuple(found.values()), frozenset(named)


def answers(
    targets: tuple[Target, ...], named: frozenset[str], ask: Callable[[Target], T]
) -> tuple[list[T], dict[str, str]]:
    """The answer for each product, and why there is none for others.

    A product that was named must answer. One that is only part of a family is left out.

    Raises:
        UsageError: of a product that was named, or of the first one if none answers.
    """
    found: list[T] = []
    errors: dict[str, UsageError] = {}
    for target in targets:
        try:
            found.append(ask(target))
        except UsageError as error:
            if target.label in named:
                raise
            errors[target.label] = error
    if not found:
        raise next(iter(errors.values()))
    reasons = {
        label: error.message.removeprefix(f"{label}: ").removeprefix(f"{label} ")
        for label, error in errors.items()
    }
    return found, reasons


def dtype(text: str | None, option: str) -> DType | None:
    """Read a data type; errors name the option."""
    if text is None:
        return None
    try:
        return DType.parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from None


def required_dtype(text: str | None) -> DType:
    found = dtype(text, "--dtype")
    if found is None:
        raise UsageError("no data type given", hint=f"write --dtype with one of {', '.join(DType)}")
    return found


def seconds(text: str | None) -> float | None:
    """Read ``--time``."""
    return number(text, "--time", parse_seconds)


def number(text: str | None, option: str, read: Callable[[str], float]) -> float | None:
    """Read an amount; errors name the option."""
    if text is None:
        return None
    with naming(option):
        found = read(text)
    if not 0 < found < float("inf"):
        raise UsageError(
            f"{option} {text}: must be greater than 0 and finite",
            hint=f"leave out {option} if there is nothing of it",
        )
    return found


def ceilings(paths: list[Path] | None, targets: tuple[Target, ...]) -> tuple[Ceilings, ...]:
    """Read ``--ceilings``; every file must be about one of the targets.

    Raises:
        InputError: a file that cannot be read, or is no file of ceilings.
        UsageError: one of a product that was not asked about, or two of one product.
    """
    from perfkit.readers.ceilings import read

    found: dict[str, Ceilings] = {}
    for path in paths or ():
        one = read(path)
        if one.gpu in found:
            raise UsageError(f"--ceilings {path}: a second file for {one.gpu}")
        if one.gpu not in {target.label for target in targets}:
            raise UsageError(
                f"--ceilings {path}: they are those of {one.gpu}, which was not asked about",
                hint=f"write --gpu {one.gpu}",
            )
        found[one.gpu] = one
    return tuple(found.values())
