"""What ``perfkit gate check`` compares: files told apart by content, kernels or timings."""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

from perfkit.cli import kernel_options, options, talk
from perfkit.errors import InputError, UsageError
from perfkit.files import readable, shown
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from perfkit.arch.types import Target
    from perfkit.cli.kernel_options import KernelOptions
    from perfkit.compiled.reading import Reading
    from perfkit.gate.against import Recorded
    from perfkit.kernel import KernelResources
    from perfkit.readers.results import ResultFile

#: as the reader of results says that a file is none of its kinds
_NO_RESULTS: Final = ("no known kind of results", "no file of results")
_RESULTS: Final = frozenset({".csv", ".json", ".xml", ".js"})  #: what is named so is meant so
_PIPED_BYTES: Final = 2**30  #: no result file and no baseline is larger
#: how perfkit writes a baseline
_BASELINE: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"schema"\s*:\s*"perfkit\.baseline/')
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
    recorded: tuple[Recorded, ...] = ()  #: baseline files
    files: frozenset[str] = frozenset()  #: all of them, with the folders named

    @property
    def holds_kernels(self) -> bool:
        return bool(self.sources or self.readings)

    @property
    def holds_results(self) -> bool:
        return bool(self.results or self.recorded)


@record
class Kernels:
    """The kernels of one side."""

    kernels: tuple[KernelResources, ...]
    paths: dict[int, Path] = field(default_factory=dict)  #: by ``id`` of the kernel
    ptx: tuple[str, ...] = ()
    idle: tuple[tuple[KernelResources, Target], ...] = ()  #: and a GPU that runs no code of it
    unread: int = 0


def side(
    paths: Iterable[Path], kernels: KernelOptions, gpu: str | None, metric: str | None
) -> Side:
    """Read what can be read at once; a name twice on one side would count twice.

    ``kernels`` has no options for the compiler, unless they are a mistake.

    Raises:
        InputError: neither kernels nor results, or broken.
        UsageError: named twice.
    """
    given = list(paths)
    seen: dict[str, Path] = {}
    for path in given:
        for real in _files(path):
            if real in seen:  # whatever it is called: it would count as evidence of its own
                where = "" if seen[real] == path else f", as {shown(seen[real])} too"
                raise UsageError(f"{shown(path)} is named twice{where}")
            seen[real] = path
    sources = [path for path in given if kernel_options.is_source(path)]
    found = [_read(path, kernels, gpu, metric) for path in given if path not in sources]
    return Side(
        sources=tuple(sources),
        readings=tuple(one for part in found for one in part.readings),
        results=tuple(one for part in found for one in part.results),
        recorded=tuple(one for part in found for one in part.recorded),
        files=frozenset(seen),
    )


def _files(path: Path) -> list[str]:
    """What a path stands for, without links and detours; a folder for its files, too."""
    with readable(path):
        inside = [one for one in path.iterdir() if one.is_file()] if path.is_dir() else []
        return list(dict.fromkeys(map(os.path.realpath, [path, *inside])))


def say_the_same(new: Side, old: Side) -> None:
    """A note on files that are on both sides: they agree with themselves."""
    for real in sorted(new.files & old.files):
        talk.note(f"{shown(real)} is on both sides: it is compared with itself")


def _read(path: Path, kernels: KernelOptions, gpu: str | None, metric: str | None) -> Side:
    """A file is kernels, results or a baseline; a folder may hold both."""
    from perfkit.compiled.files import read_head
    from perfkit.compiled.stream import is_stream

    def read_kernels() -> Side:
        return Side(readings=((path, kernels.reading(path, kernel_options.named_arch(gpu))),))

    def read_results() -> Side:
        from perfkit.readers import recognise

        return Side(results=(recognise.read_results([path], metric=metric),))

    if is_stream(path):
        return _piped(path, kernels, gpu, metric)
    head = b"" if path.is_dir() else read_head(path)
    if _is_compiled(head):
        return read_kernels()
    if _BASELINE.match(head):
        from perfkit.gate.against import Recorded
        from perfkit.gate.baseline import load

        return Side(recorded=(Recorded(origin=shown(path), entries=load(path)),))
    return _told_apart(read_results, read_kernels, path)


