"""What PTX says of kernels and the cubin leaves out: order, blocks per SM asked for, shared memory.

PTX ISA, "Performance-Tuning Directives": ``.minnctapersm`` stands between an entry's parameters
and its body. "Array Declarations": a ``.extern .shared`` array without a size is the dynamic shared
memory of the launch.

A text is cut where declarations begin, and each is matched once and without going back, so that the
time grows with the length of a text, whatever is in it.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_DECLARED: Final = re.compile(r"\.(entry|func)\b")
#: returned values, name, parameters, directives, the body's beginning
_HEAD: Final = re.compile(r"\s*+(?:\([^)]*+\)\s*+)?([\w$.%]++)\s*+(?:\([^)]*+\))?([^{;]*+)(\{?)")
_MIN_BLOCKS: Final = re.compile(r"\.minnctapersm\s++(\d{1,9})(?!\d)")
_EXTERN: Final = re.compile(r"\.extern\b")
_DYNAMIC: Final = re.compile(r"\s++\.shared\b([^;\[]*+)\[\s*+\]\s*+;")
_BRACE: Final = re.compile(r"[{}]")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$%][\w$]*+")
_COMPILER: Final = re.compile(r"^// .*, V(\d+\.\d+\.\d+)\s*$", re.MULTILINE)


class _Function(NamedTuple):
    """An ``.entry`` or ``.func``; ``body`` is None for one that is only announced."""

    is_kernel: bool
    name: str
    directives: str  #: between parameters and body
    body: str | None


def _functions(ptx: str) -> Iterator[_Function]:
    starts = list(_DECLARED.finditer(ptx))
    for start, following in zip_longest(starts, starts[1:]):
        end = following.start() if following else len(ptx)
        if head := _HEAD.match(ptx, start.end(), end):
            body = ptx[head.end() : _end(ptx, head.end(), end)] if head[3] else None
            yield _Function(start[1] == "entry", head[1], head[2], body)


def _end(ptx: str, start: int, end: int) -> int:
    """Where the body ends that begins at ``start``, at the latest where the next one does."""
    depth = 1
    for brace in _BRACE.finditer(ptx, start, end):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return end


def entries(ptx: str) -> tuple[tuple[str, int | None], ...]:
    r"""Symbol and ``.minnctapersm`` of every kernel, in the order of the text.

    >>> entries(".visible .entry k(.param .u64 p)\n.maxntid 256\n.minnctapersm 2\n{ ret; }")
    (('k', 2),)
    """
    found = []
    for function in _functions(ptx):
        if function.is_kernel and function.body is not None:
            blocks = _MIN_BLOCKS.search(function.directives)
            found.append((function.name, int(blocks[1]) if blocks else None))
    return tuple(found)


def _dynamic_arrays(ptx: str) -> set[str]:
    found: set[str] = set()
    for part in _EXTERN.split(ptx)[1:]:
        if match := _DYNAMIC.match(part):
            found.update(match[1].split()[-1:])
    return found


def dynamic_shared_users(ptx: str) -> tuple[str, ...]:
    r"""The kernels that use dynamic shared memory, themselves or through what they call.

    >>> head = ".extern .shared .align 4 .b8 s[];"
    >>> dynamic_shared_users(head + ".entry k() { ld.shared.u32 r, [s]; } .entry n() { ret; }")
    ('k',)
    """
    if not (waiting := _dynamic_arrays(ptx)):
        return ()
    functions = [one for one in _functions(ptx) if one.body is not None]
    names = waiting | {function.name for function in functions}
    users: dict[str, set[str]] = {}
    for function in functions:
        for name in names.intersection(_IDENTIFIER.findall(function.body or "")):
            users.setdefault(name, set()).add(function.name)
    found: set[str] = set()
    while waiting:
        more = users.pop(waiting.pop(), set())
        waiting |= more
        found |= more
    return tuple(one.name for one in functions if one.is_kernel and one.name in found)


def compiler_version(ptx: str) -> str | None:
    """The full version in PTX's opening comment: ``12.9.86``."""
    match = _COMPILER.search(ptx[:2000])
    return match[1] if match else None
