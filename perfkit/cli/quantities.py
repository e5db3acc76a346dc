"""Values that people type in units of their own; a wrong one is named as it was typed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perfkit.errors import UsageError

#: a billion GB/s, MHz, ms or cycles: nobody has more
_MOST = 1e9


@contextmanager
def naming(option: str, hint: str | None = None) -> Iterator[None]:
    """Errors of whoever reads the text of an option name the option.

    Args:
        option: ``--smem``.
        hint: what to write, if not the error's own.
    """
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{option} {error.message}", hint=hint or error.hint) from None


def share(text: str, option: str) -> float:
    """A ratio: ``3%`` or ``0.03``; raises ``UsageError`` for everything else."""
    from perfkit.gate.quantities import amount

    with naming(option, "write a ratio such as 3% or 0.03"):
        return float(amount(text, "ratio"))


def scaled(
    value: float | None, option: str, unit: float, *, zero: bool = False, most: float = _MOST
) -> float | None:
    """What an option says, in units of SI: ``unit`` of them each. None stays None.

    Raises:
        UsageError: not a number, negative, more than ``most``, or 0 unless ``zero`` allows it.

    >>> scaled(1500, "--clock-mhz", 1e6)
    1500000000.0
    """
    if value is None:
        return None
    if not 0 <= value <= most or (value == 0 and not zero):
        least = "0 or more" if zero else "above 0"
        raise UsageError(f"{option} {value:g}: must be {least} and at most {most:g}")
    return value * unit
