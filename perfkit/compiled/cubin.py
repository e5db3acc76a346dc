"""A cubin's kernels and what each needs. No NVIDIA tool and no device is asked.

Shared memory is what the user declared: from 9.0 on a linked cubin adds the system's 1 KiB to
``.nv.shared.<kernel>``, with every toolkit from 11.8 to 13.5 (the driver's
attribute leaves it out, measured on an H200). Local memory is what the driver reports as a
function's local size.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.compiled.call_graph import CallGraph
from perfkit.compiled.demangle import demangle
from perfkit.compiled.elf import read_elf
from perfkit.compiled.nv_info import read_function_table, read_kernel_attributes
from perfkit.compiled.own_frame import OwnFrames
from perfkit.compiled.reasons import NO_LAUNCH
from perfkit.compiled.shared_memory import declared_bytes, uses_dynamic
from perfkit.errors import CubinError
from perfkit.kernel import KernelResources

if TYPE_CHECKING:
    from perfkit.compiled.elf import CudaElf, Symbol
    from perfkit.compiled.nv_info import FunctionTable, KernelAttributes

_NONE_DECLARED: Final = "the kernel declares none"
_DECLARED: Final = ("max_threads", "required_block", "required_cluster", "max_cluster_blocks")
_UNLINKED: Final = "the kernel calls functions that are not linked yet"
_NOT_DECODED: Final = "the kernel calls functions, and before 7.0 their calls are not looked at"
_NO_SPILLS: Final = "a cubin does not record spills; give the source or the ptxas -v log"
_NOT_IN_CUBIN: Final = NO_LAUNCH | {
    "spill_store_bytes": _NO_SPILLS,
    "spill_load_bytes": _NO_SPILLS,
    "callee_spill_store_bytes": _NO_SPILLS,
    "callee_spill_load_bytes": _NO_SPILLS,
    "min_blocks": "a cubin does not record the blocks per SM that __launch_bounds__ asks for",
}


def read_cubin(data: bytes, *, origin: str) -> tuple[KernelResources, ...]:
    """Every kernel of a cubin, in file order. ``origin`` names the file in errors and results.

    Raises:
        CubinError: not a cubin, or a broken one; ``where`` is ``origin@offset``.
    """
    kernels = read_image(data, origin=origin)
    if not kernels:
        raise CubinError("this cubin holds no kernel", where=origin)
    return kernels


def read_image(data: bytes, *, origin: str) -> tuple[KernelResources, ...]:
    """As ``read_cubin``, of a library's device code, which may be without kernels: variables."""
    elf = read_elf(data, origin=origin)
    functions, graph = read_function_table(elf), CallGraph(elf)
    frames = OwnFrames(elf, functions)
    symbols = [symbol for symbol in elf.functions if symbol.is_kernel]
    names = [demangle(symbol.name) for symbol in symbols]
    # overloads differ only in what the short name leaves out
    shared = Counter(name.name for name in names)
    shown = [name.signature if shared[name.name] > 1 else name.name for name in names]
    return tuple(
        _with_frame(_resources(elf, symbol, name, functions, graph), *frames.of(symbol))
        for symbol, name in zip(symbols, shown, strict=True)
    )


def _resources(
    elf: CudaElf, symbol: Symbol, name: str, functions: FunctionTable, graph: CallGraph
) -> KernelResources:
    code = symbol.section
    attributes = read_kernel_attributes(elf, elf.of_code(".nv.info.", code))
    constant = elf.of_code(".nv.constant0.", code)
    unknown = dict(_NOT_IN_CUBIN)
    unlinked = elf.relocatable and graph.calls_out(symbol)
    registers = None if unlinked else _registers(elf, symbol, functions)
    if registers is None:
        unknown["registers_per_thread"] = _UNLINKED if unlinked else "the file does not say"
    stack, unbounded = _stack(symbol, functions, attributes, graph, unknown, unlinked=unlinked)
    local = elf.of_code(".nv.local.", code)
    static = _static_shared(elf, code)
    dynamic, why = uses_dynamic(elf, symbol, static)
    if dynamic is None:
        unknown["uses_dynamic_shared"] = why
    unknown |= {key: _NONE_DECLARED for key in _DECLARED if getattr(attributes, key) is None}
    return KernelResources(
        name=symbol.name,
        demangled=name,
        arch=f"sm_{elf.sm}{elf.suffix}",
        registers_per_thread=registers,
        static_shared_bytes=static,
        stack_bytes=stack,
        spill_store_bytes=None,
        spill_load_bytes=None,
        cumulative_stack_bytes=stack,
        unbounded_stack=unbounded,
        local_bytes=None if stack is None else stack + (local.size if local else 0),
        constant_bytes=constant.size if constant else 0,
        parameter_bytes=attributes.parameter_bytes,
        barriers=_barriers(elf, code, attributes),
        max_threads=attributes.max_threads,
        min_blocks=None,
        required_block=attributes.required_block,
        required_cluster=attributes.required_cluster,
        max_cluster_blocks=attributes.max_cluster_blocks,
        uses_dynamic_shared=dynamic,
        origin=elf.origin,
        unknown=unknown,
    )


def _with_frame(kernel: KernelResources, frame: int | None, why: str) -> KernelResources:
    if frame is None:
        kernel.unknown["frame_bytes"] = why
        return kernel
    return replace(kernel, frame_bytes=frame)


def _registers(elf: CudaElf, symbol: Symbol, functions: FunctionTable) -> int | None:
    """From .nv.info; older files only have the top byte of the code section's ``sh_info``."""
    if symbol.number in functions.registers:
        return functions.registers[symbol.number]
    section = elf.sections.get(symbol.section)
    return (section.info >> 24 or None) if section is not None else None


def _static_shared(elf: CudaElf, code: int) -> int:
    section = elf.of_code(".nv.shared.", code)
    if section is None:
        return 0
    return section.size if elf.relocatable else declared_bytes(section.size, elf.sm)


def _barriers(elf: CudaElf, code: int, attributes: KernelAttributes) -> int:
    """From .nv.info; the older flavour of files keeps them in the code section's flags."""
    if attributes.barriers is not None:
        return attributes.barriers
    section = elf.sections.get(code)
    return (section.flags >> 20) & 0x7F if section is not None and elf.abi < 8 else 0


def _stack(
    symbol: Symbol,
    functions: FunctionTable,
    attributes: KernelAttributes,
    graph: CallGraph,
    unknown: dict[str, str],
    *,
    unlinked: bool,
) -> tuple[int | None, bool | None]:
    """Bytes per thread, callees included, and whether they have no bound.

    What is None has its reason put into ``unknown``.
    """
    why = _UNLINKED if unlinked else graph.why_unbounded(symbol, functions, attributes)
    if why is not None:
        unknown.update(dict.fromkeys(("stack_bytes", "cumulative_stack_bytes", "local_bytes"), why))
    frame = functions.frame_bytes.get(symbol.number, 0)
    stack = None if why is not None else functions.stack_bytes.get(symbol.number, frame)
    if unlinked or (why is None and graph.is_opaque(symbol)):
        unknown["unbounded_stack"] = why or _NOT_DECODED
        return stack, None
    return stack, why is not None
