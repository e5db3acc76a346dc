"""What static rules are about: the quantities, how their values are written, and what is asked.

A rule is exact: limits are fractions of whole numbers, as written, and nothing is rounded.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from perfkit.errors import UsageError
from perfkit.record import record
from perfkit.units import format_bytes, format_ratio, format_seconds, parse_bytes

#: what a value hangs on beside the kernel: nothing, a launch on a GPU, or work on a GPU
Scope = Literal["kernel", "launch", "work", "fit"]
Unit = Literal["", "bytes", "ratio", "s"]


class Quantity(NamedTuple):
    title: str  #: for people
    unit: Unit
    scope: Scope
    higher_is_better: bool = False
    nouns: tuple[str, str] = ("", "")  #: after a number that has no unit: of one, of several


#: name in rules -> quantity; spills and stack are with what the kernel calls
QUANTITIES: Final = {
    "registers": Quantity("registers", "", "kernel", nouns=("register", "registers")),
    "spills": Quantity("spills", "bytes", "kernel"),
    "spill_stores": Quantity("spill stores", "bytes", "kernel"),
    "spill_loads": Quantity("spill loads", "bytes", "kernel"),
    "stack": Quantity("stack", "bytes", "kernel"),
    "unbounded_stack": Quantity(
        "unbounded stack", "", "kernel", nouns=("unbounded stack", "unbounded stacks")
    ),
    "frame": Quantity("stack frame", "bytes", "kernel"),
    "static_shared": Quantity("static shared memory", "bytes", "kernel"),
    "barriers": Quantity("barriers", "", "kernel", nouns=("barrier", "barriers")),
    "occupancy": Quantity("occupancy", "ratio", "launch", higher_is_better=True),
    "blocks": Quantity(
        "blocks per SM",
        "",
        "launch",
        higher_is_better=True,
        nouns=("block per SM", "blocks per SM"),
    ),
    "warps": Quantity(
        "warps per SM", "", "launch", higher_is_better=True, nouns=("warp per SM", "warps per SM")
    ),
    "bound": Quantity("bound", "s", "work"),
    "fits": Quantity("launch", "", "fit", higher_is_better=True),
}


@record
class Asked:
    """One figure of a kernel: which, and under what circumstances."""

    quantity: str
    threads: int | None = None  #: per block; None: what the kernel is launched with or bounded to
    dynamic_bytes: int | None = None  #: dynamic shared memory per block; None: the kernel's own
    gpu: str | None = None  #: names as in ``--gpu``; None: those asked about, or the kernel's own
    operation: str | None = None  #: of a bound: ``gemm:4096``
    dtype: str | None = None

    @property
    def of(self) -> Quantity:
        return QUANTITIES[self.quantity]


_NUMBER: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?", re.ASCII)
_TIME: Final = re.compile(r"([0-9.]+)\s*(s|ms|us|µs|ns)", re.ASCII | re.IGNORECASE)
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_WRITTEN: Final = {
    "": "a number such as 64",
    "bytes": "bytes such as 0, 1024 or 48K",
    "ratio": "a ratio such as 50% or 0.5",
    "s": "a time such as 120us",
}


def amount(text: str, unit: Unit) -> Fraction:
    """A value of that unit, exactly as written.

    Raises:
        UsageError: not such a value.

    >>> amount("48K", "bytes"), amount("50%", "ratio"), amount("120us", "s")
    (Fraction(49152, 1), Fraction(1, 2), Fraction(3, 25000))
    """
    plain = text.strip()
    if unit == "bytes":
        return Fraction(parse_bytes(plain))
    if unit == "s":
        match = _TIME.fullmatch(plain)
        if match is None or not _NUMBER.fullmatch(match[1]):
            raise _not(text, unit)
        return Fraction(match[1]) / _PER_SECOND[match[2].lower()]
    percent = unit == "ratio" and plain.endswith("%")
    plain = plain.removesuffix("%").rstrip() if percent else plain
    if not _NUMBER.fullmatch(plain):
        raise _not(text, unit)
    value = Fraction(plain) / (100 if percent else 1)
    if unit == "ratio" and value > 1:
        raise UsageError(f"{text!r} is more than 100%", hint=f"write {_WRITTEN[unit]}")
    return value


def share(text: str) -> Fraction | None:
    """A percentage as a ratio; None: it is none."""
    plain = text.strip()
    number = plain.removesuffix("%").rstrip()
    return Fraction(number) / 100 if plain != number and _NUMBER.fullmatch(number) else None


def _not(text: str, unit: Unit) -> UsageError:
    return UsageError(
        f"{text!r} is not {_WRITTEN[unit].partition(' such')[0]}", hint=f"write {_WRITTEN[unit]}"
    )


def figure(value: float | Fraction, quantity: Quantity) -> str:
    """A value for people; only a plain number goes without its noun.

    >>> figure(64, QUANTITIES["registers"]), figure(Fraction(1, 2), QUANTITIES["occupancy"])
    ('64', '50%')
    """
    if quantity.unit == "bytes" and value == int(value):
        return format_bytes(int(value))
    if quantity.unit == "ratio":
        return format_ratio(float(value))
    if quantity.unit == "s":
        return format_seconds(float(value))
    return f"{float(value):.10g}" + (" B" if quantity.unit else "")


def shown(value: float | Fraction, quantity: Quantity) -> str:
    """The same with its noun.

    >>> shown(64, QUANTITIES["registers"]), shown(1, QUANTITIES["blocks"])
    ('64 registers', '1 block per SM')
    """
    one, several = quantity.nouns
    noun = one if value == 1 else several
    return f"{figure(value, quantity)} {noun}".rstrip()
