"""What builds put around a compiler's line: colours, time stamps, job numbers, damage by pasting.

``clean`` leaves the words with one space between them. ``stream_of`` tells from what stands in
front of a sentence which of several processes wrote the line: what stays when everything that
changes from line to line (times, percentages, line numbers) is taken away.
"""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import Final, NamedTuple

_ESCAPES: Final = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    rb"|(?:\x1b|\xc2?\x9b|\^\[)\[?[0-9;:?]*[ -/]*[@-~]"  # as a terminal gets it, or as cat -v shows
    rb"|\[[0-9;]*m"  # the escape character got lost
)
_QUOTES: Final = re.compile(rb"\xe2\x80[\x98\x99]|&#(?:0?39|[xX]27);|&apos;")
#: of pages of HTML; names of templates have them
_ENTITIES: Final = ((b"&nbsp;", b" "), (b"&#160;", b" "), (b"&lt;", b"<"), (b"&gt;", b">"),
                    (b"&quot;", b'"'), (b"&amp;", b"&"))  # fmt: skip
_OTHER_QUOTES: Final = re.compile(
    rb"entry function\s+(?:\\?[\"`])([^\"`]+?)(?:\\?[\"'`]) for (?:\\?[\"`])(sm_\w+?)(?:\\?[\"'`])"
)
#: line ends of pages, tables, scripts and Markdown
_TAIL: Final = re.compile(rb"(?: ?(?:<br ?/?>|\||\\|`|\"[\],}]*))+$")
_TAIL_ENDS: Final = (b">", b"|", b"\\", b"`", b'"', b'",', b'"]', b'"],', b'"}', b'"},')
_TAIL_BYTES: Final = b' <br/>|\\`"],}'

#: the compiler's own beginning of a line; the driver's linker leaves out a word or two
_MARKER: Final = re.compile(rb"(?:\b(?:ptxas|nvlink) )?\binfo ?: ?$|\bptxas \. $")
_CHANGES: Final = re.compile(rb"[\d:.,/\-+TZ|%~()\[\]\"']*|[(\[]?\d[\d.:]*m?s[)\]]?:?")
_LINE_NUMBER: Final = re.compile(rb"(?::\d+:|-\d+-)$")  # as grep -n writes it

_PLAIN: Final = frozenset((b"ptxas info : ", b"ptxas . ", b"nvlink info : ", b"info : "))


#: where one string of a JSON object ends and the next begins
_BETWEEN_STRINGS: Final = re.compile(rb'(?<!\\)"\s*[:,}\]]+\s*(?:"|$)?')


class Stream(NamedTuple):
    """``key``: what marks the process, empty if nothing does. ``marked``: by the compiler too."""

    key: bytes
    marked: bool


MARKED: Final = Stream(b"", marked=True)
BARE: Final = Stream(b"", marked=False)


def is_record(line: bytes) -> bool:
    """Whether it is an object of JSON, as logs have one on each line."""
    return line.lstrip(b" \t[,").startswith(b'{"')


def strings_of(record: bytes) -> list[bytes]:
    """The strings of such an object, among other things.

    >>> strings_of(b'{"time": 12, "msg": "0 bytes gmem"}')[-2:]
    [b'0 bytes gmem', b'']
    """
    return _BETWEEN_STRINGS.split(record)


def clean(line: bytes) -> bytes:
    r"""The words of a line, without colours, with plain quotes and single spaces.

    >>> clean(b"\x1b[36mptxas info    :\x1b[0m 0 bytes gmem\r\n")
    b'ptxas info : 0 bytes gmem'
    """
    if b"\x1b" in line or b"[" in line or b"\x9b" in line:
        line = _ESCAPES.sub(b"", line)
    if b"\xe2\x80" in line or b"&" in line:
        line = _QUOTES.sub(b"'", line)
        for written, meant in _ENTITIES:
            line = line.replace(written, meant)
    if b"entry function" in line and b"entry function '" not in line:
        line = _OTHER_QUOTES.sub(rb"entry function '\1' for '\2'", line)
    if b"\xc2\xa0" in line:
        line = line.replace(b"\xc2\xa0", b" ")
    text = b" ".join(line.split())
    if not text.endswith(_TAIL_ENDS):
        return text
    # looked for where it may be: a row of bars in a long line would be tried from each of them
    tail = _TAIL.search(text, len(text.rstrip(_TAIL_BYTES)))
    return text[: tail.start()] if tail else text


def stream_of(prefix: bytes) -> Stream:
    """Who wrote a line, by what stands in front of its first sentence (of a clean line).

    >>> stream_of(b"[12:30:01] 2> ptxas info : ")
    Stream(key=b'2>', marked=True)
    >>> stream_of(b"2024-03-05T10:11:00.1234574Z ")
    Stream(key=b'', marked=False)
    """
    if prefix in _PLAIN:
        return MARKED
    if not prefix:
        return BARE
    marker = _MARKER.search(prefix)
    words = prefix[: marker.start()] if marker else prefix
    stays = b" ".join(word for word in words.split() if not _CHANGES.fullmatch(word))
    return Stream(_LINE_NUMBER.sub(b"", stays).rstrip(b":-|"), marker is not None)


def without_stamps(prefix: bytes) -> bytes:
    """What is left of a clean line's beginning when times and numbers before it are gone.

    >>> without_stamps(b"2024-03-05T10:11:00Z void f<1, 2>(int): ")
    b'void f<1, 2>(int):'
    """
    return b" ".join(dropwhile(_CHANGES.fullmatch, prefix.split()))
