"""Static shared memory as the programmer declared it, from what NVIDIA's tools show.

From 9.0 on a linked kernel that has any static shared memory also counts the 1 KiB that the system
keeps of every block: in the cubin's section, in ``cuobjdump``'s report and in the linkers' lines,
but not in ``ptxas -v`` and not in the driver's attribute (facts: RULES section 4).
"""

from __future__ import annotations

from typing import Final

RESERVED_BYTES: Final = 1024
_SHOWN_FROM_SM: Final = 90


def declared_bytes(shown: int, sm: int) -> int:
    """Bytes declared, of the bytes shown for a linked kernel of ``sm`` (90 for ``sm_90a``).

    >>> declared_bytes(2048, 90), declared_bytes(2048, 89), declared_bytes(0, 120)
    (1024, 2048, 0)
    """
    return shown - RESERVED_BYTES if sm >= _SHOWN_FROM_SM and shown >= RESERVED_BYTES else shown
