"""Options of ``perfkit measure``, and how their text is read."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.analysis.environment import whose
from perfkit.analysis.expression import Expression
from perfkit.cli import kernel_options, options, talk
from perfkit.cli.quantities import naming
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.record import record
from perfkit.units import parse_count, parse_elements, parse_traffic

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfkit.analysis.measurement import Failed, MeasureReport
    from perfkit.analysis.prediction import Flow
    from perfkit.device.user_kernel import KernelSpec
    from perfkit.models.roofs import Ceilings

_UNITS = ("simt", "tensor")


@record
class OwnKernel:
    """What is said of code of the user's."""

    threads: options.ThreadsOption = None
    smem_dynamic: options.DynamicOption = None
    cluster: options.ClusterOption = None
    grid: Annotated[
        str | None,
        typer.Option("--grid", metavar="X[,Y,Z]", help="Blocks: expressions of scalars."),
    ] = None
    kernel: Annotated[
        str | None,
        typer.Option("--kernel", metavar="NAME", help="Of your source: scale or axpy<float>."),
    ] = None
    define: kernel_options.DefineOption = None
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            metavar="ARG",
            help="An argument, in order: n:i32=1024, x:f32[n]=random, 'out y:f32[n]'; fills are "
            "random, random(N), zero, iota, a number, FILE.npy.",
        ),
    ] = None
    flops: Annotated[
        str | None,
        typer.Option("--flops", metavar="N", help="FLOP of one launch: 2*n, 137.4G or 1e12."),
    ] = None
    bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="Bytes through DRAM: 100MB; 100M and 100MiB are 100 MiB. If not given each array "
            "once, as its role says.",
        ),
    ] = None
    dtype: Annotated[
        str | None,
        typer.Option("--dtype", metavar="TYPE", help="Type of the arithmetic; f32 if not given."),
    ] = None
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="UNIT", help="simt or tensor; if not given the faster."),
    ] = None
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="MODULE:FUNCTION",
            help="Gets the arrays and scalars by name, returns a dict of what outputs must be.",
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", metavar="X", help="Of ||found - right|| / ||right||."),
    ] = None
    spec: Annotated[
        Path | None,
        typer.Option("--spec", metavar="FILE", help="A YAML file that says all of this."),
    ] = None
    python: Annotated[
        str | None,
        typer.Option(
            "--python",
            metavar="MODULE:FUNCTION",
            help="Python code that launches work, or makes a function that does.",
        ),
    ] = None


def only(own: OwnKernel, size: str | None, what: str, *allowed: str) -> None:
    """Refuse options that mean nothing here.

    Args:
        own: what is given.
        size: ``--size``.
        what: they would be for: an option, which is allowed itself, a file, or a description.
        allowed: names of fields that mean something.

    Raises:
        UsageError: one is given.
    """
    mode = {"--spec": "spec", "--python": "python"}.get(what)
    for field in fields(own):
        if field.name not in {mode, *allowed} and getattr(own, field.name) is not None:
            raise UsageError(f"--{field.name} is not for {what}")
    if size is not None and mode is not None:
        raise UsageError(f"--size is not for {what}")


def spec(path: str, own: OwnKernel) -> KernelSpec:
    """A kernel described by options.

    Raises:
        UsageError: one that every launch needs is missing.
    """
    from perfkit.device.user_kernel import KernelSpec

    if own.kernel is None or own.grid is None or own.threads is None:
        missing = [name for name in ("kernel", "grid", "threads") if getattr(own, name) is None]
        raise UsageError(f"no --{missing[0]}", hint="a launch needs --kernel, --grid and --threads")
    return KernelSpec(
        path=path,
        kernel=own.kernel,
        grid=own.grid,
        threads=own.threads,
        smem_dynamic=own.smem_dynamic or "0",
        arguments=tuple(own.arg or ()),
        defines=tuple(own.define or ()),
        cluster=own.cluster,
        flops=own.flops,
        bytes=own.bytes,
        dtype=own.dtype or "f32",
        unit=_unit(own.unit),
        reference=own.reference,
        tolerance=1e-5 if own.tolerance is None else own.tolerance,
    )


def _unit(text: str | None) -> str | None:
    if text is not None and text not in _UNITS:
        raise UsageError(f"--unit {text!r}: simt or tensor")
    return text


def work(own: OwnKernel) -> tuple[Flow | None, float | None]:
    """FLOP and bytes of Python code.

    Raises:
        UsageError: not a number.
    """
    from perfkit.analysis.prediction import Flow

    flops = _amount(own.flops, "--flops", parse_count)
    moved = _amount(own.bytes, "--bytes", parse_traffic)
    if flops is None:
        return None, moved
    dtype = DType.parse(own.dtype or "f32")
    return Flow(flops=flops, dtype=dtype, unit=_unit(own.unit)), moved


def _amount(text: str | None, option: str, read: Callable[[str], float]) -> float | None:
    if text is None:
        return None
    try:
        return read(text)
    except UsageError:
        pass
    with naming(option):
        expression = Expression(text)
        if not expression.names:
            return float(expression.value({}))
    raise UsageError(f"{option} {text!r}: names mean nothing here")


def sizes(text: str | None, threads: str | None) -> dict[str, int]:
    """``--size`` and ``--threads`` of the library's kernels; ``""`` is the main size.

    Raises:
        UsageError: not sizes.
    """
    found: dict[str, int] = {}
    for part in (text or "").split(",") if text is not None else ():
        name, equals, value = part.rpartition("=")
        found[name.strip() if equals else ""] = _size(value, f"--size {text}")
    if threads is not None:
        found["threads"] = _size(threads, "--threads")
    return found


def _size(text: str, option: str) -> int:
    try:
        return parse_elements(text)
    except UsageError:
        pass
    try:
        expression = Expression(text)
        if not expression.names:
            return expression.value({})
    except UsageError:
        pass
    raise UsageError(f"{option}: {text!r} is no size", hint="write 16M, 4096 or 1<<24")


def ceilings(path: Path | None) -> tuple[Ceilings, ...]:
    """What a ceilings file holds, of each card that it is about."""
    from perfkit.readers.ceilings import read_cards

    return () if path is None else read_cards(path)


def tell_failures(report: MeasureReport) -> None:
    """What failed, on stderr, with the end of what its process printed.

    Each failure once: of several cards those that failed alike are named together.
    """
    found: dict[tuple[str, Failed], list[int | None]] = {}
    for device in report.devices:
        about = device.environment
        failures = [
            (about.device, device.failure),
            *((one.name, one.failure) for one in device.measurements),
        ]
        for name, failure in failures:
            if failure is not None:
                found.setdefault((name, failure), []).append(about.index)
    for (name, failure), indices in found.items():
        if failure.log:
            talk.say(failure.log)
        where = whose(indices, len(report.devices))
        talk.say(f"perfkit: error: {where}{name}: {failure.message}")
        if failure.hint:
            talk.say(f"hint: {failure.hint}")
