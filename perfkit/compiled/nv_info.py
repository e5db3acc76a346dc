"""What ptxas leaves beside the code: sections ``.nv.info`` and ``.nv.info.<kernel>``.

A record is a format byte, an attribute byte and a value: one byte or a 16-bit number in the next
two bytes, or a 16-bit length and that many bytes. NVIDIA does not document them; the numbers below
were read off ``cuobjdump -elf``, which names them, over cubins of NVRTC 12.9 and 13.5 and nvcc 13.0
for sm_50 … sm_121, and the values agree with ``ptxas -v`` and with the driver's attributes.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.compiled.elf import CudaElf, Section

_BYTE, _HALF, _SIZED = 2, 3, 4  #: formats; 1 has no value

_MAX_THREADS: Final = 0x05
_REQUIRED_BLOCK: Final = 0x10
_FRAME_SIZE: Final = 0x11
_MIN_STACK_SIZE: Final = 0x12
_PARAMETER_SIZE: Final = 0x19
_REGISTER_COUNT: Final = 0x2F
_INDIRECT_BRANCHES: Final = 0x34
_CLUSTER: Final = 0x3D
_MAX_CLUSTER: Final = 0x3F
_SYSTEM_CALLS: Final = 0x46
_BARRIERS: Final = 0x4C

#: MIN_STACK_SIZE from 13.x toolkits on when recursion leaves it without a bound.
UNBOUNDED: Final = 0xFFFFFFFF


class _Record(NamedTuple):
    attribute: int
    value: bytes
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTable:
    """What the file says of each function, by the number of its symbol."""

    registers: dict[int, int] = field(default_factory=dict)
    frame_bytes: dict[int, int] = field(default_factory=dict)
    stack_bytes: dict[int, int] = field(default_factory=dict)  #: of kernels, callees included


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelAttributes:
    """``None`` where the kernel's own section does not say; ``barriers`` is then in its flags."""

    max_threads: int | None = None
    required_block: tuple[int, int, int] | None = None
    required_cluster: tuple[int, int, int] | None = None
    max_cluster_blocks: int | None = None
    parameter_bytes: int = 0  #: a kernel without parameters has no such attribute
    barriers: int | None = None
    calls_pointer: bool = False  #: before 7.0: calls through a register, system calls left out


def _records(elf: CudaElf, section: Section) -> Iterator[_Record]:
    data, at = elf.content(section), 0
    while at < len(data):
        head = data[at : at + 4]
        if len(head) < 4:
            raise elf.error(f"{section.name} ends within an attribute", section.offset + at)
        size = int.from_bytes(head[2:], "little") if head[0] == _SIZED else 0
        value = data[at + 4 : at + 4 + size] if head[0] == _SIZED else head[2:]
        if not 1 <= head[0] <= _SIZED or len(value) < size:
            raise elf.error(f"{section.name} has a malformed attribute", section.offset + at)
        yield _Record(head[1], value[:1] if head[0] == _BYTE else value, section.offset + at)
        at += 4 + size


def read_function_table(elf: CudaElf) -> FunctionTable:
    """Registers, frame and stack of every function, from ``.nv.info``.

    Raises:
        CubinError: the section is malformed.
    """
    table = FunctionTable()
    kinds = {
        _REGISTER_COUNT: table.registers,
        _FRAME_SIZE: table.frame_bytes,
        _MIN_STACK_SIZE: table.stack_bytes,
    }
    for section in elf.sections.values():
        if section.name != ".nv.info":
            continue
        for record in _records(elf, section):
            if record.attribute in kinds:
                symbol, value = _numbers(elf, record, 2)
                kinds[record.attribute][symbol] = value
    return table


def read_kernel_attributes(elf: CudaElf, section: Section | None) -> KernelAttributes:
    """What ``.nv.info.<kernel>`` says; nothing where the kernel has no such section.

    Raises:
        CubinError: the section is malformed.
    """
    if section is None:
        return KernelAttributes()
    found = {record.attribute: record for record in _records(elf, section)}
    threads, block = _triple(elf, found, _MAX_THREADS), _triple(elf, found, _REQUIRED_BLOCK)
    bound = block or threads
    return KernelAttributes(
        max_threads=None if bound is None else math.prod(bound),
        required_block=block,
        required_cluster=_triple(elf, found, _CLUSTER),
        max_cluster_blocks=(
            _numbers(elf, found[_MAX_CLUSTER], 1)[0] if _MAX_CLUSTER in found else None
        ),
        parameter_bytes=_half(found, _PARAMETER_SIZE),
        barriers=found[_BARRIERS].value[0] if _BARRIERS in found else None,
        calls_pointer=_calls_pointer(elf, found),
    )


def _numbers(elf: CudaElf, record: _Record, count: int) -> tuple[int, ...]:
    if len(record.value) < 4 * count:
        raise elf.error(f"attribute {record.attribute:#x} is too short", record.offset)
    return struct.unpack_from(f"<{count}I", record.value)


def _half(found: dict[int, _Record], attribute: int) -> int:
    return int.from_bytes(found[attribute].value[:2], "little") if attribute in found else 0


def _triple(elf: CudaElf, found: dict[int, _Record], attribute: int) -> tuple[int, int, int] | None:
    if attribute not in found:
        return None
    record = found[attribute]
    x, y, z = _numbers(elf, record, 3)
    if 0 in {x, y, z}:  # no compiler takes that
        raise elf.error(f"attribute {attribute:#x} is no size: {x}x{y}x{z}", record.offset)
    return x, y, z


def _calls_pointer(elf: CudaElf, found: dict[int, _Record]) -> bool:
    """A branch to no known target, of the kind "call", that is not a call of printf and its like.

    An entry: offset, kind (1: a call), how many targets, the offset of each.
    """
    if _INDIRECT_BRANCHES not in found:
        return False
    record = found[_INDIRECT_BRANCHES]
    words = _numbers(elf, record, len(record.value) // 4)
    calls = found.get(_SYSTEM_CALLS)
    known = set() if calls is None else set(_numbers(elf, calls, len(calls.value) // 4))
    at = 0
    while at + 3 <= len(words):
        offset, kind, targets = words[at : at + 3]
        if kind == 1 and not targets and offset not in known:
            return True
        at += 3 + targets
    return False
