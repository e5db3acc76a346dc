"""Names of products as they are pasted: lines of tools, marks of trade, the size of the memory."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: what does not tell two names apart: gaps, dashes of any width, parentheses, (R) and its like
SEPARATORS: Final = re.compile(
    r"(?:\((?:r|tm|c)\)|[\s_\-()\u00a9\u00ae\u2122\u2010-\u2015\u2212])+", re.IGNORECASE
)
#: ``nvidia-smi -L``, and ``lspci``
_LINES: Final = (
    re.compile(r"GPU \d+: (.+?)\s*\(UUID: .*"),
    re.compile(r".*NVIDIA.*\[([^\[\]]+)\](?:\s*\(rev \w+\))?", re.IGNORECASE),
)
_SIZED: Final = re.compile(r"(.*\S)[\s_-]*+\(?\b(\d{1,3})\s*Gi?B\s*\)?", re.IGNORECASE | re.ASCII)


class Sized(NamedTuple):
    name: str
    memory_gib: int


def within(line: str) -> str | None:
    """The name in a line of a tool; None: it is no such line.

    >>> within("01:00.0 3D controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)")
    'GeForce RTX 3090'
    """
    matches = (pattern.fullmatch(line.strip()) for pattern in _LINES)
    return next((match[1] for match in matches if match), None)


def sized(text: str) -> Sized | None:
    """A name with its memory behind it.

    >>> sized("L40S-48GB"), sized("H100")
    (Sized(name='L40S', memory_gib=48), None)
    """
    match = _SIZED.fullmatch(text.strip())
    return Sized(match[1].rstrip(" _-("), int(match[2])) if match else None
