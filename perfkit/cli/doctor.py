"""``perfkit doctor``: what is here of all that perfkit can use, and what to do about the rest."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from perfkit import __version__
from perfkit.access import State, Status
from perfkit.cli import options
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.errors import EXIT_NO, ArchDataError, PerfkitError, Unavailable, UnknownTarget
from perfkit.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.device.properties import Device

app = new_app()

#: The extras that a user may want; what each consists of is in the package's metadata.
CUDA_EXTRAS: Final = ("cu12", "cu13")  #: one of them does
#: It has no row: NVIDIA's tools themselves are looked for, wherever they come from.
_TOOLS: Final = "tools"
EXTRAS: Final = (*CUDA_EXTRAS, _TOOLS, "plot", "parquet", "explore", "remote")
_REQUIREMENT: Final = re.compile(r"([\w.-]+)\s*\(?([^;)]*)\)?\s*;.*extra\s*==\s*['\"](\w+)['\"]")
_BOUND: Final = re.compile(r"(>=|<)\s*([\d.]+)")
#: Package -> the one with its version that does all of the work; it may be there alone.
_WORKS_ALONE: Final = {"cuda-python": "cuda-bindings"}

#: Where Typer puts completion scripts, below the home directory.
_COMPLETIONS: Final = {
    "bash": ".bash_completions/perfkit.sh",
    "zsh": ".zfunc/_perfkit",
    "fish": ".config/fish/completions/perfkit.fish",
}


@app.command(epilog=examples("perfkit doctor", "perfkit doctor -f json"))
def doctor(
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Show what is installed and found here.

    Predictions need none of what may be missing. Exit code 1 if something is here and does not
    work, 0 otherwise.
    """
    from perfkit.report.views import doctor as view

    found = tuple(checks())
    emit(
        "doctor",
        document=lambda: view.document(found),
        content=lambda: view.content(found),
        format=format,
        output=output,
    )
    if any(status.state is State.BROKEN for status in found):
        raise typer.Exit(EXIT_NO)


def checks() -> Iterator[Status]:
    """Everything there is to check, one after the other. Nothing raises."""
    from perfkit import access

    package = Path(sys.modules["perfkit"].__path__[0])
    yield _ok("perfkit", f"{__version__}, {package}")
    yield _ok("Python", f"{platform.python_version()}, {sys.executable}")
    yield from _database()
    yield from _extras()
    cuda = access.status()
    yield from cuda
    # asking again where there is none would only repeat the reason
    if cuda[-1].state is State.OK:
        yield from _devices()
    yield from _tools()
    yield _cache()
    yield _completion()


def _ok(what: str, detail: str) -> Status:
    return Status(what=what, state=State.OK, detail=detail)


def _broken(what: str, error: PerfkitError) -> Status:
    return Status(what=what, state=State.BROKEN, detail=str(error), hint=error.hint)


def _database() -> Iterator[Status]:
    """Where it is and that it can be read; ``perfkit arch check`` looks at every fact."""
    from perfkit.arch import catalog, load

    try:
        where = load.shipped()
        mine = load.overlay()
        known = len(catalog.all_capabilities()), len(catalog.all_gpus()), len(load.aliases())
    except ArchDataError as error:
        yield _broken("database", error)
        return
    counts = "{} capabilities, {} products, {} aliases".format(*known)
    yield _ok("database", f"{counts}, {where}")
    if mine is None:
        return
    try:
        load.refuse_misplaced(mine)
    except ArchDataError as error:
        yield _broken("database overlay", error)
        return
    files = sum(1 for _ in mine.rglob("*.yaml"))
    yield _ok("database overlay", f"{files} files, {mine}, named by {load.ENVIRONMENT}")


def _extras() -> Iterator[Status]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        listed = requires("perfkit") or []
    except PackageNotFoundError:
        yield Status(
            what="extras",
            state=State.MISSING,
            detail="cannot be told: perfkit runs from a checkout that is not installed",
            hint="pip install -e .",
        )
        return
    needs: dict[str, list[tuple[str, str]]] = {extra: [] for extra in EXTRAS if extra != _TOOLS}
    for line in listed:
        if (match := _REQUIREMENT.fullmatch(line.strip())) and match[3] in needs:
            needs[match[3]].append((match[1], match[2]))
    lacking = {
        extra: [lack for name, bounds in packages if (lack := _lack(name, bounds))]
        for extra, packages in needs.items()
        if packages  # else it was installed before there was such an extra
    }
    for extra, lacks in lacking.items():
        other = next(
            (one for one in CUDA_EXTRAS if one != extra and not lacking.get(one, True)), None
        )
        if not lacks:
            yield _ok(f"extra {extra}", "installed")
        elif extra in CUDA_EXTRAS and other:
            yield Status(
                what=f"extra {extra}",
                state=State.MISSING,
                detail=f"not installed, nor needed beside {other}",
            )
        else:
            yield Status(
                what=f"extra {extra}",
                state=State.MISSING,
                detail=f"lacks {', '.join(lacks)}",
                hint=f"pip install 'perfkit[{extra}]'",
            )


