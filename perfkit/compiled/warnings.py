"""What a compiler that succeeds still complains about: ``ptxas``, the front end, the linker."""

from __future__ import annotations

import re
from typing import Final

#: files often have many warnings of one kind, and the compiler's own output shows them all
_MOST: Final = 5

#: ``ptxas warning : …`` and ``nvlink warning : …``, some with ``(C7508)`` behind the word
_OF_TOOL: Final = re.compile(r"(?P<who>ptxas|nvlink)\s+warning\s*(?:\([^)]*\)\s*)?:\s*(?P<what>.+)")
#: ``k.cu(3): warning #177-D: …`` of NVIDIA's front end, ``k.cu:3:5: warning: …`` of others
_OF_FRONT_END: Final = re.compile(
    r"(?P<who>.+?(?:\(\d+\)|:\d+(?::\d+)?)): warning\s*(?:#[\w-]+\s*)?:\s*(?P<what>.+)"
)


def warnings(log: str, name: str) -> tuple[str, ...]:
    r"""Each warning of a compiler's output once, as a sentence that says who and where.

    Args:
        log: the output.
        name: of what was compiled, for people.

    >>> warnings("ptxas warning : Too deep\nk.cu(3): warning #177-D: x is never used", "k.cu")
    ('k.cu: ptxas: Too deep', 'k.cu(3): x is never used')
    """
    found: dict[str, None] = {}
    for line in log.splitlines():
        if match := _OF_TOOL.match(line):
            found[f"{name}: {match['who']}: {match['what'].strip()}"] = None
        elif match := _OF_FRONT_END.match(line):
            found[f"{match['who']}: {match['what'].strip()}"] = None
    said = list(found)
    if (more := len(said) - _MOST) > 0:
        rest = "1 more warning" if more == 1 else f"{more} more warnings"
        said[_MOST:] = [f"{name}: {rest} of the compiler"]
    return tuple(said)
