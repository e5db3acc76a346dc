"""A CUDA source compiled for one target by nvcc, which takes what NVRTC cannot: host code.

The source is compiled where it lies, so that it finds its own includes; everything that nvcc
writes goes to a private directory. nvcc also sees the template instances that host code uses; those
that ``--instantiate`` names are added by a file that includes the source and takes their addresses.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.compiled import cache, tools
from perfkit.compiled.cache import CompiledSource
from perfkit.compiled.files import read_text
from perfkit.compiled.includes import source_key
from perfkit.compiled.ptx import dynamic_shared_users, entries
from perfkit.compiled.refusals import NO_HOST_COMPILER, refusal
from perfkit.errors import Unavailable
from perfkit.files import shown

if TYPE_CHECKING:
    from perfkit.compiled.compile_options import CompileOptions
    from perfkit.compiled.tools import Finished
    from perfkit.errors import PerfkitError

_UNKNOWN_TARGET: Final = "Unsupported gpu architecture"
#: what else decides the result: nvcc's own variables, and those of the host's compiler
_VARIABLES: Final = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
)


def compile_source(path: Path, *, target: str, options: CompileOptions) -> CompiledSource:
    """Compile ``path`` for ``target``, such as ``sm_90a``.

    Raises:
        InputError: the file cannot be read as source text.
        CompileError: nvcc refuses it; ``log`` is nvcc's.
        UsageError: a target that does not exist, or an instance that the source does not have.
        Unavailable: nvcc is not here, has no host compiler, or does not know the target.
    """
    source = read_text(path, "a CUDA source")
    tool = tools.find(tools.NVCC)
    version = tools.version(tool)
    parts = (f"nvcc {tool} {version}", *(os.environ.get(name, "") for name in _VARIABLES))
    key = source_key(path, source, target, options, parts)
    if key is not None and (found := cache.load(key)) is not None:
        return found
    compiled = _compile(tool, path, source, target, options)
    compiled = replace(compiled, compiler=f"nvcc {version}")
    # a header that changed while the compiler ran would be filed under its old content
    if key is not None and key == source_key(path, source, target, options, parts):
        cache.store(key, compiled)
    return compiled


def _compile(
    tool: Path, path: Path, source: bytes, target: str, options: CompileOptions
) -> CompiledSource:
    with tempfile.TemporaryDirectory(prefix="perfkit-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        file = path.absolute()
        if options.name_expressions:
            file = folder / "instances.cu"
            file.write_bytes(os.fsencode(_instances(path.absolute(), options.name_expressions)))
        command: list[str | Path] = [tool, *_flags(target, options), "-o", "output.cubin"]
        command += ["--keep", "--keep-dir", place, "-x", "cu", file]
        done = tools.run(command, folder=folder)
        cubin, ptx = folder / "output.cubin", next(folder.glob("*.ptx"), None)
        log = (done.stdout + done.stderr).replace(str(path.absolute()), shown(path))
        if done.code != 0 or not cubin.is_file() or ptx is None:
            raise _refusal(done, path, source, target, log)
        text = ptx.read_text("utf-8", "replace")
        return CompiledSource(
            cubin=cubin.read_bytes(),
            log=log,
            compiler="nvcc",
            target=target,
            entries=entries(text),
            dynamic=dynamic_shared_users(text),
        )


def _flags(target: str, options: CompileOptions) -> list[str]:
    """As for NVRTC, but nvcc runs elsewhere and takes a comma for the next value of an option."""
    elsewhere = tuple(directory.absolute() for directory in options.include_dirs)
    count = len(options.extra)
    flags = replace(options, include_dirs=elsewhere).flags(target)
    own = flags[: len(flags) - count]
    return ["-cubin", *(flag.replace(",", r"\,") for flag in own), *options.extra]


def _instances(path: Path, expressions: tuple[str, ...]) -> str:
    """Line n of the file that the errors name is the nth instance."""
    lines = [
        f"__attribute__((used)) static auto perfkit_instance_{number} = &{' '.join(text.split())};"
        for number, text in enumerate(expressions)
    ]
    return "\n".join([f'#include "{path}"', '#line 1 "--instantiate"', *lines, ""])


def _refusal(done: Finished, path: Path, source: bytes, target: str, log: str) -> PerfkitError:
    if done.code is None or done.code < 0:
        log = f"{log}\n{tools.reason(done, 'nvcc')}"
    elif NO_HOST_COMPILER.search(log):
        return Unavailable(
            f"nvcc has no host compiler: {tools.reason(done, 'nvcc')}",
            where=shown(path),
            hint="install g++ (apt-get install g++), or name one with NVCC_CCBIN",
        )
    elif _UNKNOWN_TARGET in log:
        from perfkit.arch.catalog import capability

        compilation = capability(target).compilation
        if target in compilation.targets:
            return Unavailable(
                f"this nvcc does not compile for {target}: CUDA {compilation.first_cuda} to "
                f"{compilation.last_cuda or 'the latest'} do",
                where=shown(path),
                hint="NVCC names another nvcc",
            )
    return refusal(path, source, target, log, compiler="nvcc")
