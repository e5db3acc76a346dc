"""Content of any topic -> tables of raw values, their units read off their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.environment import label
from perfkit.gate.words import signed
from perfkit.readers.results import Unit
from perfkit.report.document import ABSENT, Cell, Column, Table
from perfkit.report.document import Unit as Kind
from perfkit.report.page import outcomes
from perfkit.report.page.results import Result
from perfkit.report.page.sections import SECTIONS, Rows
from perfkit.report.page.titles import title
from perfkit.report.views.baseline import value_text
from perfkit.report.views.ceilings import amount
from perfkit.report.views.gate_history import short, sparkline
from perfkit.units import format_seconds

#: how names of values end, or what they are -> unit; the first that matches
_PATTERNS: Final[tuple[tuple[str, Kind], ...]] = (
    (r"bytes_per_s$", "bandwidth"),
    (r"flop_per_s$", "rate"),
    (r"flop_per_byte$", "intensity"),
    (r"gb_per_s$", "gb_per_s"),
    (r"(^|_)s$|^seconds$", "seconds"),
    (r"_mhz$", "mhz"),
    (r"_hz$", "hertz"),
    (r"tflops$", "tflops"),
    (r"(^|_)flops$", "flop"),
    (r"^bytes$", "traffic"),
    (r"(^|_)bytes(_|$)", "bytes"),
    (r"_percent$", "percent"),
    (r"^occupancy$|(^|_)share(_|$)|efficiency|utilisation|^(noise|relative|floor|apart)$", "ratio"),
)
_ELSEWHERE: Final = frozenset({"schema", "made_by", "sources", "conflicts", "unknown"})
_FILE: Final = Column("file", "file")
_CARD: Final = "card"  #: key of what no file has, but for rows of one of several cards
_NAMED: Final = frozenset({"gpu"})  #: topics whose rows do not say what they are of
_SENTENCES: Final = frozenset({"message"})
#: columns whose values are words of a program: too_noisy; names keep their underscores
_CODES: Final = frozenset({"reason", "symptom", "bound_by", "limited_by", "how", "kind"})
_CODE: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: of measured values; what is counted or a ratio has none to show
_UNITS: Final = frozenset(Unit) - {Unit.COUNT, Unit.RATIO}
#: units of ceilings; figures of memory and arithmetic have theirs as the name of the value
_CEILINGS: Final = ("bytes_per_s", "flop_per_s", "op_per_s")


def tables(topic: str, found: Sequence[Result]) -> list[tuple[Table, str | None]]:
    """All results of one topic in the same tables; with a column of files if there are several.

    Each with the key of the column whose values are outcomes, if it has one.
    """
    made = [(_table(topic, rows, found), rows.tally) for rows in SECTIONS.get(topic, ())]
    shown = [(table, tally) for table, tally in made if table.rows]
    return [(_facts(found), None), *shown] if topic in _NAMED or not shown else shown


def _table(topic: str, rows: Rows, found: Sequence[Result]) -> Table:
    """What needs attention first; otherwise in the order of the files."""
    pairs = [(one.name, row) for one in found for row in items(one.content, rows.path)]
    pairs.sort(key=lambda pair: outcomes.severity(rows.tally, pair[1]))
    keys = rows.columns or tuple(dict.fromkeys(key for _, row in pairs for key in plain(row)))
    if _CARD not in keys and any(_CARD in row for _, row in pairs):
        keys = (_CARD, *keys)
    files = len(found) > 1
    columns = [_column(key, [value(row, key) for _, row in pairs]) for key in keys]
    return Table(
        title=rows.title or f"perfkit {topic.replace('-', ' ')}: {rows.path.split('[')[0]}",
        columns=(*((_FILE,) if files else ()), *columns),
        rows=tuple(
            ((name,) if files else ())
            + tuple(
                _special(row, key) or _shown(value(row, key), column)
                for key, column in zip(keys, columns, strict=True)
            )
            for name, row in pairs
        ),
    ).without_empty_columns()


def _facts(found: Sequence[Result]) -> Table:
    """What has no rows, as names and values."""
    rows = []
    for one in found:
        for key, given in _leaves(one.content):
            if given is not None:
                column = _column(key, [given])
                text = _listed(given) if isinstance(given, list) else column.text(given)
                rows.append((one.name, column.title, Cell(given, text)))
    columns = (_FILE, Column("what", "what"), Column("value", "value"))
    return Table(title="What was found", columns=columns, rows=tuple(rows))


def _leaves(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All that fits in a cell, from objects in objects, too; who says so is told elsewhere."""
    yield from ((key, given) for key, given in plain(content).items() if key not in _ELSEWHERE)
    for key, given in content.items():
        if isinstance(given, dict) and key not in _ELSEWHERE:
            yield from ((f"{key}.{inner}", leaf) for inner, leaf in _leaves(given))


