"""A CUDA source compiled for one target by NVRTC, or found in the cache.

``cuda.bindings`` is called rather than ``cuda.core``: one compilation has to give cubin, PTX and
log (``cuda.core.Program`` compiles again for each form), and importing ``cuda.core`` takes 250 ms.
On a cache hit nothing of ``cuda`` is imported. Works with cuda-python 12.9 and 13.x.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfkit.access import EXTRAS, header_directories, nvrtc_targets, require_nvrtc
from perfkit.compiled import cache
from perfkit.compiled.cache import CompiledSource
from perfkit.compiled.compile_options import CompileOptions, target_name
from perfkit.compiled.files import read_text, shown
from perfkit.compiled.includes import user_files
from perfkit.compiled.ptx import compiler_version, dynamic_shared_users, entries
from perfkit.errors import CompileError, Unavailable, UsageError

if TYPE_CHECKING:
    from perfkit.arch.types import ComputeCapability
    from perfkit.errors import PerfkitError

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

_HOST_HEADER: Final = r"c?std\w*|cmath|iostream|vector|string|algorithm|chrono|memory|thread"
_CUDA_HEADER: Final = r"cuda\w*|cooperative_groups|mma|crt|cub|thrust|nv"
_HOST_CODE: Final = r"host functions are not allowed|identifier \"cuda[A-Z]\w*\" is undefined"

#: What the compiler says -> what to do about it; the first that is found counts.
_HINTS: Final = {
    rf'open source file "(?:{_HOST_HEADER})(?:\.h)?"': "NVRTC has no headers of the host's C++"
    " library: leave it out (printf and the mathematical functions need none), or take <cuda/std/>",
    rf'open source file "(?:{_CUDA_HEADER})[/."]': f"CUDA's headers are missing here: {EXTRAS}",
    "open source file": "give the header's directory with -I",
    _HOST_CODE: "NVRTC compiles device code only: guard the rest with #ifndef __CUDACC_RTC__",
}


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
    key = _key(path, source, target, options)
    if key is not None and (found := cache.load(key)) is not None:
        return found
    compiled = _compile(path, source, target, options)
    # a header that changed while the compiler ran would be filed under its old content
    if key is not None and key == _key(path, source, target, options):
        cache.store(key, compiled)
    return compiled


def _key(path: Path, source: bytes, target: str, options: CompileOptions) -> str | None:
    """What the result depends on, hashed; None where that cannot be told."""
    if any("inc" in flag or "path" in flag or flag.startswith("-I") for flag in options.extra):
        return None  # headers that are not looked through
    files = user_files(source, path.parent, options.include_dirs)
    if files is None or cache.directory() is None:
        return None
    parts = [_toolchain(), str(path), target, *options.flags(target), "", *options.name_expressions]
    named = [(str(file), content) for file, content in sorted(files.items())]
    return cache.key_of(
        *(part.encode("utf-8", "surrogateescape") for part in parts),
        source,
        *(part for name, content in named for part in (_bytes(name), content)),
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


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
    program = _ask(nvrtc.nvrtcCreateProgram(source, _bytes(str(path)), 0, None, None))
    try:
        for expression in options.name_expressions:
            _ask(nvrtc.nvrtcAddNameExpression(program, _bytes(expression)))
        (result,) = nvrtc.nvrtcCompileProgram(program, len(flags), [_bytes(flag) for flag in flags])
        log = _text(program, "ProgramLog")
        if result == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise UsageError(f"NVRTC {release} refuses an option: {log.strip()}", where=shown(path))
        if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise _refusal(path, target, log or result.name)
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


def _refusal(path: Path, target: str, log: str) -> PerfkitError:
    if "--nv_arch" in log:  # the SM is known and the suffix is not: sm_80a
        from perfkit.arch.catalog import capability

        known = capability(target[:-1]).compilation.targets
        return UsageError(f"NVRTC has no target {target}", hint=f"write {' or '.join(known)}")
    hint = next((hint for pattern, hint in _HINTS.items() if re.search(pattern, log)), None)
    return CompileError(f"does not compile for {target}", log=log, where=shown(path), hint=hint)


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
