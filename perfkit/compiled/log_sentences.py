"""The sentences of ``ptxas -v`` and of the linkers, found in one clean line of text.

Written down from logs of CUDA 2.3 to 13.5: the order of the clauses after ``Used`` has changed,
none of them is always there, and the linkers have their own. Only what is complete counts.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_NAME: Final = rb"(?:[^']|'(?:lambda|unnamed)\d*')+"

#: Every alternative begins with a letter and not with a group: only then does ``re`` skip quickly
#: to the next place where one may begin. The number before "bytes" is looked up backwards.
_SENTENCE: Final = re.compile(
    rb"C(?P<entry>ompiling entry function '(" + _NAME + rb")' for '(sm_\d{2,3}[af]?)')"
    rb"|F(?P<linked>unction properties for '(" + _NAME + rb")'()?:?)"
    rb"|F(?P<function>unction properties for (?!')"
    rb"(?:([^\s<>(),'\"]+)(?= \d{1,15}(?: b|$)| (?:ptxas|nvlink)\b|['\"]|$)"  # a symbol
    rb"|(\S.*?)(?= \d{1,15}(?: bytes stack|$)|$)))"  # a C++ name
    rb"|b(?P<frame>ytes stack frame, ?(\d{1,15}) bytes spill stores, ?(\d{1,15}) bytes spill loads)"
    rb"|U(?<!\wU)(?P<used>sed (\d{1,9}) registers?)"
    rb"|u(?<!\wu)(?P<used_>sed (\d{1,9}) registers?)"
    rb"|C(?P<time>ompile time =)"
    rb"|b(?P<module>ytes gmem\b)"
    rb"|S(?P<unbounded>tack size for entry function '([^']+)'() cannot be statically determined)"
    rb"|p(?<!\wp)(?P<failed>txas (?:fatal|error) ?:)"
)
_NUMBER: Final = re.compile(rb"(?<![\w.+])(\d{1,15}) $")
#: a line as the compiler wrote it, with nothing around it: most lines of most logs
_PLAIN: Final = re.compile(
    rb"(?P<entry>ptxas info    : Compiling entry function '([\w$.@]+)' for "
    rb"'(sm_\d{2,3}[af]?)')\r?\n"
    rb"|(?P<function>ptxas info    : Function properties for ([\w$.@]+))\r?\n"
    rb"|(?P<frame>    (\d{1,15}) bytes stack frame, (\d{1,15}) bytes spill stores, "
    rb"(\d{1,15}) bytes spill loads)\r?\n"
    rb"|(?P<used>ptxas info    : Used (\d{1,9}) registers(?:, used (\d{1,9}) barriers)?"
    rb"(?:, (\d{1,15}) bytes cumulative stack size)?(?:, (\d{1,15}) bytes smem)?"
    rb"(?:, (\d{1,15}) bytes cmem\[0\])?(?:, \d{1,15} bytes cmem\[\d{1,3}\])*)\r?\n"
    rb"|(?P<time>ptxas info    : Compile time = .*)\n"
)
_TARGET: Final = re.compile(rb" ?\(target: (sm_\d{2,3}[af]?)\)")
_CLAUSE: Final = re.compile(
    rb", ?(?:used (\d{1,9}) barriers?"
    rb"|(\d{1,15})(?:\+\d{1,15})? (stack|textures?|surfaces?|samplers?"
    rb"|bytes (?:smem|lmem|gmem|cumulative stack size|cmem\[\d{1,3}\])))"
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
    rb"(?:(?:\binfo ?: ?|\bptxas \. |^ ?)(?P<start>Comp[a-z]*(?: entr?y?(?: funct?i?o?n?)?)?"
    rb"|Func[a-z]*(?: prop[a-z]*(?: for?)?)?|[Uu]sed(?: \d{1,9}(?: r[a-z]*)?)?"
    rb"|\d{1,15}(?: by?t?e?s?)?)"
    rb"|(?:^| )(?P<frame>\d{1,15} bytes st[a-z]*(?: fr[a-z]*,?)?(?: \d{1,15})?[a-z, ]{0,40}"
    rb"(?: ?\d{1,15})?[a-z, ]{0,40}))$"
)
_PARTIAL_BYTES: Final = 200  #: no longer than this, but for the names of kernels
_PARTIAL_ENTRY: Final = re.compile(rb"ompiling entry function '[^']*(?:'(?: for(?: '\w*)?)?)?")
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
        kind, start, at = (match.lastgroup or "").rstrip("_"), match.start(), match.end()
        values: tuple[bytes | None, ...] = match.group(*_GROUPS[kind]) if kind in _GROUPS else ()
        used = None
        if kind == "used":
            used, at, more, odd = _used(text, int(match[0].split()[1]), at)
            strange |= odd
            if more and terminated:
                return Line(found, start, strange)
            if used.shared is None and (more or (not terminated and at == len(text))):
                used = used._replace(cut=True)
        elif kind in {"frame", "module"}:
            number = _NUMBER.search(text[max(0, start - 20) : start])
            if number is None:
                continue
            start -= len(number[0])
            values = (number[1], *values)
        elif kind == "linked" and (target := _TARGET.match(text, at)):
            at, values = target.end(), (values[0], target[1])
        found.append(Sentence(kind, start, at, values, used))
    return Line(found, _open(text, at), strange)


def _open(text: bytes, at: int) -> int | None:
    """Where a sentence begins that the line's end breaks off, if it may be one."""
    begin = text.rfind(b"Compiling entry function '", at)
    if begin >= 0 and _PARTIAL_ENTRY.fullmatch(text, begin + 1):
        return begin
    start = max(at, len(text) - _PARTIAL_BYTES)
    partial = _PARTIAL.search(text[start:])
    if partial is None or (start > at and partial.start() == 0):
        return None
    return start + partial.start("start" if partial["start"] else "frame")


