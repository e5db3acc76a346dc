"""Sizes and rates: parsing what people type, formatting what they read.

Inside perfkit everything is bytes, seconds, hertz, FLOP/s, bytes/s and ratios in 0..1. This module
is the only place that knows the other units. Memory sizes use binary prefixes whatever the spelling
(NVIDIA's tables write KB for 1024 bytes); rates (GB/s, TFLOP/s, MHz) use decimal ones. Traffic has
both: a bare prefix is that of the sizes, ``GB`` that of the rates.
"""

from __future__ import annotations

import re
from typing import Final

from perfkit.errors import UsageError

KIB: Final = 1024

_BINARY: Final[dict[str, int]] = {"": 1, "k": KIB, "m": KIB**2, "g": KIB**3, "t": KIB**4}
_DECIMAL: Final[dict[str, int]] = {
    prefix: 1000**power for power, prefix in enumerate(("", "k", "m", "g", "t", "p", "e"))
}
_SIZE: Final = re.compile(
    r"\s*(\d+(?:\.\d+)?)(?:e([+-]?\d{1,3}))?\s*([kmgt]?)(ib?|b|bytes?|)\s*",
    re.IGNORECASE | re.ASCII,
)
#: 1_000_000 as in Python and many other languages
_GAP: Final = re.compile(r"(?<=\d)_(?=\d)", re.ASCII)

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
    """Read a size of memory: ``49152``, ``48K``, ``48KB`` and ``48KiB`` are all 49152 bytes.

    An exponent is decimal, as everywhere: ``8e9`` is 8,000,000,000.

    Raises:
        UsageError: not a size, negative, or not a whole number of bytes.

    >>> parse_bytes("48K"), parse_bytes("1.5KiB"), parse_bytes("0"), parse_bytes("8e9")
    (49152, 1536, 0, 8000000000)
    """
    match = _SIZE.fullmatch(_GAP.sub("", text))
    if match is None:
        raise UsageError(
            f"{text!r} is not a size", hint="write bytes or use K, M, G: 49152, 48K, 48KiB, 8e9"
        )
    units, digits = _scaled(match, _BINARY)
    whole, rest = divmod(units, digits)
    if rest:
        raise UsageError(f"{text!r} is not a whole number of bytes")
    return whole


def parse_traffic(text: str) -> int:
    """Read bytes that are moved, rounded to whole ones: ``12GB`` is decimal, as bandwidths are.

    ``12G`` and ``12GiB`` are binary, as the sizes of the arrays that are moved.

    Raises:
        UsageError: not such an amount, or negative.

    >>> parse_traffic("12GB"), parse_traffic("12GiB"), parse_traffic("12G"), parse_traffic("0.5")
    (12000000000, 12884901888, 12884901888, 1)
    """
    match = _SIZE.fullmatch(_GAP.sub("", text))
    if match is None:
        raise UsageError(
            f"{text!r} is not a size",
            hint="write bytes, or 100M (MiB), 100MiB or 100MB (decimal): 8e9, 1.5GiB, 12GB",
        )
    units, digits = _scaled(match, _DECIMAL if match[4].lower().startswith("b") else _BINARY)
    return (2 * units + digits) // (2 * digits)


def parse_elements(text: str) -> int:
    """Read a number of elements; ``16M`` is 2**24, as it is of memory, ``1e6`` a million.

    Raises:
        UsageError: not a whole number.

    >>> parse_elements("16M"), parse_elements("4096"), parse_elements("1e6")
    (16777216, 4096, 1000000)
    """
    match = _SIZE.fullmatch(_GAP.sub("", text))
    units, digits = _scaled(match, _BINARY) if match and not match[4] else (1, 2)
    if units % digits:
        raise UsageError(f"{text!r} is not a whole number", hint="write 4096, 16M (2**24) or 1e6")
    return units // digits


