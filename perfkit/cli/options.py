"""Options that mean the same in every command, and how their text is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from perfkit import durable
from perfkit.arch import catalog
from perfkit.arch.types import Capability, Target
from perfkit.cli.quantities import naming
from perfkit.errors import InvalidLaunch, UnknownTarget, UsageError
from perfkit.units import format_bytes, parse_bytes, parse_elements

PRESENT_DEVICE: Final = "device"


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def _complete_gpu(incomplete: str) -> list[str]:
    """Complete the last name of a comma-separated list."""
    head, comma, last = incomplete.rpartition(",")
    return [head + comma + name for name in catalog.names() if name.startswith(last)]


class DefaultGpu(str):
    """The value of ``PERFKIT_GPU``: what to take where nothing is asked for, not a request."""

    __slots__ = ()


def _gpu(context: typer.Context, value: str | None) -> str | None:
    source = context.get_parameter_source("gpu")
    is_default = source is not None and source.name == "ENVIRONMENT"
    return DefaultGpu(value) if value is not None and is_default else value


GpuOption = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        "-g",
        metavar="NAMES",
        envvar="PERFKIT_GPU",
        autocompletion=_complete_gpu,
        callback=_gpu,
        help="Product, capability or family: h100, 9.0, sm_90a, hopper; several separated by "
        "commas; 'all'; 'device' for the card in this machine.",
    ),
]
ThreadsOption = Annotated[
    str | None,
    typer.Option("--threads", "-t", metavar="X[,Y,Z]", help="Threads per block: 256 or 32,8."),
]
RegsOption = Annotated[
    int | None,
    typer.Option("--regs", "-r", metavar="N", help="Registers per thread; 0: they do not limit."),
]
SmemOption = Annotated[
    str | None,
    typer.Option(
        "--smem",
        "-s",
        metavar="SIZE",
        help="Shared memory per block, static + dynamic: 4096 or 48K.",
    ),
]
StaticOption = Annotated[
    str | None,
    typer.Option("--smem-static", metavar="SIZE", help="Static shared memory per block."),
]
DynamicOption = Annotated[
    str | None,
    typer.Option("--smem-dynamic", metavar="SIZE", help="Dynamic shared memory per block."),
]
CarveoutOption = Annotated[
    str | None,
    typer.Option(
        "--carveout",
        metavar="SHARE",
        help="Preferred shared memory of the SM: 50%, 64KiB, max or default.",
    ),
]
BarriersOption = Annotated[
    int | None,
    typer.Option("--barriers", metavar="N", help="Named barriers per block; 1 if not known."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="X[,Y,Z]", help="Blocks per cluster: 4 or 2,2."),
]
GridOption = Annotated[
    str | None,
    typer.Option("--grid", metavar="X[,Y,Z]", help="Blocks in the grid: 512 or 32,16."),
]
KernelOption = Annotated[
    str | None,
    typer.Option("--kernel", metavar="REGEX", help="Only kernels whose name matches this."),
]
#: for commands with formats of their own
FORMAT: Final = typer.Option(
    "--format", "-f", envvar="PERFKIT_FORMAT", case_sensitive=False, help="Output format."
)
FormatOption = Annotated[Format, FORMAT]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE",
        callback=lambda value: value and durable.placed(value, "--output"),
        help="Write to this file instead of stdout.",
    ),
]  # fmt: skip


def targets(text: str | None) -> tuple[Target, ...]:
    """The targets of ``--gpu``; raises as ``architectures``."""
    return tuple(target for _, target in architectures(text))


def architectures(text: str | None) -> tuple[tuple[str, Target], ...]:
    """The targets of ``--gpu``, each with what to compile for; no GPU is ever guessed.

    ``sm_90a`` and the like ask for the features of exactly that chip, everything else for the
    plain architecture. Such a target is another one than the plain capability, named ``9.0a``.

    Raises:
        UsageError: nothing given, or an empty name between commas.
        UnknownTarget: a name the database does not hold.
    """
    if text is None or not text.strip():
        raise UsageError(
            "no GPU given",
            hint="write --gpu with a product (h100, rtx-4090), a capability (9.0), a family "
            "(hopper), 'all' or 'device'; 'perfkit gpu list' shows the products",
        )
    found: dict[str, tuple[str, Target]] = {}
    for name in (part.strip() for part in text.split(",")):
        if not name:
            raise UsageError(
                f"--gpu {text!r} holds an empty name",
                hint="commas separate the names: h100,a100",
            )
        if name.lower() == PRESENT_DEVICE:
            from perfkit.device.properties import present_target

            here: tuple[Target, ...] = (present_target(),)
        else:
            here = _known(name, text)
        for target in here:
            found_suffix = _SUFFIX.search(name) if target.gpu is None else None
            suffix = found_suffix[0].lower() if found_suffix else ""
            named = replace(target, label=target.label + suffix) if suffix else target
            arch = target.capability.compute_capability.sm + suffix
            found.setdefault(named.label, (arch, named))
    return tuple(found.values())


def _known(name: str, given: str) -> tuple[Target, ...]:
    try:
        return catalog.targets(name)
    except UnknownTarget as error:
        if isinstance(given, DefaultGpu):  # nobody has typed it here
            raise UnknownTarget(error.message, where="PERFKIT_GPU", hint=error.hint) from None
        raise


#: what ends the name of an architecture-specific or family-specific target
_SUFFIX: Final = re.compile(r"(?<=\d)[af]$", re.IGNORECASE)


def dimensions(text: str, option: str) -> tuple[int, int, int]:
    """Read ``256``, ``32,8``, ``8x8x4``, ``(256, 1, 1)`` as profilers print it, or ``1e6``.

    Raises:
        UsageError: not one to three whole numbers.
    """
    inside = re.fullmatch(r"\s*(?:dim3)?\s*\((.*)\)\s*", text)
    parts = re.split("[,x\N{MULTIPLICATION SIGN}]", inside[1] if inside else text)
    try:
        found = [parse_elements(part) for part in parts]
    except UsageError:
        found = []
    if not 1 <= len(found) <= 3:
        raise UsageError(
            f"{option} {text!r}: not one to three whole numbers",
            hint=f"write {option} 256 or {option} 32,8",
        )
    x, y, z = [*found, 1, 1][:3]
    return x, y, z


def volume(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]


def block_threads(capability: Capability, text: str) -> int:
    """Read ``--threads`` as threads per block; the models check their number.

    Raises:
        UsageError: not a size.
        InvalidLaunch: one dimension is beyond its limit.
    """
    block = dimensions(text, "--threads")
    if volume(block) <= capability.limits.max_threads_per_block:
        _check_axes(capability, "--threads", block, "max_block_dim", least=0)
    return volume(block)


def grid_blocks(capability: Capability, text: str) -> int:
    """Read ``--grid`` as blocks in the grid; raises as ``block_threads``."""
    grid = dimensions(text, "--grid")
    _check_axes(capability, "--grid", grid, "max_grid_dim", least=1)
    return volume(grid)


def _check_axes(
    capability: Capability, option: str, size: tuple[int, int, int], fact: str, *, least: int
) -> None:
    limits: tuple[int, ...] = getattr(capability.limits, fact)
    for axis, given, most in zip("xyz", size, limits, strict=True):
        if not least <= given <= most:
            raise InvalidLaunch(
                f"{option}: {axis} is {given}, {capability.label} takes 1 to {most}",
                hint=capability.cite(f"limits.{fact}"),
            )


def size(text: str | None, option: str, read: Callable[[str], int] = parse_bytes) -> int | None:
    """Read a size option; errors name the option."""
    if text is None:
        return None
    with naming(option):
        return read(text)


_NO_PREFERENCE: Final = frozenset({"default", "-1"})  #: -1 as CUDA writes it
_CARVEOUT_HINT: Final = "write a percentage (50%), a capacity (64KiB), max or default"


def carveout_percent(capability: Capability, text: str | None) -> int | None:
    """Read ``--carveout`` for one capability as a percentage; None: no preference.

    A size must be one of the capability's capacities, of which there is one where shared memory is
    dedicated; the answer is then the largest percentage that leads to it.

    Raises:
        UsageError: not a carveout, or a capacity the capability does not have.
    """
    if text is None or (text := text.strip()).lower() in _NO_PREFERENCE:
        return None
    if text.lower() == "max":
        return 100
    if percent := _PERCENT.fullmatch(text):
        if int(percent[1]) > 100:
            raise InvalidLaunch(f"--carveout {text}: a percentage is 0% to 100%")
        return int(percent[1])
    shared = capability.shared_memory
    capacity = _capacity(text)
    if capacity in shared.capacities_bytes:
        return capacity * 100 // shared.per_sm_bytes
    known = ", ".join(format_bytes(c) for c in shared.capacities_bytes)
    raise InvalidLaunch(
        f"--carveout {text}: {capability.label} cannot be configured so; it takes {known}",
        hint=capability.cite("shared_memory.capacities_bytes"),
    )


def carveout_bytes(text: str | None) -> int | None:
    """The capacity that ``--carveout`` names; None: it is no size.

    Raises:
        UsageError: not a carveout.
    """
    if text is None or (text := text.strip()).lower() in {"max", *_NO_PREFERENCE}:
        return None
    return None if _PERCENT.fullmatch(text) else _capacity(text)


_PERCENT: Final = re.compile(r"([0-9]{1,9})\s*%")


def _capacity(text: str) -> int:
    if re.fullmatch(r"[1-9][0-9]?|100", text):
        raise UsageError(f"--carveout {text}: percent or bytes?", hint=_CARVEOUT_HINT)
    with naming("--carveout", _CARVEOUT_HINT):
        return parse_bytes(text)
