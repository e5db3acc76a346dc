"""Sizes and rates: parsing what people type, formatting what they read.

Inside perfkit everything is bytes, seconds, hertz, FLOP/s, bytes/s and ratios in 0..1. This module
is the only place that knows the other units. Memory sizes use binary prefixes whatever the spelling
(NVIDIA's tables write KB for 1024 bytes); rates (GB/s, TFLOP/s, MHz) use decimal ones.
"""

from __future__ import annotations

import re
from typing import Final

from perfkit.errors import UsageError

KIB: Final = 1024

_BINARY: Final[dict[str, int]] = {"": 1, "k": KIB, "m": KIB**2, "g": KIB**3, "t": KIB**4}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE | re.ASCII)

#: suffix of a YAML key -> (suffix of the field in Python, factor), for the whole database
KEY_UNITS: Final[dict[str, tuple[str, int]]] = {
    "_kib": ("_bytes", KIB),
    "_mib": ("_bytes", KIB**2),
    "_gib": ("_bytes", KIB**3),
    "_mhz": ("_hz", 10**6),
    "_gb_per_s": ("_bytes_per_s", 10**9),
    "_tflops": ("_flop_per_s", 10**12),
}


def parse_bytes(text: str) -> int:
    """Read a memory size: ``49152``, ``48K``, ``48KB`` and ``48KiB`` are all 49152 bytes.

    Raises:
        UsageError: not a size, negative, or not a whole number of bytes.

    >>> parse_bytes("48K"), parse_bytes("1.5KiB"), parse_bytes("0")
    (49152, 1536, 0)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a size", hint="write bytes or use K, M, G: 49152, 48K, 48KiB"
        )
    number, prefix, _ = match.groups()
    whole, _, fraction = number.partition(".")
    if len(whole) > 18 or len(fraction) > 18:
        raise UsageError(f"{text!r} is not a plausible size")
    digits: int = 10 ** len(fraction)
    scaled, rest = divmod(int(whole + fraction) * _BINARY[prefix.lower()], digits)
    if rest:
        raise UsageError(f"{text!r} is not a whole number of bytes")
    return scaled


def format_bytes(count: int) -> str:
    """Bytes the way NVIDIA's tables print them, never rounded: whole KiB or MiB, otherwise bytes.

    >>> format_bytes(49152), format_bytes(101376), format_bytes(1000)
    ('48 KiB', '99 KiB', '1000 B')
    """
    if count and count % KIB**2 == 0:
        return f"{count // KIB**2} MiB"
    if count and count % KIB == 0:
        return f"{count // KIB} KiB"
    return f"{count} B"


def format_ratio(value: float) -> str:
    """A ratio in 0..1 as a percentage with at most two decimals.

    >>> format_ratio(0.21875), format_ratio(1.0)
    ('21.88%', '100%')
    """
    return f"{value * 100:.2f}".rstrip("0").rstrip(".") + "%"