def read_plain(line: bytes) -> Sentence | None:
    """The sentence of a line without anything around it; None: ``read`` has to look at it."""
    match = _PLAIN.fullmatch(line)
    if match is None:
        return None
    kind = match.lastgroup or ""
    if kind != "used":  # where they stand does not matter: nothing can continue them
        values = match.group(*_PLAIN_GROUPS[kind]) if kind in _PLAIN_GROUPS else ()
        return Sentence(kind, 0, 0, values if type(values) is tuple else (values, None))
    start, end = match.span(kind)
    registers, barriers, total, shared, constant = (
        None if number is None else int(number) for number in match.group(*_PLAIN_GROUPS["used"])
    )
    used = Used(registers or 0, barriers, None, total, shared, None, constant)
    return Sentence(kind, start, end, (), used)


def old_entry(text: bytes) -> bytes | None:
    """The kernel, where CUDA 2 began a record without naming the architecture."""
    match = _OLD_ENTRY.fullmatch(text)
    return match[1] if match else None


def _groups(pattern: re.Pattern[bytes], **words: int) -> dict[str, tuple[int, ...]]:
    """Sentence -> the groups with its words."""
    first = pattern.groupindex
    return {
        kind: tuple(first[kind] + 1 + place for place in range(number))
        for kind, number in words.items()
    }


#: a function's name is a symbol or C++
_GROUPS: Final = _groups(_SENTENCE, entry=2, linked=2, function=2, frame=2, unbounded=2)
_PLAIN_GROUPS: Final = _groups(_PLAIN, entry=2, function=1, frame=3, used=5)


def _used(text: bytes, registers: int, at: int) -> tuple[Used, int, bool, bool]:
    """The clauses from ``at`` on, where they end, whether they go on, whether one is strange."""
    values: dict[str, int] = {}
    late = strange = cut = False
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
            cut |= other is not None and b":" in other[0]
        else:
            break
    target = _TARGET.match(text, at)
    # right behind a word another line starts: two processes wrote at once
    cut = (cut or text[at : at + 1].isalnum()) and not late
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
