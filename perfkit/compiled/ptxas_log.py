"""Spills, from what ``ptxas -v`` prints: the cubin does not record them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_PROPERTIES: Final = re.compile(
    r"Function properties for (\S+)\s*\n"
    r".*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)


class Spills(NamedTuple):
    """Static counts of one function; what it calls is not included."""

    store_bytes: int
    load_bytes: int


def spills(log: str) -> dict[str, Spills]:
    r"""Spills by symbol, of kernels and of the device functions that were not inlined.

    >>> spills("ptxas info    : Function properties for k\n"
    ...        "    104 bytes stack frame, 344 bytes spill stores, 292 bytes spill loads\n")
    {'k': Spills(store_bytes=344, load_bytes=292)}
    """
    return {
        name: Spills(int(stores), int(loads)) for name, _, stores, loads in _PROPERTIES.findall(log)
    }
