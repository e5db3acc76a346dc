"""A row of a history as any program may have written it: types, units, no measurement at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime, time
from datetime import date as day
from decimal import Decimal
from typing import Any, Final

from perfkit.gate.evidence import LEAST, MOST
from perfkit.gate.history import Row
from perfkit.readers.plain_csv import TRUTHS
from perfkit.readers.quantities import quantity

_TEXTS: Final = tuple(
    field.name
    for field in fields(Row)
    if field.name not in {"benchmark", "value", "date", "higher_is_better"}
)


def row_of(found: Mapping[str, Any], where: str) -> Row | None:
    """The row; None: no measurement, no date, or no name.

    Args:
        found: its cells by column; ``benchmark``, ``value`` and ``date`` are among them.
        where: the file, which names the recording of rows that do not say theirs.
    """
    benchmark, value, date = found["benchmark"], found["value"], _date(found["date"])
    if not isinstance(benchmark, str) or not benchmark or date is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    # one benchmark in ms and in s is one series
    known = quantity(str(found.get("unit") or "s"))
    number = float(value) if known is None else known.of(float(value))
    better = _better(found.get("higher_is_better"))
    if better is None:
        better = known is not None and known.unit.higher_is_better
    if not LEAST <= number <= MOST:
        return None
    # written out for texts, as most are: a history has a million cells
    texts = {name: cell if type(cell := found.get(name)) is str else _text(cell) for name in _TEXTS}
    for name, default in (("metric", "time"), ("unit", "s"), ("recording", where)):
        texts[name] = texts[name] or default
    if known is not None:
        texts["unit"] = known.unit.value
    return Row(benchmark=benchmark, value=number, date=date, higher_is_better=better, **texts)


def _date(value: Any) -> datetime | None:
    """A day is its first moment; what has no zone is in UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if type(value) is day:
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def _better(value: Any) -> bool | None:
    """Whether higher is better; None: it does not say."""
    return TRUTHS.get(str(value).lower())


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
