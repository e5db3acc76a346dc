"""Shared memory as the programmer declared it, from what NVIDIA's tools show.

From 9.0 on a linked kernel that has any static shared memory also counts the 1 KiB that the system
keeps of every block: in the cubin's section, in ``cuobjdump``'s report and in the linkers' lines,
but not in ``ptxas -v`` and not in the driver's attribute.

Of dynamic shared memory a linked cubin keeps no symbol. What it keeps, read off cubins of ptxas
11.8, 12.1, 12.4, 12.9 and 13.0 and of nvlink 13.0: a kernel that uses it has a section
``.nv.shared.<kernel>``, of no bytes if it declares no static one. So have, from ptxas, the other
kernels of the same file; of those the code tells, in which the low 12 bits of an instruction say
what it is (7.0 on, read off ``nvdisasm -hex`` for sm_75 to sm_120).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from perfkit.compiled.elf import CudaElf, Symbol

RESERVED_BYTES: Final = 1024
_SHOWN_FROM_SM: Final = 90

_FIRST_DECODED: Final = 70
_INSTRUCTION: Final = 16  #: bytes
#: LDS, STS, ATOMS, its compare-and-swap, its increment, LDSM, LDGSTS
_SHARED_OPCODES: Final = frozenset(
    {0x984, 0x388, 0x988, 0x38C, 0x98C, 0x38D, 0x58D, 0x98D, 0xF8C, 0x83B, 0xFAE}
)
_WITH_STATIC: Final = (
    "a cubin does not tell the dynamic from the static shared memory of a kernel that has some"
)
_PERHAPS_ANOTHER: Final = "a kernel of this cubin uses some; it does not record which"
_UNLINKED: Final = "the cubin is not linked yet"


def declared_bytes(shown: int, sm: int) -> int:
    """Bytes declared, of the bytes shown for a linked kernel of ``sm`` (90 for ``sm_90a``).

    >>> declared_bytes(2048, 90), declared_bytes(2048, 89), declared_bytes(0, 120)
    (1024, 2048, 0)
    """
    return shown - RESERVED_BYTES if sm >= _SHOWN_FROM_SM and shown >= RESERVED_BYTES else shown


def uses_dynamic(elf: CudaElf, kernel: Symbol, static: int) -> tuple[bool | None, str]:
    """Whether a kernel with ``static`` bytes of its own uses dynamic shared memory too.

    Returns:
        The answer, and where it is None the reason.
    """
    if elf.relocatable:
        return None, _UNLINKED
    if elf.of_code(".nv.shared.", kernel.section) is None:
        return False, ""
    if static:
        return None, _WITH_STATIC
    alone = sum(function.is_kernel for function in elf.functions) == 1
    if alone or _touches_shared(elf, kernel):
        return True, ""
    return None, _PERHAPS_ANOTHER


def _touches_shared(elf: CudaElf, kernel: Symbol) -> bool:
    section = elf.sections.get(kernel.section)
    if section is None or elf.sm < _FIRST_DECODED:
        return False
    text = elf.content(section)
    words = zip(text[0::_INSTRUCTION], text[1::_INSTRUCTION], strict=False)
    return any((high & 0xF) << 8 | low in _SHARED_OPCODES for low, high in words)
