"""Durations of tests in a JUnit XML file, whatever wrote it.

Read as a stream, without entities: a file of results defines none, and those that are defined can
fill the memory or name other files.
"""

from __future__ import annotations

import re
from typing import Any, Final
from xml.parsers import expat

from perfkit.errors import InputError
from perfkit.readers import table
from perfkit.readers.checks import checked
from perfkit.readers.numerals import Mark
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("time",)

_FIRST: Final = re.compile(r"<([A-Za-z][\w:.-]*)")
#: elements below a test that say that its time is none of a success
_ENDS: Final = {"failure": "failed", "error": "failed", "skipped": "skipped"}


class _Case:
    """One test."""

    __slots__ = ("failure", "line", "name", "time")

    def __init__(self, name: str, time: str | None, line: int) -> None:
        self.name = name
        self.time = time
        self.line = line
        self.failure: str | None = None


class _Handler:
    """Collects tests while the parser goes through the file."""

    def __init__(self, origin: str, parser: Any) -> None:
        self.origin = origin
        self.parser = parser
        self.cases: list[_Case] = []
        self.environment: dict[str, str] = {}
        self._current: _Case | None = None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if element == "testsuite":
            for key, name in (("hostname", "host"), ("timestamp", "date")):
                if attributes.get(key):
                    self.environment.setdefault(name, attributes[key])
        elif element == "testcase":
            group = attributes.get("classname", "")
            name = attributes.get("name", "")
            full = f"{group}::{name}" if group and name else group or name
            self._current = _Case(full, attributes.get("time"), self.parser.CurrentLineNumber)
            self.cases.append(self._current)
        elif element in _ENDS and self._current is not None:
            message = attributes.get("message") or attributes.get("type")
            self._current.failure = f"{_ENDS[element]}: {message}" if message else _ENDS[element]

    def end(self, element: str) -> None:
        if element == "testcase":
            self._current = None

    def refuse(self, *_: object) -> None:
        raise InputError("a result file that defines entities is refused", where=self.origin)


def knows(text: str) -> bool:
    """XML whose root is a suite of tests."""
    first = _FIRST.search(text, 0, 100_000)
    return text.startswith("<") and first is not None and first[1] in {"testsuite", "testsuites"}


def read(data: bytes, origin: str, mark: Mark | None = None) -> ResultFile:
    """One run of every test.

    Raises:
        InputError: broken XML, with its line; a document type; a time that is no number.
    """
    parser = expat.ParserCreate()
    handler = _Handler(origin, parser)
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.StartDoctypeDeclHandler = handler.refuse
    parser.EntityDeclHandler = handler.refuse
    try:
        parser.Parse(data, True)  # noqa: FBT003 - expat takes no keywords
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(f"broken XML: {reason}", where=f"{origin}:{error.lineno}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know either
        raise InputError(f"broken XML: {error}", where=origin) from None
    if not handler.cases:
        raise InputError("the file holds no test", where=origin)
    times = [case.time for case in handler.cases if case.time]
    decided = table.mark_of(times, origin, given=mark, otherwise=".")
    return ResultFile(
        kind="junit",
        origin=origin,
        runs=tuple(_run(case, origin, decided) for case in handler.cases),
        environment=handler.environment,
    )


def _run(case: _Case, origin: str, mark: Mark) -> Run:
    where = f"{origin}:{case.line}"
    values: tuple[float, ...] = ()
    if case.time is not None and case.failure is None:
        values = (table.cell(case.time, mark, where),)
    return checked(
        Run(
            benchmark=case.name or "?",
            values=values,
            unit=Unit.SECONDS,
            failure=case.failure,
            source=where,
        )
    )
