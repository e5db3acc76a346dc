"""Static rules in one line, for all kernels.

registers<=64
spills==0
occupancy>=0.5@256 threads          with 256 threads per block
occupancy>=50%@256 threads 48K smem on h100
registers<=baseline+8               against the earlier build; also baseline, baseline+5%
bound<=120us@gemm:4096 f16 on h100  the roofline bound of the kernel's work
fits@256 threads on a100,h100       launches on all of them
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import UsageError
from perfkit.gate.quantities import Asked, amount
from perfkit.gate.static_rules import Check, Relation, StaticRule, ask, change
from perfkit.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE: Final = re.compile(
    r"\s*(?P<name>[A-Za-z_]+)\s*"
    r"(?:(?P<relation><=|>=|==|<|>|\u2264|\u2265)\s*(?P<limit>[^@<>=]+?)\s*)?"
    r"(?:@\s*(?P<at>[^@<>=]+?)\s*)?"
    r"(?:(?<=\s)on\s+(?P<gpu>[^@<>=]+?)\s*)?",
    re.DOTALL,
)
_BASELINE: Final = re.compile(r"baseline(?:\s*([+-])\s*(.+))?", re.IGNORECASE)
_THREADS: Final = re.compile(r"(\d{1,9})\s*threads?\b", re.ASCII | re.IGNORECASE)
_SHARED: Final = re.compile(r"(\d[\w.]*)\s*(?:B\s+)?smem\b", re.ASCII | re.IGNORECASE)
_MOST: Final = 300
_HINT: Final = (
    "write registers<=64, spills==0, 'occupancy>=50%@256 threads', 'registers<=baseline+8', "
    "'fits@256 threads on a100,h100' or 'bound<=120us@gemm:4096 f16 on h100'"
)
_RELATIONS: Final[dict[str, tuple[tuple[Relation, bool], ...]]] = {
    "<=": (("at_most", False),),
    ">=": (("at_least", False),),
    "==": (("at_most", False), ("at_least", False)),
    "\N{LESS-THAN OR EQUAL TO}": (("at_most", False),),
    "\N{GREATER-THAN OR EQUAL TO}": (("at_least", False),),
    "<": (("at_most", True),),
    ">": (("at_least", True),),
}


def parse_rule(text: str, where: str = "--rule") -> StaticRule:
    """The rule of one line, for all kernels.

    Raises:
        UsageError: not a rule; the message names what is not understood.

    >>> (check,) = parse_rule("occupancy>=0.5@256 threads").checks
    >>> check.asked.quantity, check.relation, check.limit, check.asked.threads
    ('occupancy', 'at_least', Fraction(1, 2), 256)
    """
    line = text.strip()
    match = _LINE.fullmatch(line) if len(line) <= _MOST else None
    if match is None:
        raise UsageError(f"{where} {text[:_MOST]!r} is not a rule", hint=_HINT)
    try:
        asked = ask(
            match["name"], **_circumstances(match["at"] or "", match["name"]), gpu=match["gpu"]
        )
        checks = tuple(_checks(asked, match["relation"], match["limit"], line, where))
    except UsageError as error:
        raise UsageError(f"{where} {line!r}: {error.message}", hint=error.hint or _HINT) from None
    return StaticRule(checks=checks, where=where)


def _checks(
    asked: Asked, relation: str | None, limit: str | None, text: str, where: str
) -> Iterator[Check]:
    if relation is None or limit is None:
        if asked.of.scope != "fit":
            raise UsageError("no limit", hint=_HINT)
        yield Check(asked=asked, relation="fits", text=text, where=where)
        return
    if asked.of.scope == "fit":
        raise UsageError("fits has no limit: a kernel launches or it does not", hint=_HINT)
    for one, strict in _RELATIONS[relation]:
        found = _limit(asked, limit, one)
        if (relation, one) == ("==", "at_least") and found == {"limit": 0}:
            continue  # nothing is less than that
        yield Check(asked=asked, relation=one, strict=strict, text=text, where=where, **found)


def _limit(asked: Asked, text: str, relation: Relation) -> dict[str, Any]:
    baseline = _BASELINE.fullmatch(text)
    if baseline is None:
        return {"limit": amount(text, asked.of.unit)}
    if baseline[1] is not None and baseline[1] != {"at_most": "+", "at_least": "-"}[relation]:
        raise UsageError("that asks for a change for the better: write a limit of its own")
    return {"against_baseline": True, **change(baseline[2] or "0", asked)}


def _circumstances(text: str, name: str) -> dict[str, Any]:
    """What stands after ``@``: a launch, or the work of a bound."""
    found: dict[str, Any] = {}
    if name.lower() == "bound":
        words = text.split()
        if len(words) != 2:
            raise UsageError("a bound needs the work and its type", hint=_HINT)
        return {"operation": words[0], "dtype": words[1]}
    if threads := _THREADS.search(text):
        found["threads"] = int(threads[1])
        text = text.replace(threads[0], " ", 1)
    if shared := _SHARED.search(text):
        found["dynamic_bytes"] = parse_bytes(shared[1])
        text = text.replace(shared[0], " ", 1)
    if text.strip(" ,"):
        raise UsageError(f"{text.strip(' ,')!r} is not understood", hint=_HINT)
    return found
