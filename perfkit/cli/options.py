"""Options that mean the same in every command, and how their text is read."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from perfkit.arch import catalog
from perfkit.arch.types import Capability, Target
from perfkit.errors import InvalidLaunch, UsageError
from perfkit.units import format_bytes, parse_bytes

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


GpuOption = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        "-g",
        envvar="PERFKIT_GPU",
        autocompletion=_complete_gpu,
        help="Product, capability or family: h100, 9.0, sm_90a, hopper; several separated by "
        "commas; 'all'; 'device' for the card in this machine.",
    ),
]
ThreadsOption = Annotated[
    str | None, typer.Option("--threads", "-t", help="Threads per block: 256 or 32,8.")
]
RegsOption = Annotated[int | None, typer.Option("--regs", "-r", help="Registers per thread.")]
SmemOption = Annotated[
    str | None,
    typer.Option("--smem", "-s", help="Shared memory per block, static + dynamic: 4096, 48K."),
]
StaticOption = Annotated[
    str | None, typer.Option("--smem-static", help="Static shared memory per block.")
]
DynamicOption = Annotated[
    str | None, typer.Option("--smem-dynamic", help="Dynamic shared memory per block.")
]
CarveoutOption = Annotated[
    str | None,
    typer.Option("--carveout", help="Preferred shared memory: 50%, 64KiB, max or default."),
]
BarriersOption = Annotated[
    int | None, typer.Option("--barriers", help="Named barriers per block (default 1).")
]
ClusterOption = Annotated[
    str | None, typer.Option("--cluster", help="Blocks per cluster: 4 or 2,2.")
]
GridOption = Annotated[str | None, typer.Option("--grid", help="Blocks in the grid: 512 or 32,16.")]
KernelOption = Annotated[
    str | None, typer.Option("--kernel", help="Only kernels whose name matches this regex.")
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", envvar="PERFKIT_FORMAT", help="Output format.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")]


def targets(text: str | None) -> tuple[Target, ...]:
    """The targets of ``--gpu``; no GPU is ever guessed.

    Raises:
        UsageError: nothing given.
        UnknownTarget: a name the database does not hold.
    """
    if text is None or not text.strip():
        raise UsageError(
            "no GPU given",
            hint="write --gpu with a product (h100, rtx-4090), a capability (9.0), a family "
            "(hopper), 'all' or 'device'; 'perfkit gpu list' shows the products",
        )
    found: list[Target] = []
    for name in (part.strip() for part in text.split(",")):
        if name.lower() == PRESENT_DEVICE:
            from perfkit.device.properties import present_target

            found.append(present_target())
        else:
            found.extend(catalog.targets(name))
    return tuple({target.label: target for target in found}.values())


def dimensions(text: str, option: str) -> tuple[int, int, int]:
    """Read ``256``, ``32,8`` or ``8x8x4`` as x, y, z.

    Raises:
        UsageError: not one to three whole numbers.
    """
    parts = re.split(r"[,x]", text.strip())
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"\d{1,18}", p.strip()) for p in parts):
        raise UsageError(f"{option} {text!r}: not a size", hint=f"write {option} 256 or 32,8")
    x, y, z = ([int(part) for part in parts] + [1, 1])[:3]
    return x, y, z


def volume(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]


def check_block(capability: Capability, block: tuple[int, int, int]) -> None:
    """Raise ``InvalidLaunch`` where one dimension of the block is beyond its limit."""
    for axis, given, limit in zip("xyz", block, capability.limits.max_block_dim, strict=True):
        if given > limit and volume(block) <= capability.limits.max_threads_per_block:
            raise InvalidLaunch(
                f"--threads {axis} = {given}: {capability.label} takes at most {limit}",
                hint=capability.cite("limits.max_block_dim"),
            )


def size(text: str | None, option: str) -> int | None:
    """Read a size option; errors name the option."""
    if text is None:
        return None
    try:
        return parse_bytes(text)
    except UsageError as error:
        raise UsageError(f"{option} {error.message}", hint=error.hint) from None


def carveout_percent(capability: Capability, text: str | None) -> int | None:
    """Read ``--carveout`` for one capability as a percentage; None: no preference.

    A size must be one of the capability's capacities; the answer is then the largest percentage
    that leads to it.

    Raises:
        UsageError: not a carveout, or a capacity the capability does not have.
    """
    if text is None or text.lower() == "default":
        return None
    if text.lower() == "max":
        return 100
    if percent := re.fullmatch(r"(\d{1,9})\s*%", text):
        if int(percent[1]) > 100:
            raise InvalidLaunch(f"--carveout {text}: a percentage is 0% to 100%")
        return int(percent[1])
    shared = capability.shared_memory
    capacity = (
        None if text.isdigit() and text != "0" and int(text) <= 100 else size(text, "--carveout")
    )
    if capacity is None:
        raise UsageError(f"--carveout {text}: percent or bytes?", hint="write 50% or 64KiB")
    if not shared.configurable or capacity in shared.capacities_bytes:
        return capacity * 100 // shared.per_sm_bytes
    known = ", ".join(format_bytes(c) for c in shared.capacities_bytes)
    raise InvalidLaunch(
        f"--carveout {text}: {capability.label} cannot be configured so; it takes {known}",
        hint=capability.cite("shared_memory.capacities_bytes"),
    )


def is_colour_terminal() -> bool:
    """Whether stdout is a terminal that may get colours and a fixed width."""
    import sys

    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
