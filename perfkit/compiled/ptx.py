"""What PTX says of kernels and the cubin leaves out: order, blocks per SM asked for, shared memory.

PTX ISA, "Performance-Tuning Directives": ``.minnctapersm`` stands between an entry's parameters
and its body. "Array Declarations": a ``.extern .shared`` array without a size is the dynamic shared
memory of the launch.
"""

from __future__ import annotations

import re
from typing import Final

_ENTRY: Final = re.compile(r"\.entry\s+([\w$.%]+)\s*(?:\([^)]*\))?([^{;]*)")
_MIN_BLOCKS: Final = re.compile(r"\.minnctapersm\s+(\d+)")
_DYNAMIC: Final = re.compile(r"\.extern\s+\.shared\b[^;\[]*?([\w$%]+)\s*\[\s*\]\s*;")
_FUNCTION: Final = re.compile(r"\.(entry|func)\s*(?:\([^)]*\)\s*)?([\w$%]+)[^{;]*\{")
_BRACE: Final = re.compile(r"[{}]")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$%][\w$]*")
_COMPILER: Final = re.compile(r"^// .*, V(\d+\.\d+\.\d+)\s*$", re.MULTILINE)


def entries(ptx: str) -> tuple[tuple[str, int | None], ...]:
    r"""Symbol and ``.minnctapersm`` of every kernel, in the order of the text.

    >>> entries(".visible .entry k(.param .u64 p)\n.maxntid 256\n.minnctapersm 2\n{ ret; }")
    (('k', 2),)
    """
    found = []
    for name, directives in _ENTRY.findall(ptx):
        blocks = _MIN_BLOCKS.search(directives)
        found.append((name, int(blocks[1]) if blocks else None))
    return tuple(found)


def dynamic_shared_users(ptx: str) -> tuple[str, ...]:
    r"""The kernels that use dynamic shared memory, themselves or through what they call.

    >>> head = ".extern .shared .align 4 .b8 s[];"
    >>> dynamic_shared_users(head + ".entry k() { ld.shared.u32 r, [s]; } .entry n() { ret; }")
    ('k',)
    """
    arrays = set(_DYNAMIC.findall(ptx))
    if not arrays:
        return ()
    functions = list(_FUNCTION.finditer(ptx))
    names = arrays | {match[2] for match in functions}
    mentions = {
        match[2]: names.intersection(_IDENTIFIER.findall(ptx, match.end(), _end(ptx, match.end())))
        for match in functions
    }
    users, grown = arrays, True
    while grown:
        more = {name for name, mentioned in mentions.items() if mentioned & users} - users
        users, grown = users | more, bool(more)
    return tuple(match[2] for match in functions if match[1] == "entry" and match[2] in users)


def _end(ptx: str, start: int) -> int:
    """Where the body ends of which the text begins at ``start``."""
    depth = 1
    for brace in _BRACE.finditer(ptx, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return len(ptx)


def compiler_version(ptx: str) -> str | None:
    """The full version in PTX's opening comment: ``12.9.86``."""
    match = _COMPILER.search(ptx[:2000])
    return match[1] if match else None
