"""Whether a kernel's stack has a bound: recursion, and calls through pointers.

A cubin states the stack of a kernel with everything it calls. Of recursion ptxas leaves out what
it cannot bound and, before 13.x, says nothing: such a kernel looks as if it used no stack at all.
So the calls are looked at here. They stand in two places: those between sections in
``.nv.callgraph`` (separate compilation), those within one section in the code.

Encoding of a call from 7.0 on, read off ``nvdisasm -hex``: 16 bytes per instruction, the low 12
bits of the first word say what it is; its target is relative to the next instruction, in bytes in
the upper half up to 8.9, in words split over bits 16-23 and 34-63 from 9.0 on.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from perfkit.compiled.nv_info import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.compiled.elf import CudaElf, Symbol
    from perfkit.compiled.nv_info import FunctionTable, KernelAttributes

_CALL: Final = 0x944  #: CALL.REL to a fixed place
_CALL_REGISTER: Final = 0x344  #: CALL.REL to what a register holds; system calls use CALL.ABS
_INSTRUCTION: Final = 16
_FIRST_DECODED: Final = 70
_SPLIT_OFFSET: Final = 90

#: Markers in .nv.callgraph: (0, marker) opens a list of pairs.
_CALLS, _POINTER_CALLS = 0xFFFFFFFF, 0xFFFFFFFD


class CallGraph:
    """The calls of one cubin. ``edges``: symbol -> symbols it calls, across sections."""

    def __init__(self, elf: CudaElf) -> None:
        self.elf = elf
        self.edges: dict[int, set[int]] = {}
        self.pointer_callers: set[int] = set()
        for section in elf.sections.values():
            if section.name == ".nv.callgraph":
                self._read(elf.content(section))
        self.by_section: dict[int, list[Symbol]] = {}
        for function in elf.functions:
            self.by_section.setdefault(function.section, []).append(function)

    def _read(self, data: bytes) -> None:
        marker = 0
        for caller, callee in struct.iter_unpack("<II", data[: len(data) // 8 * 8]):
            if caller == 0:
                marker = callee
            elif marker == _CALLS:
                self.edges.setdefault(caller, set()).add(callee)
            elif marker == _POINTER_CALLS:
                self.pointer_callers.add(caller)

    def why_unbounded(
        self, kernel: Symbol, functions: FunctionTable, attributes: KernelAttributes
    ) -> str | None:
        """Why the stack that the file states is not what the kernel may use; None: it is."""
        stated = functions.stack_bytes.get(kernel.number, 0)
        local = self.by_section.get(kernel.section, [])
        text = self._text(kernel)
        if stated == UNBOUNDED or self._recurses(kernel, local, text):
            return "the kernel calls a recursive function: the depth decides"
        if self.elf.sm < _FIRST_DECODED:
            frames = [functions.frame_bytes.get(function.number, 0) for function in local]
            if max(frames, default=0) > stated:
                return "a function that the kernel calls needs more: recursion, whose depth decides"
        calls_pointer = (
            attributes.calls_pointer
            or kernel.number in self.pointer_callers
            or any(True for _ in self._calls(text, _CALL_REGISTER))
        )
        if calls_pointer and not stated:
            return "the kernel calls through a pointer, to functions that the file does not name"
        return None

    def is_opaque(self, kernel: Symbol) -> bool:
        """Whether the kernel calls something, and of what that calls nothing is known.

        Before 7.0 calls within a section are not decoded, so that recursion may be overlooked.
        """
        if self.elf.sm >= _FIRST_DECODED:
            return False
        return (
            len(self.by_section.get(kernel.section, ())) > 1
            or kernel.number in self.pointer_callers
            or self.calls_out(kernel)
        )

    def calls_out(self, kernel: Symbol) -> bool:
        """The kernel calls functions in other sections."""
        return bool(self.edges.get(kernel.number))

    def _text(self, kernel: Symbol) -> bytes:
        if self.elf.sm < _FIRST_DECODED:
            return b""
        section = self.elf.sections.get(kernel.section)
        return b"" if section is None else self.elf.content(section)

    def _recurses(self, kernel: Symbol, local: list[Symbol], text: bytes) -> bool:
        """A cycle can be reached from the kernel."""
        edges = {caller: set(callees) for caller, callees in self.edges.items()}
        starts = {function.value: function.number for function in local}
        for at in self._calls(text, _CALL) if len(local) > 1 else ():
            # compilers also use CALL to branch within a function: only its start is a callee
            if (callee := starts.get(self._target(text, at))) is not None:
                edges.setdefault(_holder(local, at), set()).add(callee)
        return _reaches_cycle(edges, kernel.number)

    def _calls(self, text: bytes, opcode: int) -> Iterator[int]:
        """Offsets of the instructions with this opcode."""
        low, high = text[0::_INSTRUCTION], text[1::_INSTRUCTION]
        at = low.find(opcode & 0xFF)
        while at >= 0:
            if at < len(high) and high[at] & 0xF == opcode >> 8:
                yield at * _INSTRUCTION
            at = low.find(opcode & 0xFF, at + 1)

    def _target(self, text: bytes, at: int) -> int:
        word = text[at : at + 8].ljust(8, b"\0")
        upper = int.from_bytes(word[4:], "little", signed=True)
        if self.elf.sm >= _SPLIT_OFFSET:
            upper = (((upper >> 2) << 8) | word[2]) * 4
        return at + _INSTRUCTION + upper


def _holder(functions: list[Symbol], offset: int) -> int:
    """The symbol of the innermost function at this offset; -1 for none of them."""
    holders = [f for f in functions if f.value <= offset < f.value + f.size]
    return min(holders, key=lambda f: f.size).number if holders else -1


def _reaches_cycle(edges: dict[int, set[int]], start: int) -> bool:
    """Depth first without recursion: the graph comes from a file."""
    done: set[int] = set()
    path: set[int] = {start}
    stack = [(start, iter(edges.get(start, ())))]
    while stack:
        node, callees = stack[-1]
        callee = next(callees, None)
        if callee is None:
            path.discard(node)
            done.add(node)
            stack.pop()
        elif callee in path:
            return True
        elif callee not in done:
            path.add(callee)
            stack.append((callee, iter(edges.get(callee, ()))))
    return False
