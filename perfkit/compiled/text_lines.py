"""Lines of a text of any size, packed or in UTF-16: one pass, little memory.

A line longer than ``MAX_LINE_BYTES`` comes out empty: no compiler writes one, and a file without
line ends must not fill the memory. Lines end with a line feed, which every line but an unfinished
last one carries.
"""

from __future__ import annotations

import codecs
import zlib
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, Final

from perfkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LINE_BYTES: Final = 2**20
#: without a line end in so much it is no text, and may never end
MAX_WITHOUT_LINE_BYTES: Final = 2**26
_CHUNK_BYTES: Final = 2**18
_SAMPLE_BYTES: Final = 512
_GZIP: Final = b"\x1f\x8b"
_WINDOW: Final = 31  #: zlib's way of asking for the gzip format


def text_lines(head: bytes, stream: BinaryIO, *, origin: str) -> Iterator[bytes]:
    """Lines of ``head`` and all that follows in ``stream``. Gzip is told by its magic number.

    Raises:
        InputError: when reading gets there, a gzip file that is cut or broken, or
            ``MAX_WITHOUT_LINE_BYTES`` without a line end.
    """
    first, chunks = _begun(chain((head,), iter(lambda: stream.read(_CHUNK_BYTES), b"")))
    if first.startswith(_GZIP):
        first, chunks = _begun(_unpacked(chunks, origin))
    if (encoding := _wide(first)) is not None:
        first, chunks = _begun(_recoded(chunks, encoding))
    return _lines(chunks, origin)


def _begun(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The beginning, enough to tell its kind, and everything; without a mark of UTF-8."""
    first = b""
    while len(first) < _SAMPLE_BYTES and (more := next(chunks, None)) is not None:
        first += more
    return first, chain((first.removeprefix(codecs.BOM_UTF8),), chunks)


def is_wide(head: bytes) -> bool:
    """Text in UTF-16, as PowerShell's ``>`` writes it."""
    return _wide(head) is not None


def _wide(head: bytes) -> str | None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:_SAMPLE_BYTES]
    if len(sample) < 16:
        return None
    low, high = sample[::2], sample[1::2]
    if high.count(0) > len(high) * 0.9 and low.count(0) == 0:
        return "utf-16-le"
    if low.count(0) > len(low) * 0.9 and high.count(0) == 0:
        return "utf-16-be"
    return None


def _recoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")


def _unpacked(chunks: Iterable[bytes], origin: str) -> Iterator[bytes]:
    """Concatenated gzip members; never more than a chunk at a time, whatever the packing."""
    unpack = zlib.decompressobj(_WINDOW)
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                if unpack.eof:
                    if not rest.startswith(_GZIP):
                        return  # padding, as tape and tar leave it
                    unpack = zlib.decompressobj(_WINDOW)
                yield unpack.decompress(rest, _CHUNK_BYTES)
                rest = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
    except zlib.error as error:
        raise InputError(f"a broken gzip file: {error}", where=origin) from None
    if not unpack.eof:
        raise InputError("a gzip file that ends too early", where=origin)


def _lines(chunks: Iterable[bytes], origin: str) -> Iterator[bytes]:
    rest, skipped = b"", 0
    for chunk in chunks:
        pieces = (rest + chunk).split(b"\n")
        rest = pieces.pop()
        if pieces and (skipped or len(pieces[0]) > MAX_LINE_BYTES):
            pieces[0], skipped = b"", 0
        for piece in pieces:
            yield piece + b"\n"
        if len(rest) > MAX_LINE_BYTES:
            rest, skipped = b"", skipped + len(rest)
            if skipped > MAX_WITHOUT_LINE_BYTES:
                size = f"{MAX_WITHOUT_LINE_BYTES >> 20} MiB"
                raise InputError(f"{size} without the end of a line: not a text", where=origin)
    if rest and not skipped:
        yield rest
