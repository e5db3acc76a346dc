"""The kernels of a CUDA source: what the compiler's three outputs say together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from perfkit.compiled.compilers import compile_source
from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.declared import declared, how_to_instantiate
from perfkit.compiled.files import read_text
from perfkit.compiled.ptxas_log import read_log
from perfkit.compiled.reading import Reading
from perfkit.compiled.warnings import warnings
from perfkit.errors import CubinError, InputError
from perfkit.files import shown

if TYPE_CHECKING:
    from pathlib import Path

    from perfkit.arch.types import ComputeCapability
    from perfkit.compiled.cache import CompiledSource
    from perfkit.compiled.compile_options import CompileOptions
    from perfkit.kernel import KernelResources

_NO_KERNEL_HINT: Final = (
    "mark a function __global__; name an instance of a template: --instantiate 'axpy<float, 256>'"
)
_NOT_ASKED: Final = "__launch_bounds__ asks for no number of blocks"
_NOT_LOGGED: Final = "the compiler's log does not mention the kernel"
_OF_THE_LOG: Final = (
    "spill_store_bytes",
    "spill_load_bytes",
    "callee_spill_store_bytes",
    "callee_spill_load_bytes",
)
#: what has no bound if the log shows that the stack has none
_UNBOUNDED: Final = ("stack_bytes", "cumulative_stack_bytes", "local_bytes")


def read_source(path: Path, *, arch: ComputeCapability | str, options: CompileOptions) -> Reading:
    """Compile ``path`` for ``arch`` and read every kernel, in source order; warnings are notes.

    Raises:
        InputError: unreadable, or it has no kernel.
        CompileError, UsageError, Unavailable: as ``compilers.compile_source``.
    """
    compiled = compile_source(path, arch=arch, options=options)
    if not compiled.entries:
        text = read_text(path, "a CUDA source").decode("utf-8", "replace")
        hint = how_to_instantiate(declared(text)) or _NO_KERNEL_HINT
        raise InputError("the source has no kernel", where=shown(path), hint=hint)
    return reading_of(compiled, path)


def reading_of(compiled: CompiledSource, path: Path) -> Reading:
    """Every kernel of what ``path`` was compiled to, in the order of its entries.

    Raises:
        CubinError: an entry is not in the cubin.
    """
    kernels = {
        kernel.name: kernel
        for kernel in read_cubin(compiled.cubin, origin=f"{shown(path)}, {compiled.compiler}")
    }
    if missing := [name for name, _ in compiled.entries if name not in kernels]:
        raise CubinError(f"the compiler left out {', '.join(missing)}", where=shown(path))
    log = compiled.log.encode("utf-8", "replace").splitlines(keepends=True)
    logged = {entry.name: entry for entry in read_log(log, origin=shown(path), arch="sm_0")}
    found = []
    for name, blocks in compiled.entries:
        kernel = _with_log(kernels[name], logged.get(name))
        unknown = dict(kernel.unknown)
        unknown.pop("min_blocks", None)
        unknown.pop("uses_dynamic_shared", None)
        if blocks is None:
            unknown["min_blocks"] = _NOT_ASKED
        dynamic = name in compiled.dynamic
        found.append(
            replace(kernel, min_blocks=blocks, uses_dynamic_shared=dynamic, unknown=unknown)
        )
    return Reading(kernels=tuple(found), notes=warnings(compiled.log, shown(path)))


def _with_log(kernel: KernelResources, logged: KernelResources | None) -> KernelResources:
    """The cubin's numbers, and those that only the log has."""
    values: dict[str, Any] = {name: getattr(logged, name, None) for name in _OF_THE_LOG}
    reasons = dict.fromkeys(_OF_THE_LOG, _NOT_LOGGED) if logged is None else logged.unknown
    unknown = {name: why for name, why in kernel.unknown.items() if name not in _OF_THE_LOG}
    unknown |= {name: reasons[name] for name in _OF_THE_LOG if name in reasons}
    if logged is not None and logged.frame_bytes is not None:
        if kernel.frame_bytes is None:  # before 7.0 only the log has it for each kernel
            values["frame_bytes"] = logged.frame_bytes
            unknown.pop("frame_bytes", None)
        if (why := logged.unknown.get("stack_bytes")) is not None:
            values |= dict.fromkeys(_UNBOUNDED)
            unknown = dict.fromkeys((*_UNBOUNDED, "unbounded_stack"), why) | unknown
            values["unbounded_stack"] = kernel.unbounded_stack or logged.unbounded_stack
            if values["unbounded_stack"]:
                del unknown["unbounded_stack"]
    return replace(kernel, **values, unknown=unknown)
