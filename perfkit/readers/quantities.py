"""Units as benchmark programs and people spell them, and what they are in SI units."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from perfkit.readers.results import Unit

#: powers of ten that move the decimal point of what was written, as numbers
_SHIFTS: Final = {
    float(f"1e{power}"): power for power in (-12, -9, -6, -3, -2, 3, 6, 9, 12, 15, 18)
}


def scaled(value: float, times: float = 1.0, per: float = 1.0) -> float:
    """``value * times / per``, of a power of ten the float nearest to the decimals of ``value``.

    Arithmetic gives its neighbour now and then, which looks like digits that nobody measured.

    >>> scaled(105.861, per=1e6), 105.861 / 1e6
    (0.000105861, 0.00010586100000000001)
    """
    shift = _SHIFTS.get(times / per)
    if shift is None:
        return value * times / per
    digits = repr(value)
    try:
        return float(f"{digits}e{shift}")
    except ValueError:  # it has an exponent, or is infinite or none
        from decimal import Decimal

        return float(Decimal(digits).scaleb(shift))


class Quantity(NamedTuple):
    """``value * times / per`` is in ``unit``."""

    unit: Unit
    times: float = 1.0
    per: float = 1.0

    def of(self, value: float) -> float:
        """``value`` of the spelled unit, in ``unit``."""
        return scaled(value, self.times, self.per)


#: spelling -> how many of them are a second
_TIMES: Final = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e3, "msec": 1e3, "millisecond": 1e3, "milliseconds": 1e3,
    "us": 1e6, "usec": 1e6, "microsecond": 1e6, "microseconds": 1e6,
    "\N{MICRO SIGN}s": 1e6, "\N{GREEK SMALL LETTER MU}s": 1e6,
    "ns": 1e9, "nsec": 1e9, "nanosecond": 1e9, "nanoseconds": 1e9, "ps": 1e12,
}  # fmt: skip
_NAMED: Final = {
    **dict.fromkeys(("min", "minute", "minutes"), Quantity(Unit.SECONDS, 60.0)),
    **dict.fromkeys(("cycle", "cycles", "clk", "clks"), Quantity(Unit.CYCLES)),
    **dict.fromkeys(("%", "percent"), Quantity(Unit.RATIO, per=100.0)),
    **dict.fromkeys(("1", "ratio"), Quantity(Unit.RATIO)),
    **dict.fromkeys(("count", "n"), Quantity(Unit.COUNT)),
    **dict.fromkeys(("qps", "rps", "tps", "fps", "1/s", "/s"), Quantity(Unit.PER_SECOND)),
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

    >>> quantity("ms").of(250), quantity("GB/s").of(3), quantity("TFLOPS").unit.value
    (0.25, 3000000000.0, 'FLOP/s')
    >>> quantity("ns/iter").of(5), quantity("Mtok/s").of(2), quantity("parsecs")
    (5e-09, 2000000.0, None)
    """
    text = text.strip()
    head, _, per = text.partition("/")
    a_second = _TIMES.get(head) or _TIMES.get(head.lower() if len(head) > 2 else head)
    if a_second is not None and (per or "/" not in text):
        return Quantity(Unit.SECONDS, per=a_second)
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
        return Quantity(Unit.BYTES_PER_SECOND, factor, 8.0 if bits else 1.0)
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
