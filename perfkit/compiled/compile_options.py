"""How a source is to be compiled: checked here, so that the compiler only sees sane options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perfkit.arch.types import ComputeCapability
from perfkit.errors import UsageError

_DEFINE: Final = re.compile(r"[A-Za-z_]\w*(\([\w\s,.]*\))?(=.*)?", re.DOTALL | re.ASCII)
#: NVRTC needs nothing but itself, nvcc takes host code; ``auto`` is the first that will do
COMPILERS: Final = ("auto", "nvrtc", "nvcc")
_MAX_REGISTERS: Final = 255  #: per thread, on every capability (CUDA Programming Guide)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """``extra`` goes to the compiler as it is."""

    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()  #: ``NAME`` or ``NAME=VALUE``
    std: str | None = None  #: ``c++17``
    max_registers: int | None = None
    fast_math: bool = False
    name_expressions: tuple[str, ...] = ()  #: template instances: ``axpy<float, 256>``
    extra: tuple[str, ...] = ()
    compiler: str = "auto"  #: one of ``COMPILERS``

    def __post_init__(self) -> None:
        if self.compiler not in COMPILERS:
            raise UsageError(f"--compiler {self.compiler}: one of {', '.join(COMPILERS)}")
        for directory in self.include_dirs:
            if not directory.is_dir():
                raise UsageError(f"--include {directory}: there is no such directory")
        for define in self.defines:
            if _DEFINE.fullmatch(define) is None:
                raise UsageError(f"--define {define!r}: write NAME or NAME=VALUE")
        if self.max_registers is not None and not 1 <= self.max_registers <= _MAX_REGISTERS:
            raise UsageError(
                f"--maxrregcount {self.max_registers}: a thread has 1 to {_MAX_REGISTERS} registers"
            )
        for text in (*self.defines, *self.name_expressions, *self.extra, self.std or ""):
            if "\0" in text:
                raise UsageError("an option for the compiler holds a NUL character")

    def flags(self, target: str) -> tuple[str, ...]:
        """What the compiler is called with, CUDA's own include directories left out.

        >>> CompileOptions(std="c++20").flags("sm_90a")
        ('--gpu-architecture=sm_90a', '--ptxas-options=-v', '--std=c++20')
        """
        flags = [f"--gpu-architecture={target}", "--ptxas-options=-v"]
        if self.std is not None:
            flags.append(f"--std={self.std}")
        if self.max_registers is not None:
            flags.append(f"--maxrregcount={self.max_registers}")
        if self.fast_math:
            flags.append("--use_fast_math")
        flags += [f"--define-macro={define}" for define in self.defines]
        flags += [f"--include-path={directory}" for directory in self.include_dirs]
        return (*flags, *self.extra)


def target_name(arch: ComputeCapability | str) -> str:
    """``sm_90`` of a capability, ``9.0``, ``sm_90`` or ``compute_90``; suffixes stay.

    Raises:
        UsageError: not a compute capability.

    >>> target_name("9.0"), target_name("sm_90a"), target_name(ComputeCapability(8, 6))
    ('sm_90', 'sm_90a', 'sm_86')
    """
    if isinstance(arch, ComputeCapability):
        return arch.sm
    text = arch.strip().lower()
    suffix = text[-1] if text[-1:] in {"a", "f"} else ""
    return ComputeCapability.parse(text).sm + suffix
