"""The kernels of a CUDA source: what the compiler's three outputs say together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.files import shown
from perfkit.compiled.nvrtc import compile_source
from perfkit.compiled.ptxas_log import spills
from perfkit.errors import CubinError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from perfkit.arch.types import ComputeCapability
    from perfkit.compiled.compile_options import CompileOptions
    from perfkit.kernel import KernelResources

_NO_KERNEL_HINT: Final = (
    "mark a function __global__; name an instance of a template: --instantiate 'axpy<float, 256>'"
)
_NOT_ASKED: Final = "__launch_bounds__ asks for no number of blocks"
_NOT_LOGGED: Final = "the compiler's log does not mention the kernel"


def read_source(
    path: Path, *, arch: ComputeCapability | str, options: CompileOptions
) -> tuple[KernelResources, ...]:
    """Compile ``path`` for ``arch`` and read every kernel, in source order.

    Raises:
        InputError: unreadable, or it has no kernel.
        CompileError, UsageError, Unavailable: as ``nvrtc.compile_source``.
    """
    compiled = compile_source(path, arch=arch, options=options)
    if not compiled.entries:
        raise InputError("the source has no kernel", where=shown(path), hint=_NO_KERNEL_HINT)
    kernels = {
        kernel.name: kernel
        for kernel in read_cubin(compiled.cubin, origin=f"{shown(path)}, {compiled.compiler}")
    }
    if missing := [name for name, _ in compiled.entries if name not in kernels]:
        raise CubinError(f"the compiler left out {', '.join(missing)}", where=shown(path))
    counts = spills(compiled.log)
    found = []
    for name, blocks in compiled.entries:
        kernel, count = kernels[name], counts.get(name)
        reasons = {
            "min_blocks": _NOT_ASKED if blocks is None else None,
            "spill_store_bytes": _NOT_LOGGED if count is None else None,
            "spill_load_bytes": _NOT_LOGGED if count is None else None,
        }
        found.append(
            replace(
                kernel,
                min_blocks=blocks,
                spill_store_bytes=count.store_bytes if count else None,
                spill_load_bytes=count.load_bytes if count else None,
                unknown={key: why for key, why in {**kernel.unknown, **reasons}.items() if why},
            )
        )
    return tuple(found)
