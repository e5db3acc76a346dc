"""What a compiler's log says about why it refused a source.

``CompileError.log`` has everything; here is what can be told from it in one line or in numbers.
Seen with NVRTC 12.9 and 13.5.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from perfkit.compiled.demangle import demangle

_ERROR: Final = re.compile(r"\berror\b.*?:", re.IGNORECASE)
_SHARED: Final = re.compile(
    r"Entry function '(\S+)' uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)"
)
#: words of errors that another target may not have
_OF_THE_TARGET: Final = re.compile(
    r"architecture|\bsm_\d|\.target|__CUDA_ARCH|too much|compute capability|not supported"
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