def _piped(path: Path, kernels: KernelOptions, gpu: str | None, metric: str | None) -> Side:
    """The same of a pipe, which is read once."""
    from perfkit.compiled.stream import name_of, opened

    name = name_of(path)
    with opened(path) as pipe, TemporaryFile() as kept:
        copyfileobj(pipe, kept)
        kept.seek(0)
        data = kept.read(_PIPED_BYTES)

        def read_kernels() -> Side:
            kept.seek(0)
            arch = kernel_options.named_arch(gpu)
            return Side(readings=((path, kernels.reading(path, arch, kept)),))

        def read_results() -> Side:
            from perfkit.readers.recognise import read_data

            return Side(results=(read_data(data, name, metric=metric),))

        if _is_compiled(data):
            return read_kernels()
        if _BASELINE.match(data):
            from perfkit.gate.against import Recorded
            from perfkit.gate.baseline_format import parsed

            return Side(recorded=(Recorded(origin=name, entries=parsed(data, name)),))
        return _told_apart(read_results, read_kernels)


def _told_apart(
    read_results: Callable[[], Side], read_kernels: Callable[[], Side], path: Path = Path("-")
) -> Side:
    """Results or kernels, of a folder both; what is neither is refused by what it is like."""
    results, refused = _tried(read_results)
    if results is not None and not path.is_dir():
        return results
    readings, no_kernels = _tried(read_kernels)
    if refused is not None and no_kernels is not None:
        is_other = refused.message in _NO_RESULTS and path.suffix.lower() not in _RESULTS
        raise no_kernels if is_other else refused
    if refused is not None and refused.message not in _NO_RESULTS:
        talk.note(f"no results: {refused}")
    return Side(
        readings=readings.readings if readings else (), results=results.results if results else ()
    )


def _tried(read: Callable[[], Side]) -> tuple[Side | None, InputError | None]:
    try:
        return read(), None
    except InputError as error:
        return None, error


def _is_compiled(head: bytes) -> bool:
    """Whether the first bytes say that the file holds kernels."""
    from perfkit.compiled.binary import may_hold_code
    from perfkit.compiled.inspect_json import is_inspect_json
    from perfkit.compiled.kinds import describe

    return may_hold_code(head) or is_inspect_json(head) or describe(head) in _KINDS


def candidate(found: Side) -> ResultFile:
    """All results of the side that is judged, as one; its notes go to stderr."""
    from perfkit.gate.baseline import chosen
    from perfkit.readers.merge import joined

    parts = [chosen(one.entries, one.origin, {}) for one in found.recorded]
    result = joined([*found.results, *(file for part in parts for file in part.files)])
    say(found)
    return result


def say(found: Side) -> None:
    """The notes of the results of a side."""
    for one in found.results:
        for note in one.notes:
            talk.note(note)


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
    idle: list[tuple[KernelResources, Target]] = []
    readings = list(found.readings)
    if found.sources:
        here = [kernel.arch for _, reading in readings for kernel in reading.kernels]
        archs: Iterable[str] = dict.fromkeys([*here, *others])
        if gpu or not archs:
            archs = dict.fromkeys(arch for arch, _ in options.architectures(gpu))
        readings += [(p, _compiled(p, kernels, archs)) for p in found.sources]
    for path, reading in readings:
        kernel_options.say(reading)
        loaded, without = _running(path, reading, targets)
        # what was compiled was asked for, also plain code beside code for that chip alone
        chosen = reading.kernels if path in found.sources else loaded
        idle += without
        every += chosen
        paths.update((id(kernel), path) for kernel in (*chosen, *(k for k, _ in without)))
    return Kernels(
        kernels=tuple(every),
        paths=paths,
        ptx=tuple(dict.fromkeys(one for _, reading in readings for one in reading.ptx)),
        idle=tuple(idle),
        unread=sum(reading.unread for _, reading in readings),
    )


def _compiled(path: Path, kernels: KernelOptions, archs: Iterable[str]) -> Reading:
    """A source for all architectures, as if they were images of one file."""
    found = [kernels.reading(path, arch) for arch in archs]
    return replace(
        found[0],
        kernels=tuple(kernel for one in found for kernel in one.kernels),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
        unread=sum(one.unread for one in found),
    )


def _targets(gpu: str | None) -> tuple[Target, ...]:
    return () if not gpu or isinstance(gpu, options.DefaultGpu) else options.targets(gpu)


def _running(
    path: Path, reading: Reading, targets: Sequence[Target]
) -> tuple[tuple[KernelResources, ...], list[tuple[KernelResources, Target]]]:
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
            idle += [] if loaded else [(there[0], target)]
    if not chosen:
        archs = ", ".join(dict.fromkeys(kernel.arch for kernel in reading.kernels))
        labels = ", ".join(target.label for target in targets)
        raise UsageError(f"{shown(path)} has kernels for {archs}, and none that {labels} runs")
    return tuple(kernel for kernel in reading.kernels if id(kernel) in chosen), idle
