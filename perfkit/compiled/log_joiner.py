"""Sentences that a formatter or a narrow terminal broke over several lines, put together again.

A break is undone only where the joined text is a whole sentence that the parts are not: with a
space, as editors break lines, or without, as terminals do. A number is never read from a part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.compiled.log_lines import Stream, clean, stream_of
from perfkit.compiled.log_sentences import Line, Sentence, old_entry, read

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LINES: Final = 6  #: over which a sentence may be spread
_MARKED: Final = Stream(b"", marked=True)


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
        self._stream = _MARKED
        self._held: Placed | None = None  #: whole, but the next line may begin with a comma
        self._held_text = b""

    @property
    def waiting(self) -> bool:
        """The next line counts, whatever it looks like."""
        return self._left > 0 or self._held is not None

    def feed(self, number: int, raw: bytes) -> Iterator[Placed]:
        terminated = raw.endswith(b"\n")
        pieces = raw.replace(b"\\n", b"\r").split(b"\r") if b"\\n" in raw else raw.split(b"\r")
        for piece in pieces:
            text = clean(piece)
            if text:
                yield from self._text(number, text, terminated=terminated)

    def finish(self) -> Iterator[Placed]:
        yield from self._release()
        yield from self._give_up()

    def _text(self, number: int, text: bytes, *, terminated: bool) -> Iterator[Placed]:
        if self._held is not None and text.startswith(b","):
            self._open, self._line, self._left = self._held_text, self._held.line, 1
            self._stream, self._held = self._held.stream, None
        yield from self._release()
        if self._left > 0:
            joined = self._joined(text, terminated=terminated)
            if joined is not None:
                whole, line = joined
                yield from self._sentences(whole, line, self._line, self._stream)
                return
            self._left -= 1
            if self._left == 0:
                yield from self._give_up()
        line = read(text, terminated=terminated)
        starts = [sentence.start for sentence in line.sentences]
        if line.open is not None:
            starts.append(line.open)
        if starts:
            yield from self._give_up()
            yield from self._sentences(text, line, number, stream_of(text[: starts[0]]))

    def _sentences(self, text: bytes, line: Line, number: int, stream: Stream) -> Iterator[Placed]:
        end = None
        for sentence in line.sentences:
            if end is not None:
                between = text[end : sentence.start]
                if between.strip() and not stream_of(between).marked:
                    continue  # words about registers in somebody's prose
                stream = stream._replace(marked=stream.marked or bool(between.strip()))
            end = sentence.end
            placed = Placed(sentence, number, stream)
            if sentence.kind == "used" and end == len(text) and line.open is None:
                self._held, self._held_text = placed, text[sentence.start :]
                self._left = 0
                return
            yield placed
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

    def _release(self) -> Iterator[Placed]:
        if self._held is not None:
            yield self._held
            self._held = None

    def _give_up(self) -> Iterator[Placed]:
        """The rest never came. CUDA 2 left out the architecture: that record is whole."""
        if self._open and (name := old_entry(self._open)) is not None:
            sentence = Sentence("entry", 0, len(self._open), (name, None))
            yield Placed(sentence, self._line, self._stream)
        self._open, self._left = b"", 0


def _believable(sentence: Sentence) -> bool:
    """A symbol has no space; only a C++ name with parameters may have."""
    name = sentence.values[0] if sentence.values else b""
    if sentence.kind not in {"entry", "function", "linked"} or name is None or b" " not in name:
        return True
    return b"(" in name and not name.startswith(b"_Z")
