"""Records of a log -> ``KernelResources``: what each number means, and why one is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from perfkit.compiled.reasons import NO_LAUNCH
from perfkit.compiled.shared_memory import declared_bytes
from perfkit.files import printable
from perfkit.kernel import KernelResources

if TYPE_CHECKING:
    from perfkit.compiled.log_entries import Entry
    from perfkit.compiled.log_sentences import Used

_NOT_LOGGED: Final = NO_LAUNCH | {
    "parameter_bytes": "a compiler's log does not say",
    "max_threads": "a compiler's log does not record launch bounds",
    "min_blocks": "a compiler's log does not record launch bounds",
    "required_block": "a compiler's log does not record launch bounds",
    "required_cluster": "a compiler's log does not record clusters",
    "max_cluster_blocks": "a compiler's log does not record launch bounds",
    "uses_dynamic_shared": "a compiler's log does not mention dynamic shared memory",
}
_DISAGREE: Final = "the compiler says {one} and the linker {other}"
_OLD: Final = "this version of ptxas does not print them"
_NO_CONSTANT: Final = "ptxas does not print it for this target"
_NO_TOTAL: Final = "ptxas prints it only for kernels that use a stack"
_NO_FRAME: Final = "the log has no line 'bytes stack frame' of the kernel"
_ONLY_LINKED: Final = "the log has only the linker's lines, which do not say"
NO_CALLEE: Final = "the log names no function that the kernel calls"
_MISSES: Final = "lines of a function that the kernel calls are missing"
_CUT: Final = "the line with the registers breaks off"
_UNBOUNDED: Final = (
    "the compiler cannot tell: recursion, or calls of unknown functions; the kernel's own frame "
    "has {own} bytes"
)
_CALLEES_MORE: Final = (
    "a function that the kernel calls needs {callee} bytes, and ptxas states {total} in all: "
    "recursion, or calls of unknown functions"
)
_MAY_RECUR: Final = (
    "several compilations write at once, and a function of one of them needs {callee} bytes: the "
    "kernel may call it, recursively"
)
_MAY_CALL: Final = "functions are compiled on their own: the linker knows what their callers need"
_BOUND_NOT_LOGGED: Final = "a compiler's log does not say of every stack whether it has a bound"
_APART: Final = "line {line}: a function spills, and the log does not say which kernels call it"

_NUMBERS: Final = (
    "registers_per_thread",
    "static_shared_bytes",
    "stack_bytes",
    "spill_store_bytes",
    "spill_load_bytes",
    "callee_spill_store_bytes",
    "callee_spill_load_bytes",
    "frame_bytes",
    "cumulative_stack_bytes",
    "unbounded_stack",
    "local_bytes",
    "constant_bytes",
    "barriers",
)


def resources(
    entry: Entry, *, name: str, demangled: str, arch: str, origin: str, unbounded: bool
) -> KernelResources:
    """One kernel. ``origin`` is the log's name; ``unbounded``: the compiler warned of its stack."""
    numbers: dict[str, Any] = dict.fromkeys(_NUMBERS)
    unknown: dict[str, str] = {}
    if entry.refused is not None:
        unknown = dict.fromkeys(_NUMBERS, entry.refused)
    else:
        _from_registers_line(entry, int(arch.strip("sm_af")), numbers, unknown)
        _from_frames(entry, numbers, unknown, unbounded=unbounded)
    place = f"{origin}:{entry.line}"
    if entry.linked is not None and entry.used is not None:
        place += f", linked on line {entry.linked[0]}"
    return KernelResources(
        name=name,
        demangled=demangled,
        arch=arch,
        parameter_bytes=None,
        max_threads=None,
        min_blocks=None,
        required_block=None,
        required_cluster=None,
        uses_dynamic_shared=None,
        origin=place,
        unknown=unknown | _NOT_LOGGED,
        **numbers,
    )


def symbol_text(name: bytes) -> str:
    return printable(name.decode("utf-8", "backslashreplace"))


