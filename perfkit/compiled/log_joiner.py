"""Sentences that a formatter or a narrow terminal broke over several lines, put together again.

A break is undone only where the joined text is a whole sentence that the parts are not: with a
space, as editors break lines, or without, as terminals do. A number is never read from a part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.compiled.log_lines import (
    BARE,
    MARKED,
    Stream,
    clean,
    is_record,
    stream_of,
    strings_of,
)
from perfkit.compiled.log_sentences import Line, Sentence, old_entry, read, read_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS: Final = (b"info ", b"bytes ", b"ptxas", b"nvlink", b"registers")
_MOST_LINES: Final = 6  #: over which a sentence may be spread


def _message(record: bytes) -> bytes:
    """The compiler's words in a record of a log: without dates, which end like a number begins."""
    said = (one for one in strings_of(record) if any(word in one for word in _WORDS))
    return b"\r".join(said) + b"\n"


class Placed(NamedTuple):
    """A sentence, the line on which it began, and who wrote it."""

    sentence: Sentence
    line: int
    stream: Stream


class Joiner:
    """Feed it lines in order; it gives back whole sentences, some of them a line later."""

    def __init__(self) -> None:
        self._open = b""  #: the beginning of a sentence
        self._line = 0
        self._left = 0  #: how many more lines may continue it
        self._stream = MARKED
        self._held: Placed | None = None  #: whole, but the next line may begin with a comma
        self._held_text = b""

    @property
    def waiting(self) -> bool:
        """The next line counts, whatever it looks like."""
        return self._left > 0 or self._held is not None

    def feed(self, number: int, raw: bytes) -> Sequence[Placed]:
        if self._left == 0 and (plain := read_plain(raw)) is not None:
            placed = Placed(plain, number, BARE if plain.kind == "frame" else MARKED)
            held, self._held = self._held, None
            if plain.kind == "used":
                self._held, self._held_text = placed, raw[plain.start : plain.end]
                return () if held is None else (held,)
            return (placed,) if held is None else (held, placed)
        found: list[Placed] = []
        if b"\\n" in raw:  # lines inside JSON
            raw = raw.replace(b"\\n", b"\r")
        if is_record(raw):
            raw = _message(raw)
        *pieces, last = raw.split(b"\r") if b"\r" in raw else (raw,)
        for piece in pieces:
            if piece and (text := clean(piece)):
                self._text(number, text, found, terminated=True)
        if text := clean(last):
            self._text(number, text, found, terminated=last.endswith(b"\n"))
        return found

    def finish(self) -> list[Placed]:
        found: list[Placed] = []
        self._release(found)
        self._give_up(found)
        return found

    def _text(self, number: int, text: bytes, found: list[Placed], *, terminated: bool) -> None:
        if self._held is not None and text.startswith(b","):
            self._open, self._line, self._left = clean(self._held_text), self._held.line, 1
            self._stream, self._held = self._held.stream, None
        self._release(found)
        if self._left > 0:
            joined = self._joined(text, terminated=terminated)
            if joined is not None:
                whole, line = joined
                self._sentences(whole, line, self._line, self._stream, found)
                return
            self._left -= 1
            if self._left == 0:
                self._give_up(found)
        line = read(text, terminated=terminated)
        starts = [sentence.start for sentence in line.sentences]
        if line.open is not None:
            starts.append(line.open)
        if starts:
            self._give_up(found)
            self._sentences(text, line, number, stream_of(text[: starts[0]]), found)

    def _sentences(
        self, text: bytes, line: Line, number: int, stream: Stream, found: list[Placed]
    ) -> None:
        end = None
        for sentence in line.sentences:
            between = b"" if end is None else text[end : sentence.start].strip(b" ,'\"")
            end = sentence.end
            if between:
                if not stream_of(between + b" ").marked:
                    continue  # words about registers in somebody's prose
                stream = stream._replace(marked=True)
            placed = Placed(sentence, number, stream)
            if sentence.kind == "used" and end == len(text) and line.open is None:
                self._held, self._held_text = placed, text[sentence.start :]
                self._left = 0
                return
            found.append(placed)
        self._left = 0
        if line.open is not None:
            self._open, self._line, self._stream = text[line.open :], number, stream
            self._left = _MOST_LINES

    def _joined(self, text: bytes, *, terminated: bool) -> tuple[bytes, Line] | None:
        unfinished = None
        for glue in (b" ", b""):
            whole = self._open + glue + text
            line = read(whole, terminated=terminated)
            first = line.sentences[0] if line.sentences else None
            if first is not None and first.start == 0 and not line.strange and _believable(first):
                return whole, line
            if line.open == 0 and not line.sentences and not line.strange:
                unfinished = unfinished or (whole, line)
        return unfinished

    def _release(self, found: list[Placed]) -> None:
        if self._held is not None:
            found.append(self._held)
            self._held = None

    def _give_up(self, found: list[Placed]) -> None:
        """The rest never came. CUDA 2 left out the architecture: that record is whole."""
        if self._open and (name := old_entry(self._open)) is not None:
            sentence = Sentence("entry", 0, len(self._open), (name, None))
            found.append(Placed(sentence, self._line, self._stream))
        self._open, self._left = b"", 0


def _believable(sentence: Sentence) -> bool:
    """A symbol has no space; only a C++ name with parameters may have."""
    name = sentence.values[0] if sentence.values else b""
    if sentence.kind not in {"entry", "function", "linked"} or name is None or b" " not in name:
        return True
    return b"(" in name and not name.startswith(b"_Z")
