"""Kernels of any file or directory that perfkit reads: by its content, a source by its name."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from perfkit.compiled.binary import may_hold_code
from perfkit.compiled.compile_options import CompileOptions, target_name
from perfkit.compiled.files import read_head
from perfkit.compiled.files import reading as opened
from perfkit.compiled.kinds import describe, is_other_text, may_be_text
from perfkit.compiled.reading import NoKernel, Reading
from perfkit.compiled.stream import is_stream, read_stream
from perfkit.errors import InputError, UsageError
from perfkit.files import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from perfkit.arch.types import ComputeCapability
    from perfkit.compiled.reading import Progress
    from perfkit.kernel import KernelResources

SOURCE_SUFFIXES: Final = frozenset({".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".inl"})
_SHOWN_NAMES: Final = 20
_ZIP: Final = b"PK\x03\x04"
_BEFORE_JSON: Final = b"\xef\xbb\xbf \t\r\n"


def inspect(
    path: str | Path,
    *,
    arch: ComputeCapability | str | None = None,
    include_dirs: Iterable[Path] = (),
    defines: Iterable[str] = (),
    std: str | None = None,
    max_registers: int | None = None,
    fast_math: bool = False,
    name_expressions: Iterable[str] = (),
    extra: Iterable[str] = (),
    compiler: str = "auto",
    kernel: str | None = None,
) -> tuple[KernelResources, ...]:
    """Every kernel of compiled code, or of a source compiled for ``arch``, in file order.

    ``arch`` is ``9.0`` or ``sm_90a``; compiled code says its own. ``kernel`` is a regular
    expression, looked for in the mangled and in the shown name. The rest is how to compile a
    source, see ``CompileOptions``.

    Raises:
        InputError: unreadable, or of a kind that is not read.
        UsageError: a source without ``arch``, a bad option or one for a file that is compiled
            already, or no kernel of that name.
        Unavailable: NVRTC is needed, or cuobjdump, and it is not here.
    """
    options = CompileOptions(
        include_dirs=tuple(Path(directory) for directory in include_dirs),
        defines=tuple(defines),
        std=std,
        max_registers=max_registers,
        fast_math=fast_math,
        name_expressions=tuple(name_expressions),
        extra=tuple(extra),
        compiler=compiler,
    )
    refuse_idle(Path(path), {f.name: getattr(options, f.name) for f in fields(options)})
    return read(Path(path), arch=arch, kernel=kernel, options=options).kernels


def refuse_idle(path: Path, options: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` for an option that nothing would follow: there is no compiler to run.

    Args:
        path: the file.
        options: by the name that the user knows; those not given are empty, None or ``auto``.
    """
    given = [name for name, value in options.items() if value not in {None, False, (), "auto"}]
    if is_ptx(path):
        given = [name for name in given if name.strip("-") not in {"max_registers", "maxrregcount"}]
    elif path.suffix.lower() in SOURCE_SUFFIXES:
        given = []
    if given:
        raise UsageError(f"{given[0]} is for sources, and {shown(path)} is compiled already")


def read(
    path: Path,
    *,
    arch: ComputeCapability | str | None = None,
    kernel: str | None = None,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
    stream: BinaryIO | None = None,
) -> Reading:
    """The same with notes on what could not be read; raises as ``inspect``.

    ``stream`` is what came through the pipe ``path``, where it has been read already.
    """
    pattern = None if kernel is None else _compiled_pattern(kernel)
    if is_stream(path):
        name = None if arch is None else target_name(arch)
        reading = read_stream(path, arch=name, kept=stream)
    elif path.is_dir():
        from perfkit.compiled.folder import read_folder

        reading = read_folder(path, progress=progress)
    elif (head := read_head(path)).startswith(_ZIP):
        from perfkit.compiled.archive import read_zip

        reading = read_zip(path, progress=progress)
    else:
        reading = _read(path, head, arch, options)
    return replace(reading, kernels=_chosen(reading.kernels, pattern))


