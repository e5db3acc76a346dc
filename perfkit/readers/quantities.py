"""Units as benchmark programs and people spell them, and what they are in SI units."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from perfkit.readers.results import Unit


class Quantity(NamedTuple):
    """``unit`` and what one of the spelled unit is of it."""

    unit: Unit
    factor: float


_TIMES: Final = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "usec": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
    "\N{MICRO SIGN}s": 1e-6, "\N{GREEK SMALL LETTER MU}s": 1e-6,
    "ns": 1e-9, "nsec": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
    "ps": 1e-12, "min": 60.0, "minute": 60.0, "minutes": 60.0,
}  # fmt: skip
_NAMED: Final = {
    **dict.fromkeys(("cycle", "cycles", "clk", "clks"), Quantity(Unit.CYCLES, 1.0)),
    **dict.fromkeys(("%", "percent"), Quantity(Unit.RATIO, 0.01)),
    **dict.fromkeys(("1", "ratio"), Quantity(Unit.RATIO, 1.0)),
    **dict.fromkeys(("count", "n"), Quantity(Unit.COUNT, 1.0)),
    **dict.fromkeys(("qps", "rps", "tps", "fps", "1/s", "/s"), Quantity(Unit.PER_SECOND, 1.0)),
}
_DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_POWERS: Final = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}

_PER: Final = r"(?:/s|/sec|/second|ps)"
_BYTES: Final = re.compile(rf"([kKMGTPE]?)(i?)([Bb]|[Bb]ytes?|[Bb]its?)({_PER}?)")
_FLOPS: Final = re.compile(r"([kKMGTPE]?)[Ff][Ll][Oo][Pp](?:[Ss]|[Ss]?/s(?:ec)?)")
_RATE: Final = re.compile(r"([kKMGT]?)([A-Za-z]+?)s?(?:/s|/sec|/second)")
#: what is counted per second; others are refused, because a prefix could hide in the word
_THINGS: Final = frozenset(
    {
        "atom", "call", "edge", "elem", "element", "event", "frame", "image", "img", "it", "item",
        "iter", "iteration", "kernel", "key", "launch", "lup", "message", "msg", "op", "query",
        "record", "req", "request", "row", "sample", "step", "tok", "token", "update", "vertex",
    }
)  # fmt: skip


@lru_cache(maxsize=256)
def quantity(text: str) -> Quantity | None:
    """What ``text`` names, or ``None``. Sizes are binary, rates decimal, as everywhere here.

    >>> quantity("us"), quantity("GB/s").factor, quantity("TFLOPS").unit.value
    (Quantity(unit=<Unit.SECONDS: 's'>, factor=1e-06), 1000000000.0, 'FLOP/s')
    >>> quantity("ns/iter").factor, quantity("Mtok/s").factor, quantity("parsecs")
    (1e-09, 1000000.0, None)
    """
    text = text.strip()
    head, _, per = text.partition("/")
    seconds = _TIMES.get(head) or _TIMES.get(head.lower() if len(head) > 2 else head)
    if seconds is not None and (per or "/" not in text):
        return Quantity(Unit.SECONDS, seconds)
    return (
        _NAMED.get(text) or _NAMED.get(text.lower()) or _flops(text) or _bytes(text) or _rate(text)
    )


def _flops(text: str) -> Quantity | None:
    match = _FLOPS.fullmatch(text)
    return match and Quantity(Unit.FLOP_PER_SECOND, _DECIMAL[match[1]])


def _bytes(text: str) -> Quantity | None:
    match = _BYTES.fullmatch(text)
    if match is None:
        return None
    prefix, binary, word, per = match.groups()
    bits = word == "b" or word.lower().startswith("bit")
    if per:
        factor = 1024.0 ** _POWERS[prefix] if binary else _DECIMAL[prefix]
        return Quantity(Unit.BYTES_PER_SECOND, factor / 8 if bits else factor)
    return None if bits else Quantity(Unit.BYTES, 1024.0 ** _POWERS[prefix])


def _rate(text: str) -> Quantity | None:
    if text.endswith("Hz") and text[:-2] in _DECIMAL:
        return Quantity(Unit.PER_SECOND, _DECIMAL[text[:-2]])
    match = _RATE.fullmatch(text)
    if match is None:
        return None
    prefix, thing = match.groups()
    if thing.lower() in _THINGS:
        return Quantity(Unit.PER_SECOND, _DECIMAL[prefix])
    # "kernel" begins with a letter that is a prefix as well
    return Quantity(Unit.PER_SECOND, 1.0) if (prefix + thing).lower() in _THINGS else None
