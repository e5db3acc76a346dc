"""PTX text compiled for one target by ``ptxas``, or found in the cache.

``ptxas`` rather than ``nvJitLink`` or the driver: the wheel that CUDA sources need for a header has
it already, its log has the spills, and broken PTX that crashes it does so in a process of its own.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.arch.types import ComputeCapability
from perfkit.compiled import cache, tools
from perfkit.compiled.cache import CompiledSource
from perfkit.compiled.compile_options import target_name
from perfkit.compiled.files import read_text
from perfkit.compiled.ptx import dynamic_shared_users, entries
from perfkit.compiled.source import reading_of
from perfkit.errors import CompileError, InputError, Unavailable, UsageError
from perfkit.files import shown
from perfkit.models.compatibility import ptx_compiles_for

if TYPE_CHECKING:
    from perfkit.compiled.reading import Reading
    from perfkit.compiled.tools import Finished

_TARGET: Final = re.compile(r"^[ \t]*+\.target\s++(sm_\d++[af]?)\b", re.MULTILINE)
_TOOL_VERSION: Final = re.compile(r"\bV(\d+\.\d+\.\d+)")

#: what ptxas says when it is too old, or the target is too old for it
_TOO_OLD: Final = re.compile(r"Unsupported \.version|is not defined for option 'gpu-name'")
_UNLINKED: Final = "Unresolved extern"


def read_ptx(
    path: Path, *, arch: ComputeCapability | str | None, max_registers: int | None = None
) -> Reading:
    """Every kernel of a PTX file, compiled for ``arch``, in the order of the text.

    Raises:
        InputError: unreadable, not PTX, or without a kernel.
        UsageError: no ``arch`` given.
        CompileError: ``arch`` does not take this PTX, or ptxas refuses it.
        Unavailable: there is no ptxas here, or it is too old.
    """
    return compile_ptx(read_text(path, "PTX"), path, arch=arch, max_registers=max_registers)


def compile_ptx(
    data: bytes,
    path: Path,
    *,
    arch: ComputeCapability | str | None,
    max_registers: int | None = None,
) -> Reading:
    """The same of a text; ``path`` names it and is not read. Raises as ``read_ptx``."""
    text = data.decode("utf-8", "replace")
    match = _TARGET.search(text)
    if match is None:
        raise InputError("no .target: not whole PTX", where=shown(path))
    if arch is None:
        raise UsageError(
            f"{shown(path)} is PTX for {match[1]}: it has to be compiled for some GPU",
            hint=f"name the architecture, such as --gpu {match[1]}",
        )
    found = entries(text)
    if not found:
        raise InputError(
            "the PTX has no kernel", where=shown(path), hint="a kernel is an .entry with a body"
        )
    target = _target(target_name(arch), match[1], path)
    return reading_of(_compiled(path, data, target, max_registers, found), path)


def _compiled(
    path: Path,
    data: bytes,
    target: str,
    max_registers: int | None,
    found: tuple[tuple[str, int | None], ...],
) -> CompiledSource:
    tool = tools.find(tools.PTXAS)
    status = tool.stat()
    parts = ("ptx", str(tool), str(status.st_size), str(status.st_mtime_ns), target)
    key = cache.key_of(*(part.encode() for part in parts), b"%r" % max_registers, data)
    if (known := cache.load(key)) is not None:
        return known
    cubin, log = _compile(tool, data, target, max_registers, path)
    version = _TOOL_VERSION.search(tools.run([tool, "--version"], folder=tool.parent).stdout)
    compiled = CompiledSource(
        cubin=cubin,
        log=log,
        compiler=f"ptxas {version[1]}" if version else "ptxas",
        target=target,
        entries=found,
        dynamic=dynamic_shared_users(data.decode("utf-8", "replace")),
    )
    cache.store(key, compiled)
    return compiled


def _target(wanted: str, written: str, path: Path) -> str:
    """What to compile for: features of one chip or family that the PTX uses must be asked for.

    Raises:
        CompileError: PTX for ``written`` does not compile for ``wanted``.
    """
    asked = ComputeCapability.parse(wanted)
    suffix = written[-1] if written[-1] in {"a", "f"} else ""
    if not ptx_compiles_for(written, asked):
        span = {"a": "only", "f": "and later ones of its family"}.get(suffix, "and later")
        needed = ComputeCapability.parse(written)
        raise CompileError(
            f"does not compile for {wanted}",
            log=f"error: the .target of the PTX is {written}: it is for {needed} {span}",
            where=shown(path),
        )
    return wanted + suffix if wanted == asked.sm else wanted


def _compile(
    tool: Path, data: bytes, target: str, max_registers: int | None, path: Path
) -> tuple[bytes, str]:
    """Cubin and log."""
    with tempfile.TemporaryDirectory(prefix="perfkit-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        (folder / "input.ptx").write_bytes(data)
        command: list[str | Path] = [tool, "-v", f"-arch={target}", "input.ptx"]
        command += ["-o", "output.cubin"]
        if max_registers is not None:
            command.append(f"--maxrregcount={max_registers}")
        done = tools.run(command, folder=folder)
        if done.code and _UNLINKED in done.stderr:  # calls functions of other files
            done = tools.run([*command, "--compile-only"], folder=folder)
        if done.code != 0 or not (folder / "output.cubin").is_file():
            raise _refusal(done, target, path)
        return (folder / "output.cubin").read_bytes(), done.stdout + done.stderr


def _refusal(done: Finished, target: str, path: Path) -> CompileError | Unavailable:
    log = done.stderr.replace("input.ptx", shown(path))
    if _TOO_OLD.search(log):
        why = tools.reason(done, "ptxas")
        return Unavailable(
            f"{shown(path)} does not compile for {target} with this ptxas: {why}",
            hint=tools.PTXAS.hint,
        )
    if done.code is None or done.code < 0:
        log = tools.reason(done, "ptxas")
    return CompileError(f"does not compile for {target}", log=log, where=shown(path))