def _read(
    path: Path, head: bytes, arch: ComputeCapability | str | None, options: CompileOptions | None
) -> Reading:
    if may_hold_code(head):
        return _machine_code(path, head)
    if head.lstrip(_BEFORE_JSON).startswith(b"{") and (found := _json(path, head)) is not None:
        return found
    if is_ptx(path, head):
        from perfkit.compiled.ptx_file import read_ptx

        most = options.max_registers if options is not None else None
        return read_ptx(path, arch=arch, max_registers=most)
    if path.suffix.lower() not in SOURCE_SUFFIXES:
        return _text(path, head, None if arch is None else target_name(arch))
    if arch is None:
        raise UsageError(
            f"{shown(path)} is a source: it has to be compiled for some GPU",
            hint="name the architecture, such as sm_90",
        )
    from perfkit.compiled.source import read_source

    return read_source(path, arch=arch, options=options or CompileOptions())


def _text(path: Path, head: bytes, arch: str | None) -> Reading:
    """A compiler's log or a resource report; what is neither is refused by its own name."""
    from perfkit.compiled.build_text import read_text

    if not may_be_text(head):
        raise _not_read(path, head)
    try:
        with opened(path), path.open("rb") as stream:
            return read_text(b"", stream, origin=shown(path), arch=arch)
    except NoKernel:
        if is_other_text(head):
            raise _not_read(path, head) from None
        raise


def is_source(path: Path) -> bool:
    """Whether the file has to be compiled for some GPU before it can be read."""
    return path.suffix.lower() in SOURCE_SUFFIXES or is_ptx(path)


def is_ptx(path: Path, head: bytes | None = None) -> bool:
    """Whether the file is PTX text; ``head``: its first bytes, if they are known."""
    suffix = path.suffix.lower()
    if suffix == ".ptx" or suffix in SOURCE_SUFFIXES:
        return suffix == ".ptx"
    if is_stream(path):  # it could not be read again
        return False
    try:
        return describe(read_head(path) if head is None else head) == "PTX text"
    except InputError:  # said by whoever reads it
        return False


def _machine_code(path: Path, head: bytes) -> Reading:
    from perfkit.compiled.binary import read_binary

    found = read_binary(path, head)
    if found is None:
        raise InputError(
            f"this is {describe(head)} without device code for NVIDIA GPUs", where=shown(path)
        )
    return found


def _json(path: Path, head: bytes) -> Reading | None:
    """What perfkit wrote itself, or a kernel's description in Triton's cache."""
    from perfkit.compiled.inspect_json import is_inspect_json, read_inspect_json
    from perfkit.compiled.triton_cache import Foreign, read_entry

    if is_inspect_json(head):
        return read_inspect_json(path)
    entry = read_entry(path)
    if isinstance(entry, Foreign):
        raise InputError(
            f"this describes a kernel of Triton for other devices ({entry.backend})",
            where=shown(path),
        )
    return entry


def _not_read(path: Path, head: bytes) -> InputError:
    what = describe(head)
    hint = (
        "perfkit reads cubins, fatbins, objects, programs and libraries, wheels, caches of Triton, "
        "PTX, CUDA sources (.cu), logs of ptxas -v and reports of cuobjdump"
    )
    if what == "CUDA source":
        hint += ": rename it to .cu"
    return InputError(f"this is {what}, which is not read", where=shown(path), hint=hint)


def _compiled_pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"--kernel {text!r} is not a regular expression: {error}") from error


def _chosen(
    kernels: tuple[KernelResources, ...], pattern: re.Pattern[str] | None
) -> tuple[KernelResources, ...]:
    if pattern is None:
        return kernels
    found = tuple(
        kernel
        for kernel in kernels
        if pattern.search(kernel.demangled) or pattern.search(kernel.name)
    )
    if not found:
        names = [kernel.demangled for kernel in kernels]
        more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
        raise UsageError(
            f"no kernel matches {pattern.pattern!r}",
            hint=f"the file has {', '.join(names[:_SHOWN_NAMES])}{more}",
        )
    return found
