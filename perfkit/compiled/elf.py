"""A cubin as an ELF file: every offset is checked before it is followed.

The tables lie within the file, a symbol table is linked to a string table, and names have a bounded
length. Nothing is allocated by a number that the file states. No library for ELF files takes part:
pyelftools trusts its input, drops the bit of ``st_other`` that marks a kernel, and takes longer to
load than perfkit to answer; the tests hold the names against its.

Layout: System V gABI, chapters 4 and 5 (ELF64, little-endian). Two flavours exist (measured with
NVRTC 12.9 and 13.5): ABI version 7 keeps the SM number in the low byte of ``e_flags``, ABI version
8 (Blackwell from 12.8 on, everything from 13.0 on) in the second byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from perfkit.compiled.elf_layout import HEADER, SECTION, SYMBOL
from perfkit.compiled.kinds import HEAD_BYTES, describe, is_cubin
from perfkit.errors import CubinError
from perfkit.files import printable

_ET_REL, _ET_EXEC = 1, 2
_NULL, _PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOTE, _NOBITS, _REL = 0, 1, 2, 3, 4, 7, 8, 9
_KINDS: Final = {_PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOTE, _NOBITS, _REL}
#: no bytes in the file: NOBITS, and what linkable code of CUDA 13 has instead of it for global,
#: local and shared memory (types as ``cuobjdump -elf`` names them)
_EMPTY: Final = {_NOBITS, 0x70000007, 0x70000009, 0x7000000A}
_PROCESSOR: Final = range(0x70000000, 0x80000000)  #: .nv.info, .nv.callgraph, .nv.merc.*
_FUNC: Final = 2  #: symbol type
_ENTRY: Final = 0x10  #: bit of st_other: a kernel, not a device function

_NEW_FLAVOUR: Final = 8  #: EI_ABIVERSION
_OLDEST_SM: Final = 20  #: 2.0, the first with ELF64 cubins
_ACCELERATED: Final = {7: 0x800, 8: 0x8}  #: bit of e_flags for sm_90a and the like
_TARGET: Final = re.compile(rb"-arch[ =]+(?:sm|compute)_(\d{2,3})([af]?)\b")

#: Names read times the longest name: what reading them may cost (a second or so at worst).
_SECTION_NAMES: Final = 2**28
_SYMBOL_NAMES: Final = 2**33


class Section(NamedTuple):
    number: int
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    """A function. ``section`` is the index of the section with its code, 0 if it is elsewhere."""

    number: int
    name: str
    section: int
    value: int
    size: int
    is_kernel: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaElf:
    data: bytes = field(repr=False)
    origin: str
    abi: int
    relocatable: bool  #: not linked yet (nvcc -dc): registers and stack are not final
    sm: int  #: 90 for 9.0
    suffix: str  #: ``a`` or ``f`` of the target, or nothing
    sections: dict[int, Section]  #: by their number; kinds that cubins do not have are left out
    by_code: dict[int, list[Section]] = field(repr=False)  #: sh_info -> sections that point there
    functions: tuple[Symbol, ...]

    @property
    def shares_frames(self) -> bool:
        """FRAME_SIZE of each function in a kernel's section is that of the whole section."""
        return self.abi >= _NEW_FLAVOUR and not self.relocatable

    def content(self, section: Section) -> bytes:
        """The bytes of a section; none where the file has none."""
        if section.type in _EMPTY:
            return b""
        return self.data[section.offset : section.offset + section.size]

    def of_code(self, prefix: str, code: int) -> Section | None:
        """The section ``<prefix><kernel>`` that belongs to the code in section ``code``."""
        found = (s for s in self.by_code.get(code, ()) if s.name.startswith(prefix))
        return next(found, None)

    def error(self, message: str, offset: int) -> CubinError:
        return CubinError(message, where=f"{self.origin}@{offset:#x}")


class _Header(NamedTuple):
    abi: int
    type: int
    flags: int
    table: int
    entries: int
    names: int


def read_elf(data: bytes, *, origin: str) -> CudaElf:
    """The sections and functions of a cubin.

    Raises:
        CubinError: not a cubin, truncated or corrupted; ``where`` has the offset.
    """
    header = _read_header(data, origin)
    sections = _read_sections(data, header, origin)
    functions = _read_functions(data, sections, origin)
    by_code: dict[int, list[Section]] = {}
    for section in sections.values():
        by_code.setdefault(section.info, []).append(section)
    sm = header.flags >> 8 & 0xFF if header.abi >= _NEW_FLAVOUR else header.flags & 0xFF
    if sm < _OLDEST_SM:
        raise CubinError(f"e_flags {header.flags:#x} name no SM", where=f"{origin}@0x30")
    return CudaElf(
        data=data,
        origin=origin,
        abi=header.abi,
        relocatable=header.type == _ET_REL,
        sm=sm,
        suffix=_suffix(data, header, sections, sm),
        sections=sections,
        by_code=by_code,
        functions=functions,
    )


