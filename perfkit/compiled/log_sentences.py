"""The sentences of ``ptxas -v`` and of the linkers, found in one clean line of text.

Written down from logs of CUDA 2.3 to 13.5: the order of the clauses after ``Used`` has changed,
none of them is always there, and the linkers have their own. Only what is complete counts.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_NAME: Final = rb"(?:[^']|'(?:lambda|unnamed)\d*')+"
_SENTENCE: Final = re.compile(
    rb"(?P<entry>Compiling entry function '(" + _NAME + rb")' for '((?:sm|compute|lto)_\w+)')"
    rb"|(?P<linked>Function properties for '(" + _NAME + rb")'()?:?)"
    rb"|(?P<function>Function properties for (?!')"
    rb"(?:([^\s<>(),]+)(?= \d{1,15}(?: b|$)| (?:ptxas|nvlink)\b|$)"  # a symbol
    rb"|(\S.*?)(?= \d{1,15}(?: bytes stack|$)|$)))"  # a C++ name
    rb"|(?P<frame>(?<![\w.+])(\d{1,15}) bytes stack frame, ?(\d{1,15}) bytes spill stores, ?"
    rb"(\d{1,15}) bytes spill loads)"
    rb"|(?P<used>\b[Uu]sed (\d{1,9}) registers?)"
    rb"|(?P<time>Compile time =)"
    rb"|(?P<module>(?<![\w.+])\d{1,15} bytes gmem\b)"
    rb"|(?P<unbounded>Stack size for entry function '([^']+)' cannot be statically determined)"
    rb"|(?P<failed>\bptxas (?:fatal|error) ?:)"
)
_TARGET: Final = re.compile(rb" ?\(target: ((?:sm|compute)_\w+)\)")
_CLAUSE: Final = re.compile(
    rb", ?(?:used (\d{1,9}) barriers?"
    rb"|(\d{1,15})(?:\+\d{1,15})? (stack|textures?|surfaces?|samplers?"
    rb"|bytes (?:smem|lmem|gmem|cumulative stack size|cmem\[\d{1,3}\])))(?!\w)"
)
_KNOWN: Final = (
    "barriers",
    "stack",
    "textures",
    "surfaces",
    "samplers",
    "bytes smem",
    "bytes lmem",
    "bytes gmem",
    "bytes cumulative stack size",
    "bytes cmem[",
)
_BEGUN: Final = re.compile(rb"(u(?:s(?:ed?)?)? ?)?(?:(\d{1,15})(?:\+\d*)? ?)?([a-z][a-z \[\d]*)?")
_OTHER: Final = re.compile(rb", ?[^,]*")

#: the beginning of a sentence at the end of a line: the rest may follow on the next one
_PARTIAL: Final = re.compile(
    rb"(?:(?:\binfo ?: ?|\bptxas \. |^ ?)"
    rb"(?P<start>Compiling(?: entry(?: function(?: '[^']*(?:'(?: for(?: '\w*)?)?)?)?)?)?"
    rb"|Function(?: properties(?: for)?)?|[Uu]sed(?: \d{1,9}(?: r[a-z]*)?)?"
    rb"|\d{1,15}(?: by?t?e?s?)?)"
    rb"|(?:^| )(?P<frame>\d{1,15} bytes st[\w, ]*))$"
)
_OLD_ENTRY: Final = re.compile(rb"Compiling entry function '([^']+)'")

#: clauses that stand behind the one about shared memory
_LATE: Final = (b"bytes cmem", b"textures", b"surfaces", b"samplers")


class Used(NamedTuple):
    """The numbers of one ``Used`` sentence; None: it does not have the clause."""

    registers: int
    barriers: int | None = None
    stack: int | None = None  #: only linkers: with everything that is called
    cumulative: int | None = None
    shared: int | None = None
    local: int | None = None
    constant: int | None = None  #: bank 0
    arch: bytes | None = None  #: only linkers
    cut: bool = False  #: the sentence breaks off; a clause may be missing


class Sentence(NamedTuple):
    """``kind`` is the group of ``_SENTENCE``; ``values`` what it says."""

    kind: str
    start: int
    end: int
    values: tuple[bytes | None, ...] = ()
    used: Used | None = None


class Line(NamedTuple):
    """What a line says. ``open``: where a sentence starts that goes on; None: all are complete."""

    sentences: list[Sentence]
    open: int | None
    strange: bool  #: a clause that no known compiler writes


def read(text: bytes, *, terminated: bool = True) -> Line:
    """The sentences of a clean line. ``terminated``: the line did not just stop at the file's end.

    >>> found, still_open, _ = read(b"ptxas info : Used 8 registers, used 0 barriers, 376")
    >>> found, still_open
    ([], 13)
    """
    found: list[Sentence] = []
    at, strange = 0, False
    while (match := _SENTENCE.search(text, at)) is not None:
        kind, start, at = match.lastgroup or "", match.start(), match.end()
        values: tuple[bytes | None, ...] = match.group(*_GROUPS[kind]) if kind in _GROUPS else ()
        used = None
        if kind == "used":
            used, at, more, odd = _used(text, int(match[0].split()[1]), at)
            strange |= odd
            if more and terminated:
                return Line(found, start, strange)
            if used.shared is None and (more or (not terminated and at == len(text))):
                used = used._replace(cut=True)
        elif kind == "linked" and (target := _TARGET.match(text, at)):
            at, values = target.end(), (values[0], target[1])
        found.append(Sentence(kind, start, at, values, used))
    partial = _PARTIAL.search(text[at:])
    if partial is None:
        return Line(found, None, strange)
    return Line(found, at + partial.start("start" if partial["start"] else "frame"), strange)


def old_entry(text: bytes) -> bytes | None:
    """The kernel, where CUDA 2 began a record without naming the architecture."""
    match = _OLD_ENTRY.fullmatch(text)
    return match[1] if match else None


#: which groups hold the words of a sentence; a function's name is a symbol or C++
_WORDS: Final = {"entry": 2, "linked": 2, "function": 2, "frame": 3, "unbounded": 1}
_GROUPS: Final = {
    kind: tuple(_SENTENCE.groupindex[kind] + 1 + n for n in range(number))
    for kind, number in _WORDS.items()
}


def _used(text: bytes, registers: int, at: int) -> tuple[Used, int, bool, bool]:
    """The clauses from ``at`` on, where they end, whether they go on, whether one is strange."""
    values: dict[str, int] = {}
    late = strange = False
    while True:
        clause = _CLAUSE.match(text, at)
        if clause is not None:
            at = clause.end()
            late |= _take(values, clause)
        elif text[at : at + 1] == b",":
            tail = text[at + 1 :].strip()
            if _is_begun(tail):
                return _new(registers, values, cut=False), at, True, strange
            other = _OTHER.match(text, at)
            at = other.end() if other else len(text)
            strange = True
        else:
            break
    target = _TARGET.match(text, at)
    # right behind a word another line starts: two processes wrote at once
    cut = not late and text[at : at + 1].isalnum()
    arch = target[1] if target else None
    if late:
        values.setdefault("shared", 0)
    return _new(registers, values, arch, cut=cut), (target.end() if target else at), False, strange


def _new(registers: int, values: dict[str, int], arch: bytes | None = None, *, cut: bool) -> Used:
    return Used(
        registers,
        values.get("barriers"),
        values.get("stack"),
        values.get("cumulative"),
        values.get("shared"),
        values.get("local"),
        values.get("constant"),
        arch,
        cut,
    )


_FIELDS: Final = {
    b"stack": "stack",
    b"bytes smem": "shared",
    b"bytes lmem": "local",
    b"bytes cumulative stack size": "cumulative",
    b"bytes cmem[0]": "constant",
}


def _take(values: dict[str, int], clause: re.Match[bytes]) -> bool:
    """Note a clause's number; whether the one about shared memory would stand before it."""
    barriers, number, what = clause.groups()
    if barriers is not None:
        values["barriers"] = int(barriers)
        return False
    if (field := _FIELDS.get(what)) is not None:
        values[field] = int(number)
    return what.startswith(_LATE)


def _is_begun(tail: bytes) -> bool:
    """A clause may begin so. The words of all are known, so that a number is never cut."""
    match = _BEGUN.fullmatch(tail)
    if match is None:
        return False
    used, number, words = match.groups()
    if words is None:
        return True
    text = words.decode("ascii")
    if number is None:
        return False
    return any(
        known.startswith(text) or (known.endswith("[") and text.startswith(known))
        for known in _KNOWN
        if (known == "barriers") == (used is not None)
    )