def items(content: Mapping[str, Any], path: str) -> Iterator[Mapping[str, Any]]:
    """The objects that ``a[].b`` leads to."""
    head, _, rest = path.partition("[].")
    for one in content.get(head) or ():
        if rest:
            yield from (_of_card(one, row) for row in items(one, rest))
        else:
            yield one


def _of_card(holder: Mapping[str, Any], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of one of several cards says which, and a difference which check found it."""
    if "differences" in holder:
        row = {"check": holder.get("name"), **row}
    about = holder.get("environment") or {}
    return row if about.get("index") is None else {_CARD: label(about["index"]), **row}


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """What fits in a cell: no objects, and no lists of them."""
    return {
        key: given
        for key, given in row.items()
        if not isinstance(given, dict)
        and not (isinstance(given, list) and any(isinstance(one, dict | list) for one in given))
    }


def value(row: Mapping[str, Any], key: str) -> Any:
    """``hardware.l1_bytes``, or ``obstacles[].message`` of all; None where something is absent."""
    head, _, rest = key.partition("[].")
    if rest:
        return [one[rest] for one in row.get(head) or ()]
    found: Any = row
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _column(key: str, values: Sequence[Any]) -> Column:
    last = key.replace("[]", "").rpartition(".")[2]
    return Column(key=key, title=title(key), unit=_unit(last, values))


def _unit(key: str, values: Sequence[Any]) -> Kind:
    given = [one for one in values if one is not None]
    if any(isinstance(one, list) for one in given):
        return "text" if key in _SENTENCES else "names"  # names are read without their underscores
    if any(isinstance(one, bool) for one in given):
        return "yes"
    if any(isinstance(one, str) for one in given) or not given:
        return "text"
    return next((unit for pattern, unit in _PATTERNS if re.search(pattern, key)), "count")


def _listed(given: Sequence[Any]) -> str:
    return ", ".join(map(_word, given)) or "-"


def _word(one: Any) -> str:
    if isinstance(one, bool):
        return "yes" if one else "no"
    if one is None:
        return "-"
    return f"{one:.4g}" if isinstance(one, float) else str(one)


def _special(row: Mapping[str, Any], key: str) -> Cell | None:
    """What takes more of a row than its one value."""
    if (outcome := outcomes.of(key, row)) is not None:
        return outcome.cell()
    if key == "commits[].median":
        medians = value(row, key)
        # on a scale of logarithms
        return Cell(None, sparkline(medians) if medians and min(medians) > 0 else ABSENT)
    if key == "changes[].ratio":
        return Cell(None, ", ".join(signed(ratio - 1) for ratio in value(row, key)) or ABSENT)
    if key == "changes[].first_commit":
        return Cell(None, ", ".join(map(short, value(row, key))) or ABSENT)
    return _of_cards(row, key) or _measured(row, key)


def _of_cards(row: Mapping[str, Any], key: str) -> Cell | None:
    """One kernel on several cards: its time on each of them, and which of them is behind."""
    given = row.get(key)
    if key == "median_s" and isinstance(given, list):
        times = (ABSENT if one is None else format_seconds(one) for one in given)
        return Cell(None, ", ".join(times))
    return Cell(given, label(given)) if key == "slowest" and given is not None else None


def _measured(row: Mapping[str, Any], key: str) -> Cell | None:
    """A value whose unit stands beside it, or is that of the ceiling in its row."""
    given, unit = row.get(key), row.get("unit")
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if key == "datasheet" or (key == "value" and unit in _CEILINGS):
        return amount(given, next((one for one in _CEILINGS if one in row), str(unit)))
    is_value = key.endswith("value") and unit in _UNITS
    return Cell(given, value_text(given, str(unit))) if is_value else None


def _shown(given: Any, column: Column) -> Any:
    if isinstance(given, list):
        # a tile or a cluster; names stand apart
        sizes = given and all(type(one) is int for one in given)
        if column.unit == "text":
            return "; ".join(map(_word, given)) or None
        return ("x".join(map(str, given)),) if sizes else tuple(map(_word, given))
    if column.unit == "percent" and isinstance(given, int) and given < 0:
        return Cell(given, "default")
    if column.unit == "bytes" and isinstance(given, float):
        return int(given)
    if column.unit == "text" and isinstance(given, str) and _CODE.fullmatch(given):
        return given.replace("_", " ") if column.key in _CODES else given
    return given