def _from_registers_line(
    entry: Entry, sm: int, numbers: dict[str, int | None], unknown: dict[str, str]
) -> None:
    """What the compiler says of a kernel, or the linker: it knows the called functions too."""
    compiled, linked = entry.used, entry.linked[1] if entry.linked else None
    last = linked or compiled
    if last is None:
        return
    numbers["registers_per_thread"] = last.registers
    if linked is not None and linked.shared is not None:
        numbers["static_shared_bytes"] = declared_bytes(linked.shared, sm)
    elif compiled is not None and not compiled.cut:
        numbers["static_shared_bytes"] = compiled.shared or 0  # ptxas leaves out what is 0
    elif compiled is not None and compiled.shared is not None:
        numbers["static_shared_bytes"] = compiled.shared
    else:
        unknown["static_shared_bytes"] = _CUT
    numbers["barriers"] = _first(linked, compiled, "barriers")
    if numbers["barriers"] is None:
        unknown["barriers"] = _CUT if last.cut else _OLD
    elif compiled is not None and compiled.barriers not in {None, numbers["barriers"]}:
        unknown["barriers"] = _DISAGREE.format(one=compiled.barriers, other=numbers["barriers"])
        numbers["barriers"] = None
    numbers["constant_bytes"] = _first(linked, compiled, "constant")
    if numbers["constant_bytes"] is None:
        unknown["constant_bytes"] = _CUT if last.cut else _NO_CONSTANT


def _first(one: Used | None, other: Used | None, name: str) -> int | None:
    value: int | None = None if one is None else getattr(one, name)
    return value if value is not None or other is None else getattr(other, name)


def _from_frames(
    entry: Entry, numbers: dict[str, int | None], unknown: dict[str, str], *, unbounded: bool
) -> None:
    """Stack and spills: the kernel's own from its frame's line, the rest from what follows it."""
    no_frame = _ONLY_LINKED if entry.used is None else _NO_FRAME
    compiled, linked = entry.used, entry.linked[1] if entry.linked else None
    total = _first(linked, compiled, "stack")
    total = total if total is not None else _first(compiled, None, "cumulative")
    own, stores, loads = entry.frame or (None, None, None)
    numbers["spill_store_bytes"], numbers["spill_load_bytes"] = stores, loads
    numbers["frame_bytes"] = own
    if entry.frame is None:
        unknown.update(
            dict.fromkeys(("frame_bytes", "spill_store_bytes", "spill_load_bytes"), no_frame)
        )
    _callees(entry, numbers, unknown)
    reason, is_unbounded = _why_unknown(entry, own, total, unbounded=unbounded)
    if is_unbounded:
        numbers["unbounded_stack"] = True
    else:
        unknown["unbounded_stack"] = reason or _BOUND_NOT_LOGGED
    if entry.used is None:
        own = total  # as a cubin has it: with everything that is called
    if reason is not None:
        total = None
        unknown["stack_bytes"] = unknown["local_bytes"] = reason
    elif own is None:
        unknown["stack_bytes"] = unknown["local_bytes"] = no_frame
    numbers["stack_bytes"] = own if reason is None else None
    numbers["cumulative_stack_bytes"] = total
    if total is None:
        unknown["cumulative_stack_bytes"] = reason or _NO_TOTAL
    _local(entry, numbers, unknown, own=own, total=total)


def _why_unknown(
    entry: Entry, own: int | None, total: int | None, *, unbounded: bool
) -> tuple[str | None, bool]:
    """Why the log does not state the stack, None: it does; and whether it has no bound."""
    called = entry.callees[0] if entry.callees else 0
    if unbounded:
        return _UNBOUNDED.format(own="?" if own is None else own), True
    if called and (total is None or total < (own or 0) + called):
        stated = "none" if total is None else f"{total}"
        return _CALLEES_MORE.format(callee=called, total=stated), True
    if entry.doubtful_stack and total is None:
        return _MAY_RECUR.format(callee=entry.doubtful_stack), False
    return None, False


def _callees(entry: Entry, numbers: dict[str, int | None], unknown: dict[str, str]) -> None:
    stores, loads = "callee_spill_store_bytes", "callee_spill_load_bytes"
    if entry.module.spills is not None:
        unknown[stores] = unknown[loads] = _APART.format(line=entry.module.spills)
    elif entry.misses_lines:
        unknown[stores] = unknown[loads] = _MISSES
    elif entry.callees is None:
        unknown[stores] = unknown[loads] = NO_CALLEE
    else:
        _, numbers[stores], numbers[loads] = entry.callees


def _local(
    entry: Entry,
    numbers: dict[str, int | None],
    unknown: dict[str, str],
    *,
    own: int | None,
    total: int | None,
) -> None:
    """Local memory as the driver counts it: the stack, and what CUDA 2 kept beside it."""
    local = _first(entry.linked[1] if entry.linked else None, entry.used, "local")
    stack = total if total is not None else numbers["stack_bytes"]
    if stack is None and own is None and local is not None and entry.linked is None:
        stack = 0  # so old that there was no stack
    if total is None and entry.module.apart is not None:
        unknown["local_bytes"] = _MAY_CALL
        return
    if stack is None:
        unknown.setdefault("local_bytes", _NO_FRAME)
        return
    unknown.pop("local_bytes", None)
    numbers["local_bytes"] = stack + (local or 0)
