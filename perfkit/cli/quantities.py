"""Numbers that people type in units of their own; a wrong one is named as it was typed."""

from __future__ import annotations

from perfkit.errors import UsageError

#: a billion GB/s, MHz, ms or cycles: nobody has more
_MOST = 1e9


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
