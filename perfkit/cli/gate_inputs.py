"""What ``perfkit gate check`` compares: files told apart by content, kernels or timings."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.cli import kernel_options, options, talk
from perfkit.cli.diff import without_compiler
from perfkit.errors import InputError, UsageError
from perfkit.files import shown
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from perfkit.arch.types import Target
    from perfkit.cli.kernel_options import KernelOptions
    from perfkit.compiled.reading import Reading
    from perfkit.kernel import KernelResources
    from perfkit.readers.results import ResultFile

#: as the reader of results says that a file is none of its kinds
_NO_RESULTS: Final = ("no known kind of results", "no file of results")

#: kinds of files that hold kernels, and that a reader of results would look through in vain
_KINDS: Final = frozenset(
    {"a zip archive or a wheel", "a ptxas -v log", "a cuobjdump resource report"}
)


@record
class Side:
    """One side, still to be compiled where it is a source."""

    sources: tuple[Path, ...] = ()
    readings: tuple[tuple[Path, Reading], ...] = ()
    results: tuple[ResultFile, ...] = ()

    @property
    def holds_kernels(self) -> bool:
        return bool(self.sources or self.readings)


@record
class Kernels:
    """The kernels of one side."""

    kernels: tuple[KernelResources, ...]
    paths: dict[int, Path] = field(default_factory=dict)  #: by ``id`` of the kernel
    ptx: tuple[str, ...] = ()
    idle: tuple[tuple[KernelResources, str], ...] = ()  #: and a GPU that runs no code of it
    unread: int = 0


def side(
    paths: Iterable[Path], kernels: KernelOptions, gpu: str | None, metric: str | None
) -> Side:
    """Read what can be read at once; a name twice on one side would count twice.

    Raises:
        InputError: neither kernels nor results, or broken.
        UsageError: named twice.
    """
    given = list(paths)
    twice = next((path for i, path in enumerate(given) if path in given[:i]), None)
    if twice is not None:
        raise UsageError(f"{shown(twice)} is named twice")
    sources = [path for path in given if kernel_options.is_source(path)]
    readings: list[tuple[Path, Reading]] = []
    results: list[ResultFile] = []
    for path in given:
        if path not in sources:
            _read(path, kernels, gpu, metric, readings, results)
    return Side(sources=tuple(sources), readings=tuple(readings), results=tuple(results))


def _read(
    path: Path,
    kernels: KernelOptions,
    gpu: str | None,
    metric: str | None,
    readings: list[tuple[Path, Reading]],
    results: list[ResultFile],
) -> None:
    """A file is kernels or results; a folder may hold both."""

    def read_kernels() -> None:
        plain = without_compiler(kernels)
        readings.append((path, plain.reading(path, kernel_options.named_arch(gpu))))

    def read_timings() -> None:
        from perfkit.readers.recognise import read_results

        results.append(read_results([path], metric=metric))

    if _is_compiled(path):
        read_kernels()
        return
    refused = _refused(read_timings)
    if refused is None and not path.is_dir():
        return
    no_kernels = _refused(read_kernels)
    if refused is not None and no_kernels is not None:
        raise no_kernels if refused.message in _NO_RESULTS else refused
    if refused is not None and refused.message not in _NO_RESULTS:
        talk.note(f"no results: {refused}")


def _is_compiled(path: Path) -> bool:
    """Whether the first bytes say that it holds kernels; a pipe is a build log."""
    from perfkit.compiled.binary import may_hold_code
    from perfkit.compiled.files import read_head
    from perfkit.compiled.inspect_json import is_inspect_json
    from perfkit.compiled.kinds import describe
    from perfkit.compiled.stream import is_stream

    if is_stream(path):
        return True
    if path.is_dir():
        return False
    head = read_head(path)
    return may_hold_code(head) or is_inspect_json(head) or describe(head) in _KINDS


def _refused(read: Callable[[], None]) -> InputError | None:
    try:
        read()
    except InputError as error:
        return error
    return None


def joined(found: Side) -> ResultFile:
    """All results of a side; its notes go to stderr."""
    from perfkit.readers.merge import joined as join

    result = join(found.results)
    for note in result.notes:
        talk.note(note)
    return result


def compiled(
    found: Side, kernels: KernelOptions, gpu: str | None, others: Sequence[str] = ()
) -> Kernels:
    """The kernels of a side: what is compiled already, and sources compiled here.

    Args:
        found: the side.
        kernels: how to compile sources.
        gpu: what ``--gpu`` says: of compiled files it chooses.
        others: architectures of the other side, for sources where no GPU is named.

    Raises:
        PerfkitError: a source does not compile, or no GPU is named for it.
    """
    targets = _targets(gpu)
    every: list[KernelResources] = []
    paths: dict[int, Path] = {}
    idle: list[tuple[KernelResources, str]] = []
    readings = list(found.readings)
    if found.sources:
        here = [kernel.arch for _, reading in readings for kernel in reading.kernels]
        archs: Iterable[str] = dict.fromkeys([*here, *others])
        if gpu or not archs:
            archs = dict.fromkeys(arch for arch, _ in options.architectures(gpu))
        readings += [(p, kernels.reading(p, arch)) for p in found.sources for arch in archs]
    for path, reading in readings:
        kernel_options.say(reading)
        chosen = reading.kernels
        if path not in found.sources:
            chosen, without = _running(path, reading, targets)
            idle += without
        every += chosen
        paths.update((id(kernel), path) for kernel in (*chosen, *(k for k, _ in idle)))
    return Kernels(
        kernels=tuple(every),
        paths=paths,
        ptx=tuple(dict.fromkeys(one for _, reading in readings for one in reading.ptx)),
        idle=tuple(idle),
        unread=sum(reading.unread for _, reading in readings),
    )


def _targets(gpu: str | None) -> tuple[Target, ...]:
    return () if not gpu or isinstance(gpu, options.DefaultGpu) else options.targets(gpu)


def _running(
    path: Path, reading: Reading, targets: Sequence[Target]
) -> tuple[tuple[KernelResources, ...], list[tuple[KernelResources, str]]]:
    """What the targets would load, and the kernels of which one of them runs no code.

    Raises:
        UsageError: they would load nothing.
    """
    from perfkit.analysis.fits import images

    if not targets:
        return reading.kernels, []
    chosen: set[int] = set()
    idle = []
    for target in targets:
        for _, loaded, there in images(reading.kernels, target.capability.compute_capability):
            chosen.update(id(kernel) for kernel in loaded)
            idle += [] if loaded else [(there[0], target.label)]
    if not chosen:
        archs = ", ".join(dict.fromkeys(kernel.arch for kernel in reading.kernels))
        labels = ", ".join(target.label for target in targets)
        raise UsageError(f"{shown(path)} has kernels for {archs}, and none that {labels} runs")
    return tuple(kernel for kernel in reading.kernels if id(kernel) in chosen), idle
