"""Which compiler takes a source: NVRTC where device code is all there is, else nvcc."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from perfkit.compiled import nvcc, nvrtc, tools
from perfkit.compiled.compile_options import CompileOptions, target_name
from perfkit.compiled.refusals import is_for_nvcc
from perfkit.errors import CompileError, Unavailable
from perfkit.files import shown

if TYPE_CHECKING:
    from perfkit.arch.types import ComputeCapability
    from perfkit.compiled.cache import CompiledSource


def compile_source(
    path: str | Path, *, arch: ComputeCapability | str, options: CompileOptions | None = None
) -> CompiledSource:
    """Compile ``path`` for ``arch``, which is a capability or its name: ``9.0``, ``sm_90a``.

    ``options.compiler`` says by what. ``auto``: by NVRTC; by nvcc where NVRTC stumbles over host
    code or is not here. The result's ``compiler`` then says why.

    Raises:
        InputError: the file cannot be read as source text.
        CompileError: the compiler refuses it; ``log`` is the compiler's, unchanged.
        UsageError: not a capability, or an option that the compiler refuses.
        Unavailable: there is no compiler here, or it does not know the target.
    """
    options, target, path = options or CompileOptions(), target_name(arch), Path(path)
    if options.compiler == "nvcc":
        return nvcc.compile_source(path, target=target, options=options)
    if options.compiler == "nvrtc":
        return nvrtc.compile_source(path, arch=target, options=options)
    try:
        return nvrtc.compile_source(path, arch=target, options=options)
    except CompileError as error:
        if not is_for_nvcc(error.log):
            raise
        refused: CompileError | Unavailable = error
        why = "NVRTC takes no host code"
    except Unavailable as error:
        refused, why = error, error.message
    try:
        tools.find(tools.NVCC)
    except Unavailable as missing:
        if isinstance(refused, CompileError):
            refused.hint = _by_hand(path, target, options, missing)
        raise refused from None
    compiled = nvcc.compile_source(path, target=target, options=options)
    return replace(compiled, compiler=f"{compiled.compiler} ({why})")


def _by_hand(path: Path, target: str, options: CompileOptions, missing: Unavailable) -> str:
    """What to run where nvcc is, as here it is not."""
    if "NVCC" in os.environ:
        return f"{missing.message}; {missing.hint}"
    flags = [f"-I{directory}" for directory in options.include_dirs]
    flags += [f"-D{define}" for define in options.defines]
    flags += [f"-std={options.std}"] if options.std else []
    flags += [f"-maxrregcount={options.max_registers}"] if options.max_registers else []
    flags += ["-use_fast_math"] if options.fast_math else []
    cubin = f"{shown(Path(path.name)).removesuffix(path.suffix)}.cubin"
    command = ["nvcc", f"-arch={target}", "-cubin", *flags, "-o", cubin, shown(path)]
    return (
        "NVRTC compiles device code alone, and nvcc, which takes host code, is not here. Where it "
        f"is, run: {shlex.join(command)}; then: perfkit occupancy {shlex.quote(cubin)}. Or guard "
        "the host code and its headers with #ifndef __CUDACC_RTC__"
    )
