"""Any file of results: its reader is chosen by what is in it, never by its name.

Output of the program may stand before and after; several documents in one file are several runs,
and so are several files, or the files of a folder.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from perfkit import files
from perfkit.errors import InputError
from perfkit.readers import (
    benchmark_action,
    csv_documents,
    junit,
    ncu,
    ncu_results,
    ncu_text,
    nsys,
    plain_csv,
)
from perfkit.readers.content import Content, listed, load, of_data
from perfkit.readers.json_formats import JSON_FORMATS
from perfkit.readers.merge import joined, picked, unique
from perfkit.readers.numerals import Mark
from perfkit.readers.results import ResultFile

#: what the messages list
KNOWN: Final = (
    *(one.kind for one in JSON_FORMATS),
    "ncu --csv", "JUnit", "CSV (benchmark,value,unit)",
)  # fmt: skip

#: how the own files of profilers begin -> how to export them
_REPORTS: Final = {
    b"NVR\0": ncu.HINT,
    b"SQLite format 3\0": nsys.HINT,
}
#: what a header has in it, to find it in a long file
_HEADER: Final = re.compile(
    r'Process ID"?[,;\t]|\b(?:time|duration|dur|kavg) ?\(|benchmark|\breal_time\b|\bstddev\b',
    re.IGNORECASE,
)
_DOCUMENT: Final = re.compile(r"^[\[{]", re.MULTILINE)
_MOST_ATTEMPTS: Final = 200  #: lines of a log that begin like a document and are none
_HINT: Final = f"results can be of {', '.join(KNOWN)}"


def read_results(
    paths: str | Path | Sequence[str | Path],
    *,
    metric: str | None = None,
    mark: Mark | None = None,
    commit: str | None = None,
) -> ResultFile:
    """Read result files, each in its own format; ``-`` is the standard input.

    Args:
        paths: one file or folder, or several. Several files are runs of one side: a run is named
            for its file, and where the file itself tells runs apart, for both.
        metric: a regular expression for whole names of metrics. None: the time, by what the format
            prefers; where there is none, all metrics.
        mark: the decimal mark, where a file does not show it.
        commit: which commit of a history, by the beginning of its identity; None: the newest.

    Raises:
        InputError: no file, one that cannot be read or is of no known format, or holds no result.
            ``where`` is the file and the line, or the path inside a document.
    """
    with _without_collections():
        given = [paths] if isinstance(paths, str | Path) else [*paths]
        return _side(given, _pattern(metric), mark, commit)


def read_data(data: bytes, origin: str, *, metric: str | None = None) -> ResultFile:
    """The same of what came through a pipe, which cannot be read twice; ``origin`` names it."""
    with _without_collections():
        content = of_data(data, origin, Path())
        found = _read(content, _pattern(metric), None, None)
        if found is None:
            raise _no_results(content)
        return _asked_for([found], is_chosen=metric is not None)


def _side(
    given: list[str | Path], pattern: re.Pattern[str] | None, mark: Mark | None, commit: str | None
) -> ResultFile:
    named, notes = listed(given), []
    found: list[ResultFile] = []
    for path, is_listed in named:
        content = load(path)
        one = _read(content, pattern, mark, commit)
        if one is not None:
            found.append(one)
            if not one.runs:
                notes.append(f"{content.origin}: nothing that is asked for")
        elif is_listed:
            raise _no_results(content)
        else:
            notes.append(f"{content.origin}: no file of results; left out")
    if not found:
        where = ", ".join(files.shown(path) for path in given)
        raise InputError("no file of results", where=where or None, hint=_HINT)
    result = _asked_for(found, is_chosen=pattern is not None)
    return replace(result, notes=(*result.notes, *notes))


def _no_results(content: Content) -> InputError:
    what = "no known kind of results" if content.data.strip() else "is empty"
    return InputError(what, where=content.origin, hint=_HINT)


def _asked_for(found: list[ResultFile], *, is_chosen: bool) -> ResultFile:
    """All files as one, which is not empty."""
    result = joined(found)
    if not result.runs:
        held = f"metrics are {', '.join(result.metrics)}" if result.metrics else None
        what = "no metric matches" if held and is_chosen else "the file holds no result"
        raise InputError(what, where=result.origin, hint=held)
    return result


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the garbage collector from walking again and again over results that all stay.

    It is 40 % of the time for 150,000 runs.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _pattern(metric: str | None) -> re.Pattern[str] | None:
    try:
        return None if metric is None else re.compile(metric)
    except re.error as error:
        raise InputError(f"metric {metric!r} is no regular expression: {error}") from None


def _read(
    content: Content, pattern: re.Pattern[str] | None, mark: Mark | None, commit: str | None
) -> ResultFile | None:
    """A file, by its content; None: of no known format."""
    text = content.text.removeprefix("\ufeff").lstrip()
    if junit.knows(text):
        found = junit.read(content.data, content.origin, mark)
        return picked(unique(found), junit.PREFERRED, pattern)
    if benchmark_action.knows(text):
        _refuse_undecodable(content)
        found = benchmark_action.read(text, content.origin, commit)
        return picked(unique(found), benchmark_action.PREFERRED, pattern)
    for begins, hint in _REPORTS.items():
        if content.data.startswith(begins):
            raise InputError("a report, not its CSV export", where=content.origin, hint=hint)
    problems: list[InputError] = []
    result = _documents(content, pattern, problems) or _table(content, pattern, mark)
    if result is None and problems:
        raise problems[0]
    return result


def _refuse_undecodable(content: Content) -> None:
    if content.error is not None:
        raise InputError(content.error, where=content.origin)


def _table(
    content: Content, pattern: re.Pattern[str] | None, mark: Mark | None
) -> ResultFile | None:
    """A CSV file, by the first line that is a header of one."""
    origin = content.origin
    text = content.text.removeprefix("\ufeff").replace("\r\n", "\n")
    end = -1
    for match in _HEADER.finditer(text):
        if match.start() < end:
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", start) % (len(text) + 1)  # -1, there is none: the end
        line = text[start:end]
        if ncu.is_header(line):
            # names of kernels are what the program made them: no reason to refuse a profile
            found = ncu_results.read(content.text, origin, mark)
            return ncu_results.assumed(picked(unique(found), ncu_results.PREFERRED, pattern))
        if kind := csv_documents.kind(line):
            _refuse_undecodable(content)
            form = next(one for one in JSON_FORMATS if one.kind == kind)
            first = text.count("\n", 0, start)
            found = form.read(csv_documents.read(text.split("\n"), first, origin), content)
            return picked(unique(found), form.preferred, pattern)
        if nsys.header(line):
            _refuse_undecodable(content)
            found = nsys.read(text.split("\n"), origin, mark)
            return picked(unique(found), nsys.PREFERRED, pattern, whole=True)
        if plain_csv.header(line):
            _refuse_undecodable(content)
            first = text.count("\n", 0, start)
            found = plain_csv.read(text.split("\n"), first, origin, mark)
            return picked(found, plain_csv.PREFERRED, pattern)
    if ncu_text.knows(text):
        found = ncu_results.read(content.text, origin, mark)
        return ncu_results.assumed(picked(unique(found), ncu_results.PREFERRED, pattern))
    return None


def _documents(
    content: Content, pattern: re.Pattern[str] | None, problems: list[InputError]
) -> ResultFile | None:
    """JSON documents of known kinds, each a run; lines between them are the program's.

    None where there is none: then ``problems`` are of what begins like a document.
    """
    found: list[ResultFile] = []
    for document in _decoded(content, problems):
        form = next((one for one in JSON_FORMATS if one.knows(document)), None)
        if form is None:
            message = "JSON, and no results that are known"
            problems.append(InputError(message, where=content.origin, hint=_HINT))
            continue
        one = form.read(document, content)
        found.append(picked(unique(one), form.preferred, pattern))
    if not found:
        return None
    _refuse_undecodable(content)
    lost = [f"{problem}; left out" for problem in problems]
    numbered = joined(found, names=[str(i + 1) for i in range(len(found))])
    return replace(numbered, notes=(*numbered.notes, *lost))


def _decoded(content: Content, problems: list[InputError]) -> Iterator[Any]:
    text = content.text.removeprefix("\ufeff")
    decoder = json.JSONDecoder()
    end = 0
    attempts = 0
    indented = len(text) - len(text.lstrip())
    starts = [indented] if text[indented : indented + 1] in {"{", "["} else []
    for start in [*starts, *(match.start() for match in _DOCUMENT.finditer(text))]:
        if start < end or attempts == _MOST_ATTEMPTS:
            continue
        try:
            document, end = decoder.raw_decode(text, start)
        except RecursionError:
            problems.append(_broken("nested too deeply", content, start))
        except ValueError as error:
            attempts += 1
            place = getattr(error, "pos", start)
            if text[start] == "{":  # "[info] …" is a line of a log
                problems.append(_broken(getattr(error, "msg", str(error)), content, place))
        else:
            yield document


def _broken(message: str, content: Content, position: int) -> InputError:
    line = content.text.count("\n", 0, position) + 1
    if content.error is not None:
        message = content.error
    return InputError(f"broken JSON: {message}", where=f"{content.origin}:{line}")