def _read_header(data: bytes, origin: str) -> _Header:
    if not is_cubin(data[:HEAD_BYTES]):
        raise CubinError(f"this is {describe(data[:HEAD_BYTES])}, not a cubin", where=origin)

    def error(message: str, offset: int) -> CubinError:
        return CubinError(message, where=f"{origin}@{offset:#x}")

    if data[4:6] != b"\x02\x01":
        raise error("not a 64-bit little-endian ELF file, as all cubins since CUDA 7 are", 4)
    if len(data) < HEADER.size:
        raise error(f"truncated: {len(data)} bytes do not hold an ELF header", len(data))
    ident, kind, _, _, _, _, table, flags, _, _, _, entry, count, names = HEADER.unpack_from(data)
    if kind not in {_ET_REL, _ET_EXEC}:
        raise error(f"ELF type {kind} is neither an executable nor a relocatable cubin", 0x10)
    if entry != SECTION.size:
        raise error(f"section headers of {entry} bytes instead of {SECTION.size}", 0x3A)
    if not 0 < table <= len(data) - SECTION.size:
        raise error(f"truncated: the section headers start at {table:#x}, beyond the end", 0x28)
    first = SECTION.unpack_from(data, table)
    # more than 65279 sections: the numbers are in the first header
    count = count or first[5]
    names = first[6] if names == 0xFFFF else names
    if count > (len(data) - table) // SECTION.size:
        raise error(f"truncated: {count} section headers do not fit behind {table:#x}", 0x3C)
    if names >= count:
        raise error(f"section names are in section {names} of {count}", 0x3E)
    return _Header(ident[8], kind, flags, table, count, names)


def _read_sections(data: bytes, header: _Header, origin: str) -> dict[int, Section]:
    """The sections that are of use, by their number."""
    end = header.table + header.entries * SECTION.size
    raw = list(SECTION.iter_unpack(data[header.table : end]))
    names = _section_names(data, raw, header, origin)
    found: dict[int, Section] = {}
    for index, (name, kind, flags, _, offset, size, link, info, _, entry) in enumerate(raw):
        problem = None
        if kind != _NULL and kind not in _EMPTY and offset + size > len(data):
            problem = f"ends at {offset + size:#x}, beyond the {len(data)} bytes of the file"
        elif name >= len(names):
            problem = "has its name outside the table of names"
        elif kind == _SYMTAB and (entry != SYMBOL.size or size % entry):
            problem = "is a symbol table with entries of the wrong size"
        elif kind == _SYMTAB and (link >= header.entries or raw[link][1] != _STRTAB):
            problem = "is a symbol table without a table of names"
        if problem is not None:
            where = f"{origin}@{header.table + index * SECTION.size:#x}"
            raise CubinError(f"section {index} {problem}", where=where)
        if kind in _KINDS or kind in _PROCESSOR:
            text = _name(names, name)
            found[index] = Section(index, text, kind, flags, offset, size, link, info)
    return found


def _section_names(data: bytes, raw: list[tuple[int, ...]], header: _Header, origin: str) -> bytes:
    kind, _, _, start, size = raw[header.names][1:6]
    if kind != _STRTAB:
        raise CubinError("the section names are not a string table", where=f"{origin}@0x3e")
    if start + size > len(data):
        end = f"end at {start + size:#x}, beyond the {len(data)} bytes of the file"
        where = f"{origin}@{header.table + header.names * SECTION.size:#x}"
        raise CubinError(f"the section names {end}", where=where)
    names = data[start : start + size]
    _check_names(names, header.entries, _SECTION_NAMES, f"{origin}@{start:#x}")
    return names


def _check_names(table: bytes, readers: int, cost: int, where: str) -> None:
    """Reading names from a string table must end, and soon: ``readers`` of them within ``cost``."""
    longest = max(len(name) for name in table.split(b"\0"))
    if table[-1:] != b"\0" or longest * readers > cost:
        raise CubinError("not a plausible table of names", where=where)


def _read_functions(data: bytes, sections: dict[int, Section], origin: str) -> tuple[Symbol, ...]:
    """The functions of the symbol table, in file order."""
    table = next((s for s in sections.values() if s.type == _SYMTAB), None)
    if table is None:
        raise CubinError("no symbol table, so no kernels", where=origin)
    strings = sections[table.link]
    names = data[strings.offset : strings.offset + strings.size]
    readers = table.size // SYMBOL.size
    _check_names(names, readers, _SYMBOL_NAMES, f"{origin}@{strings.offset:#x}")
    functions = []
    raw = data[table.offset : table.offset + table.size]
    for number, (at, info, other, section, value, size) in enumerate(SYMBOL.iter_unpack(raw)):
        if info & 0xF != _FUNC:
            continue
        if at >= len(names):
            where = table.offset + number * SYMBOL.size
            raise CubinError(f"symbol {number} has no name", where=f"{origin}@{where:#x}")
        name = _name(names, at)
        functions.append(Symbol(number, name, section, value, size, bool(other & _ENTRY)))
    return tuple(functions)


def _name(table: bytes, at: int) -> str:
    """What a checked table says at ``at``."""
    return printable(table[at : table.index(b"\0", at)].decode("utf-8", "replace"))


def _suffix(data: bytes, header: _Header, sections: dict[int, Section], sm: int) -> str:
    """``a`` or ``f`` of the target: a flag for ``a``, else ptxas' own command line in a note."""
    if header.flags & _ACCELERATED.get(header.abi, 0):
        return "a"
    for section in sections.values():
        if section.name == ".note.nv.tkinfo":
            note = data[section.offset : section.offset + section.size]
            for number, suffix in _TARGET.findall(note):
                if int(number) == sm:
                    return str(suffix, "ascii")
    return ""
