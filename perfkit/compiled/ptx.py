"""What PTX says of kernels and the cubin leaves out: their order, and the blocks per SM asked for.

PTX ISA, "Performance-Tuning Directives": ``.minnctapersm`` stands between an entry's parameters
and its body.
"""

from __future__ import annotations

import re
from typing import Final

_ENTRY: Final = re.compile(r"\.entry\s+([\w$.%]+)\s*(?:\([^)]*\))?([^{;]*)")
_MIN_BLOCKS: Final = re.compile(r"\.minnctapersm\s+(\d+)")
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


def compiler_version(ptx: str) -> str | None:
    """The full version in PTX's opening comment: ``12.9.86``."""
    match = _COMPILER.search(ptx[:2000])
    return match[1] if match else None
