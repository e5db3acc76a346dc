"""A CUDA source compiled for one target by NVRTC, or found in the cache.

``cuda.bindings`` is called rather than ``cuda.core``: one compilation has to give cubin, PTX and
log (``cuda.core.Program`` compiles again for each form), and importing ``cuda.core`` takes 250 ms.
On a cache hit nothing of ``cuda`` is imported. Works with cuda-python 12.9 and 13.x.
"""

from __future__ import annotations

import re
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfkit.access import header_directories, nvrtc_targets, require_nvrtc
from perfkit.compiled import cache
from perfkit.compiled.aside import aside
from perfkit.compiled.cache import CompiledSource
from perfkit.compiled.compile_options import CompileOptions, target_name
from perfkit.compiled.files import read_text
from perfkit.compiled.includes import encoded, source_key
from perfkit.compiled.ptx import compiler_version, dynamic_shared_users, entries
from perfkit.compiled.refusals import refusal
from perfkit.errors import Unavailable, UsageError
from perfkit.files import shown

if TYPE_CHECKING:
    from perfkit.arch.types import ComputeCapability

#: Wheels with the compiler and its headers, for CUDA 12 and 13: their versions decide the result.
_COMPILER_WHEELS: Final = ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
_HEADER_WHEELS: Final = ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime")
_OTHER_WHEELS: Final = (
    "cuda-bindings",
    "nvidia-cuda-cccl-cu12",
    "nvidia-cuda-cccl",
    "nvidia-cuda-nvcc-cu12",
    "nvidia-cuda-crt",
)


def compile_source(
    path: str | Path, *, arch: ComputeCapability | str, options: CompileOptions | None = None
) -> CompiledSource:
    """Compile ``path`` for ``arch``, which is a capability or its name: ``9.0``, ``sm_90a``.

    Raises:
        InputError: the file cannot be read as source text.
        CompileError: the compiler refuses it; ``log`` is the compiler's, unchanged.
        UsageError: not a capability, or an option that the compiler refuses.
        Unavailable: there is no compiler here, or it does not know the target.
    """
    options, target, path = options or CompileOptions(), target_name(arch), Path(path)
    source = read_text(path, "a CUDA source")
    toolchain = (_toolchain(),)
    key = source_key(path, source, target, options, toolchain)
    if key is not None and (found := cache.load(key)) is not None:
        return found
    compiled = aside(partial(_compile, path, source, target, options))
    # a header that changed while the compiler ran would be filed under its old content
    if key is not None and key == source_key(path, source, target, options, toolchain):
        cache.store(key, compiled)
    return compiled


def _toolchain() -> str:
    """Which compiler and headers will be used, from installed packages: no library is loaded.

    Where they come from a toolkit instead, the files themselves are asked.
    """
    found = {}
    for name in (*_COMPILER_WHEELS, *_HEADER_WHEELS, *_OTHER_WHEELS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    wheels = [any(name in found for name in group) for group in (_COMPILER_WHEELS, _HEADER_WHEELS)]
    return f"{found} {'' if all(wheels) else _toolkit()}"


def _toolkit() -> str:
    require_nvrtc()
    from cuda.pathfinder import load_nvidia_dynamic_lib

    library = Path(load_nvidia_dynamic_lib("nvrtc").abs_path or "")
    files = [library, *(Path(d, "cuda_runtime_api.h") for d in header_directories().values())]
    stats = [(file, file.stat()) for file in files if file.is_file()]
    return repr([(str(file), stat.st_size, stat.st_mtime_ns) for file, stat in stats])


def _compile(path: Path, source: bytes, target: str, options: CompileOptions) -> CompiledSource:
    release = "{}.{}".format(*require_nvrtc())
    _check_target(target, release)
    from cuda.bindings import nvrtc

    flags = [
        *options.flags(target),
        *(f"--include-path={directory}" for directory in header_directories().values()),
    ]
    program = _ask(nvrtc.nvrtcCreateProgram(source, encoded(str(path)), 0, None, None))
    try:
        for expression in options.name_expressions:
            _ask(nvrtc.nvrtcAddNameExpression(program, encoded(expression)))
        (result,) = nvrtc.nvrtcCompileProgram(
            program, len(flags), [encoded(flag) for flag in flags]
        )
        log = _text(program, "ProgramLog")
        if result == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise UsageError(f"NVRTC {release} refuses an option: {log.strip()}", where=shown(path))
        if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise refusal(path, source, target, log or result.name, compiler="NVRTC")
        ptx = _text(program, "PTX")
        return CompiledSource(
            cubin=_get(program, "CUBIN"),
            log=log,
            compiler=f"NVRTC {compiler_version(ptx) or release}",
            target=target,
            entries=entries(ptx),
            dynamic=dynamic_shared_users(ptx),
        )
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _ask(answer: tuple[Any, ...]) -> Any:
    """The value of a call that only fails for reasons that are not the user's."""
    result, *values = answer
    if int(result):
        raise Unavailable(f"NVRTC fails: {result.name}")
    return values[0] if values else None


def _get(program: Any, what: str) -> bytes:
    from cuda.bindings import nvrtc

    # NVRTC writes into it: not bytes, of which Python shares those of one character
    buffer = bytearray(_ask(getattr(nvrtc, f"nvrtcGet{what}Size")(program)))
    _ask(getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return bytes(buffer)


def _text(program: Any, what: str) -> str:
    return _get(program, what).rstrip(b"\0").decode("utf-8", "replace")


def _check_target(target: str, release: str) -> None:
    """A target of which the installed NVRTC does not know the SM: say which extra does."""
    if int(re.sub(r"\D", "", target)) in nvrtc_targets():
        return
    from perfkit.arch.catalog import capability

    compilation = capability(target).compilation
    last = compilation.last_cuda
    extra, span = ("cu13", "and later") if last is None else ("cu12", f"to {last}")
    raise Unavailable(
        f"NVRTC {release} does not compile for {target}: CUDA {compilation.first_cuda} {span} do",
        hint=f"pip install 'perfkit[{extra}]' in an environment of its own has one that does",
    )
