"""What a compiler's log says about why it refused a source, and what to do about it.

``CompileError.log`` has everything; here is what can be told from it in one line or in numbers.
Seen with NVRTC 12.9 and 13.5 and nvcc 13.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.access import EXTRAS
from perfkit.compiled.declared import declared, listing
from perfkit.compiled.demangle import demangle
from perfkit.errors import CompileError, UsageError
from perfkit.files import shown

if TYPE_CHECKING:
    from pathlib import Path

_ERROR: Final = re.compile(r"\berror\b.*?:", re.IGNORECASE)
_SHARED: Final = re.compile(
    r"Entry function '(\S+)' uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)"
)
#: words of errors that another target may not have
_OF_THE_TARGET: Final = re.compile(
    r"architecture|\bsm_\d|\.target|__CUDA_ARCH|too much|compute capability|not supported"
)
_HOST_HEADER: Final = r"c?std\w*|cmath|iostream|vector|string|algorithm|chrono|memory|thread"
_CUDA_HEADER: Final = r"cuda\w*|cooperative_groups|mma|crt|cub|thrust|nv"
_HOST_CODE: Final = (
    r"host (?:functions|variables) are not allowed|identifier \"cuda[A-Z]\w*\" is undefined"
)
#: what nvcc may take all the same: its host compiler has headers, and functions are for the host
_FOR_NVCC: Final = re.compile(rf"open source file|{_HOST_CODE}")

_NO_TARGET: Final = re.compile(r"--nv_arch|Unsupported gpu architecture")
NO_HOST_COMPILER: Final = re.compile(
    r"host compiler properties|host compiler .* not found|No such file or directory\s*\nnvcc fatal"
)
_TOO_MUCH_SHARED: Final = (
    "make it dynamic: extern __shared__, its size in the launch, and"
    " cudaFuncAttributeMaxDynamicSharedMemorySize beyond 48 KiB; CUDA 13 also takes more of it"
    " statically for the targets sm_90a, sm_100a and sm_120a"
)

#: What the compiler says -> what to do about it; the first that is found counts.
_HINTS: Final = {
    rf'open source file "(?:{_HOST_HEADER})(?:\.h)?"': "NVRTC has no headers of the host's C++"
    " library: leave it out (printf and the mathematical functions need none), or take <cuda/std/>;"
    " --compiler nvcc has them",
    rf'open source file "(?:{_CUDA_HEADER})[/."]': f"CUDA's headers are missing here: {EXTRAS}",
    "open source file|fatal error: .*: No such file": "give the header's directory with -I",
    _HOST_CODE: "NVRTC compiles device code only: guard the rest with #ifndef __CUDACC_RTC__,"
    " or take --compiler nvcc",
    "uses too much shared data": _TOO_MUCH_SHARED,
}

#: NVRTC repeats the instance that it was asked for; nvcc names its line
_INSTANCE: Final = re.compile(
    r"^__nv_name_map\(\d+\): error: (?P<why>.*)\n\s*#pragma nv_mangled_name (?P<name>.*)$"
    r"|^--instantiate\(\d+\): error: (?P<why2>.*)\n.*?= &(?P<name2>.*);$",
    re.MULTILINE,
)


class SharedExcess(NamedTuple):
    """A kernel with more static shared memory than the assembler takes for the target."""

    kernel: str  #: demangled
    needed_bytes: int
    allowed_bytes: int


def first_error(log: str) -> str:
    r"""The first line of ``log`` that is an error; its first line at all if none says so.

    >>> first_error("a.cu(1): warning: w\n  a.cu(4): error: no such thing\n")
    'a.cu(4): error: no such thing'
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if _ERROR.search(line)), lines[0] if lines else "no reason")


def shared_excesses(log: str) -> tuple[SharedExcess, ...]:
    """Every kernel that was refused for its static shared memory."""
    return tuple(
        SharedExcess(demangle(name).name, int(needed, 16), int(allowed, 16))
        for name, needed, allowed in _SHARED.findall(log)
    )


def concerns_target(log: str) -> bool:
    """Whether the errors look like the target's, so that another one may take the source."""
    errors = [line for line in log.splitlines() if _ERROR.search(line)]
    return any(_OF_THE_TARGET.search(line) for line in errors)


def is_for_nvcc(log: str) -> bool:
    """Whether NVRTC stumbled over what a host compiler is for."""
    return _FOR_NVCC.search(log) is not None


def refusal(
    path: Path, source: bytes, target: str, log: str, *, compiler: str
) -> CompileError | UsageError:
    """The error to raise for ``source``, which lies at ``path``."""
    if _NO_TARGET.search(log):
        from perfkit.arch.catalog import capability

        # the SM is known and the suffix is not: sm_80a
        known = capability(target).compilation.targets
        return UsageError(f"{compiler} has no target {target}", hint=f"write {' or '.join(known)}")
    instance = _INSTANCE.search(log)
    if instance is not None and instance[0].partition("\n")[0] == first_error(log):
        return UsageError(
            f"--instantiate '{instance['name'] or instance['name2']}': "
            f"{instance['why'] or instance['why2']}",
            where=shown(path),
            hint=listing(declared(source.decode("utf-8", "replace"))),
        )
    hint = next((hint for pattern, hint in _HINTS.items() if re.search(pattern, log)), None)
    return CompileError(f"does not compile for {target}", log=log, where=shown(path), hint=hint)
