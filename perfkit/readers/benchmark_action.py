"""What github-action-benchmark keeps, ``window.BENCHMARK_DATA = {…}``, and what it is given.

Its history holds a value per benchmark and commit. Commits are different code, never runs of one: a
file is read at one of them, the newest where none is named. The lists that its tools
``customSmallerIsBetter`` and ``customBiggerIsBetter`` take are of one commit and do not name the
tool: the unit says which way is better.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from perfkit.errors import InputError
from perfkit.readers.checks import amount, checked, mapping, sequence, text
from perfkit.readers.quantities import Quantity, quantity
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ()

_START: Final = re.compile(r"\s*(?:window|globalThis|self)\.BENCHMARK_DATA\s*=\s*")
_RANGE: Final = re.compile(r"(?:\N{PLUS-MINUS SIGN}|\+/-)\s*([0-9.eE+-]+)\s*(%?)")
#: tools whose numbers are better when higher; what is not here follows its unit
_DIRECTIONS: Final = {"customBiggerIsBetter": True, "customSmallerIsBetter": False}
_MOST_SHOWN: Final = 5


def knows(content: str) -> bool:
    return _START.match(content) is not None


def knows_list(document: object) -> bool:
    """Names with values and units."""
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return False
    return {"name", "unit", "value"} <= document[0].keys()


def read_list(document: list[Any], origin: str) -> ResultFile:
    """One run of every benchmark of a list.

    Raises:
        InputError: not the structure, a value that is no number, or a unit that is not known.
    """
    runs = tuple(_benches(document, origin))
    either = any(run.unit in {Unit.RATIO, Unit.COUNT} for run in runs)
    notes = (f"{origin}: shares and counts are taken to be better when lower",) if either else ()
    return ResultFile(kind="github-action-benchmark", origin=origin, runs=runs, notes=notes)


def read(content: str, origin: str, commit: str | None = None) -> ResultFile:
    """One run of every benchmark at a commit; measured more than once, a run each.

    Args:
        content: of the file.
        origin: the file, for messages.
        commit: the beginning of its identity; None: the newest.

    Raises:
        InputError: not the structure, or no such commit: the message lists those that are there.
    """
    start = _START.match(content)
    body = content[start.end() if start else 0 :].rstrip().removesuffix(";")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"broken JSON: {error}", where=origin) from None
    entries = [*_entries(mapping(document, origin), origin)]
    known = [*dict.fromkeys(identity for _, identity, _, _ in entries)]
    if not known:
        raise InputError("the history holds no commit", where=origin)
    chosen = _choose(known, commit, origin)
    suites = dict.fromkeys(suite for suite, *_ in entries)
    taken = [entry for entry in entries if entry[1] == chosen]
    runs: list[Run] = []
    counts: dict[str, int] = {}
    for suite, _, entry, where in taken:
        counts[suite] = counts.get(suite, 0) + 1
        again = sum(one[0] == suite for one in taken) > 1
        prefix = f"{suite}: " if len(suites) > 1 else ""
        runs += _runs(entry, where, prefix, str(counts[suite]) if again else None)
    others = len(known) - 1
    notes = [f"{origin}: commit {chosen} of {len(known)}"] if others and commit is None else []
    return ResultFile(
        kind="github-action-benchmark",
        origin=origin,
        runs=tuple(runs),
        environment={"commit": chosen},
        notes=tuple(notes),
    )


def _entries(
    document: dict[str, Any], origin: str
) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Suite, commit, entry and place of everything that was recorded, oldest first."""
    for suite, items in mapping(document.get("entries"), f"{origin}: entries").items():
        place = f"{origin}: entries.{suite}"
        for i, item in enumerate(sequence(items, place)):
            where = f"{place}[{i}]"
            entry = mapping(item, where)
            commit = mapping(entry.get("commit"), f"{where}.commit")
            yield suite, text(commit.get("id"), f"{where}.commit.id"), entry, where


def _choose(known: list[str], wanted: str | None, origin: str) -> str:
    if wanted is None:
        return known[-1]
    found = [identity for identity in known if wanted and identity.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(identity[:12] for identity in known[-_MOST_SHOWN:])
    more = f" and {len(known) - _MOST_SHOWN} older ones" if len(known) > _MOST_SHOWN else ""
    problem = "several commits begin" if found else "no commit begins"
    raise InputError(
        f"{problem} with {wanted!r}", where=origin, hint=f"the file holds {shown}{more}"
    )


def _runs(entry: dict[str, Any], where: str, prefix: str, run: str | None) -> Iterator[Run]:
    direction = _DIRECTIONS.get(str(entry.get("tool")))
    benches = sequence(entry.get("benches"), f"{where}.benches")
    yield from _benches(benches, f"{where}.benches", prefix=prefix, run=run, direction=direction)


def _benches(
    items: list[Any],
    where: str,
    *,
    prefix: str = "",
    run: str | None = None,
    direction: bool | None = None,
) -> Iterator[Run]:
    for i, item in enumerate(items):
        place = f"{where}[{i}]"
        bench = mapping(item, place)
        spelled = text(bench.get("unit", ""), f"{place}.unit")
        value = amount(bench.get("value"), f"{place}.value")
        found = quantity(spelled)
        if found is None and direction is None:
            raise InputError(f"unknown unit {spelled!r}", where=f"{place}.unit")
        found = found or Quantity(Unit.COUNT)
        unit = found.unit
        yield checked(
            Run(
                benchmark=prefix + text(bench.get("name"), f"{place}.name"),
                values=(found.of(value),),
                unit=unit,
                run=run,
                # a unit of one's own is what is measured: another one is another metric
                metric="time" if unit is Unit.SECONDS else spelled or "value",
                higher_is_better=direction,
                spread=_spread(bench.get("range"), value),
                source=place,
            )
        )


def _spread(shown: object, value: float) -> float | None:
    """``± 12`` in the unit of the value, or ``±0.5%``."""
    match = _RANGE.fullmatch(shown.strip()) if isinstance(shown, str) else None
    if match is None:
        return None
    try:
        size = float(match[1])
    except ValueError:
        return None
    if match[2]:
        return size / 100
    return size / value if value else None
