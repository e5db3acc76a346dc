"""The stack frame of a kernel alone. What ``.nv.info`` states is with the functions it contains.

From 7.0 on ``.debug_frame`` is there, without ``-g`` too, and has where each function keeps its
caller's frame: as far above the stack pointer as its own frame is large. It is that of DWARF
(section 6.4) in the 64-bit format; of the registers' numbers nothing is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.compiled.elf import CudaElf, Symbol
    from perfkit.compiled.nv_info import FunctionTable

_REL_TYPES: Final = {9: 16, 4: 24}  #: SHT_REL and SHT_RELA with the bytes of an entry
_WIDE: Final = b"\xff\xff\xff\xff"  #: the length that follows has 64 bits
_HEAD: Final = 12
_COMMON: Final = b"\xff" * 8  #: instead of a pointer to one: the entry is a CIE
_DEF_CFA, _DEF_CFA_OFFSET = 0x0C, 0x0E

#: operands of the instructions whose two high bits are 0: u is a number and b a block, both of
#: variable length, digits are bytes
_OPERANDS: Final = {
    0x00: "", 0x01: "8", 0x02: "1", 0x03: "2", 0x04: "4", 0x05: "uu", 0x06: "u", 0x07: "u",
    0x08: "u", 0x09: "uu", 0x0A: "", 0x0B: "", 0x0C: "uu", 0x0D: "u", 0x0E: "u", 0x0F: "b",
    0x10: "ub", 0x11: "uu", 0x12: "uu", 0x13: "u", 0x14: "uu", 0x15: "uu", 0x16: "ub",
}  # fmt: skip

_NOT_STATED: Final = "the file does not state the kernel's frame"
_TOGETHER: Final = "the file states the kernel's frame only together with the functions it calls"


class OwnFrames:
    """Frames of the kernels of one cubin. ``.debug_frame`` is read when it is first needed."""

    def __init__(self, elf: CudaElf, functions: FunctionTable) -> None:
        self._elf = elf
        self._functions = functions
        self._described: dict[int, int] | None = None
        self._lodgers: dict[int, list[Symbol]] = {}
        for function in elf.functions:
            if not function.is_kernel:
                self._lodgers.setdefault(function.section, []).append(function)

    def of(self, kernel: Symbol) -> tuple[int | None, str]:
        """Bytes, or None and why."""
        stated = self._functions.frame_bytes.get(kernel.number)
        if stated is None:
            return None, _NOT_STATED
        lodgers = self._lodgers.get(kernel.section, ())
        if not stated or not lodgers:
            return stated, ""
        if self._described is None:
            self._described = dict(_described(self._elf))
        if (found := self._described.get(kernel.number)) is not None and found <= stated:
            return found, ""
        # the older flavour states what each function adds
        if not self._elf.shares_frames and not any(
            self._functions.frame_bytes.get(function.number) for function in lodgers
        ):
            return stated, ""
        return None, _TOGETHER


def _described(elf: CudaElf) -> Iterator[tuple[int, int]]:
    """Symbol -> frame, of the functions at the beginning of their section."""
    section = next((s for s in elf.sections.values() if s.name == ".debug_frame"), None)
    if section is None:
        return
    data, symbols, at = elf.content(section), _symbols(elf, section.number), 0
    while data[at : at + 4] == _WIDE:
        start = at + _HEAD
        end = start + int.from_bytes(data[at + 4 : start], "little")
        location = data[start + 8 : start + 16]
        if data[start : start + 8] != _COMMON and not any(location):
            symbol = symbols.get(start + 8)
            if symbol is not None and (size := _size(data[start + 24 : end])) is not None:
                yield symbol, size
        at = end


def _symbols(elf: CudaElf, number: int) -> dict[int, int]:
    """Place in section ``number`` -> the symbol whose address goes there."""
    found = {}
    for section in elf.by_code.get(number, ()):
        if (entry := _REL_TYPES.get(section.type)) is None:
            continue
        data = elf.content(section)
        for at in range(0, len(data) - entry + 1, entry):
            place = int.from_bytes(data[at : at + 8], "little")
            addend = data[at + 16 : at + entry]
            if not any(addend):
                found[place] = int.from_bytes(data[at + 12 : at + 16], "little")
    return found


def _size(program: bytes) -> int | None:
    """The largest distance that a function's instructions set; None: they are not understood."""
    largest, at = 0, 0
    while at < len(program):
        opcode = program[at]
        at += 1
        if opcode >> 6 in {1, 3}:  # advance, restore: the operand is in the opcode
            continue
        operands = "u" if opcode >> 6 else _OPERANDS.get(opcode)
        if operands is None:
            return None
        values = []
        for operand in operands:
            value, at = _operand(program, at, operand)
            values.append(value)
        if at > len(program):
            return None
        if opcode in {_DEF_CFA, _DEF_CFA_OFFSET}:
            largest = max(largest, values[-1])
    return largest


def _operand(program: bytes, at: int, kind: str) -> tuple[int, int]:
    """A number, and where it ends."""
    if kind.isdigit():
        return 0, at + int(kind)
    value = shift = 0
    while at < len(program):
        byte = program[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value, at) if kind == "u" else (0, at + value)
    return value, at + 1  # breaks off