def _lack(name: str, bounds: str) -> str | None:
    """What is missing of a requirement such as ``cuda-python``, ``<13,>=12.9``; None: nothing."""
    from importlib.metadata import PackageNotFoundError, version

    for one in filter(None, (name, _WORKS_ALONE.get(name))):
        try:
            installed = version(one)
            break
        except PackageNotFoundError:
            continue
    else:
        return name
    have = _numbers(installed)
    for operator, bound in _BOUND.findall(bounds):
        if (have >= _numbers(bound)) != (operator == ">="):
            return f"{name} {operator} {bound} (has {installed})"
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _tools() -> Iterator[Status]:
    from perfkit.compiled import tools

    for tool in (tools.CUOBJDUMP, tools.PTXAS, tools.NVCC):
        try:
            found = tools.find(tool)
        except Unavailable as error:
            asked = tool.name.upper() in os.environ
            state = State.BROKEN if asked else State.MISSING
            yield Status(what=tool.name, state=state, detail=error.message, hint=error.hint)
            continue
        try:
            yield _ok(tool.name, f"{tools.version(found)}, {found}")
        except Unavailable as error:
            yield _broken(tool.name, error)


def _devices() -> Iterator[Status]:
    from perfkit.device.properties import read_devices

    try:
        devices = read_devices()
    except PerfkitError as error:
        yield _broken("CUDA driver", error)
        return
    yield _ok("CUDA driver", "speaks CUDA {}.{}".format(*devices[0].cuda_version))
    yield _nvml(devices[0])
    yield from map(_device, devices)


def _nvml(device: Device) -> Status:
    from perfkit.device.nvml import Monitor

    monitor = Monitor(device.uuid)
    if monitor.missing is None:
        return _ok("NVML", f"driver {monitor.setup().driver_version}, tells clocks and processes")
    hint = "pip install nvidia-ml-py; without it nothing tells why a card is slow"
    return Status(what="NVML", state=State.MISSING, detail=monitor.missing, hint=hint)


def _device(device: Device) -> Status:
    from perfkit.device.properties import target_of

    what = f"device {device.index}"
    detail = (
        f"{device.name}, {device.compute_capability}, {device.sm_count} SMs, "
        f"{device.memory_bytes / 2**30:.1f} GiB"
    )
    try:
        target = target_of(device)
    except UnknownTarget as error:
        return Status(what=what, state=State.MISSING, detail=f"{detail}: {error}", hint=error.hint)
    except ArchDataError as error:
        return _broken(what, error)
    if target.gpu is not None:
        return _ok(what, f"{detail}: {target.gpu.key}")
    return Status(
        what=what,
        state=State.MISSING,
        detail=f"{detail}: no such product in the database, its capability counts",
        hint="perfkit gpu list shows the products; PERFKIT_ARCHDB adds more",
    )


def _cache() -> Status:
    from perfkit.compiled import cache

    folder = cache.directory()
    if folder is None:
        return Status(
            what="compile cache",
            state=State.MISSING,
            detail="off, or there is no home directory",
            hint="PERFKIT_CACHE names a directory for it",
        )
    try:
        sizes = [entry.stat().st_size for entry in folder.iterdir() if entry.suffix == ".json"]
    except FileNotFoundError:
        sizes = []
    except OSError as error:
        return Status(
            what="compile cache",
            state=State.BROKEN,
            detail=f"{folder}: {error.strerror}",
            hint="PERFKIT_CACHE names another directory",
        )
    return _ok("compile cache", f"{len(sizes)} entries, {_size(sum(sizes))}, {folder}")


def _size(count: int) -> str:
    return format_bytes(count) if count < 1024 else f"{count / 1024:.0f} KiB"


def _completion() -> Status:
    try:
        home = Path.home()
        shells = [shell for shell, script in _COMPLETIONS.items() if (home / script).is_file()]
    except (RuntimeError, OSError):  # no home, or one that may not be looked into
        shells = []
    if shells:
        return _ok("shell completion", f"installed for {', '.join(shells)}")
    return Status(
        what="shell completion",
        state=State.MISSING,
        detail="not installed",
        hint="perfkit --install-completion",
    )