def _scaled(match: re.Match[str], prefixes: dict[str, int]) -> tuple[int, int]:
    """A size as the quotient of two whole numbers."""
    number, exponent, prefix, _ = match.groups()
    whole, _, fraction = number.partition(".")
    power = int(exponent or 0)
    if len(whole) + max(power, 0) > 18 or len(fraction) - min(power, 0) > 18:
        raise UsageError(f"{match[0]!r} is not a plausible size")
    digits: int = 10 ** (len(fraction) - min(power, 0))
    larger: int = 10 ** max(power, 0)
    return int(whole + fraction) * larger * prefixes[prefix.lower()], digits


_COUNT: Final = re.compile(
    r"\s*(\d{1,40}(?:\.\d{1,40})?)(e[+-]?\d{1,3})?\s*([kmgtpe]?)(?:flops?|ops?)?\s*",
    re.IGNORECASE | re.ASCII,
)
#: seconds per unit of time, as a fraction, so that what is typed is rounded only once
_PER_SECOND: Final = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("ms", "msec"), 10**3),
    **dict.fromkeys(("us", "usec", "\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"), 10**6),
    **dict.fromkeys(("ns", "nsec"), 10**9),
}
_SECONDS: Final = re.compile(
    r"\s*([0-9]{1,40}(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?)\s*([a-z\u00b5\u03bc]+)\s*",
    re.IGNORECASE,
)


def parse_count(text: str) -> float:
    """Read a number of operations, with a decimal prefix or an exponent.

    Raises:
        UsageError: not such a number.

    >>> parse_count("137.4G"), parse_count("1e12"), parse_count("2 GFLOP")
    (137400000000.0, 1000000000000.0, 2000000000.0)
    """
    match = _COUNT.fullmatch(_GAP.sub("", text))
    if match is None:
        raise UsageError(
            f"{text!r} is not a number of operations", hint="write 137.4G, 2 TFLOP or 1e12"
        )
    return float(match[1] + (match[2] or "")) * _DECIMAL[match[3].lower()]


def parse_seconds(text: str) -> float:
    """Read a time with its unit: ``8.5456ms``, ``120us``, ``1.5e-3 s``.

    Raises:
        UsageError: not a time, or one without a unit.

    >>> parse_seconds("8.5456ms"), parse_seconds("120us")
    (0.0085456, 0.00012)
    """
    match = _SECONDS.fullmatch(_GAP.sub("", text))
    per_second = _PER_SECOND.get(match[2].lower()) if match else None
    if match is None or per_second is None:
        raise UsageError(f"{text!r} is not a time", hint="write it with s, ms, us or ns: 8.5456ms")
    return float(match[1]) / per_second


def format_seconds(seconds: float) -> str:
    """A time in the largest unit of which it is at least a tenth.

    >>> format_seconds(1.3892e-4), format_seconds(8.5456e-3), format_seconds(2.5e-7)
    ('0.139 ms', '8.546 ms', '0.25 us')
    """
    units = (("s", 1.0), ("ms", 1e3), ("us", 1e6))
    unit, factor = next((u for u in units if seconds * u[1] >= 0.1), ("ns", 1e9))
    return f"{_short(seconds * factor)} {unit}"


def format_count(value: float, unit: str) -> str:
    """A count with a decimal prefix and four digits.

    >>> format_count(137438953472, "FLOP"), format_count(12, "FLOP"), format_count(3.35e12, "B/s")
    ('137.4 GFLOP', '12 FLOP', '3.35 TB/s')
    """
    prefixes = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
    prefix, factor = next((p for p in prefixes if value >= p[1]), ("", 1.0))
    # what is counted per second has no name: 7.8 k/s
    return f"{_short(value / factor)} {prefix}{unit.removeprefix('1')}"


def format_traffic(moved: float) -> str:
    """Bytes that are moved: whole MiB as such, otherwise in the decimal units of bandwidths.

    >>> format_traffic(96 * 1024**2), format_traffic(49510144)
    ('96 MiB', '49.51 MB')
    """
    mib, rest = divmod(moved, KIB**2)
    return format_count(moved, "B") if rest or not 0 < mib < KIB else f"{mib:.0f} MiB"


def _short(value: float) -> str:
    """Four significant digits, at most three of them decimals, none of them in an exponent."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{float(f'{value:.4g}'):.3f}".rstrip("0").rstrip(".")


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
