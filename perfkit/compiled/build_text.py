"""Kernels in the text that builds and tools print: compiler logs, resource reports, or both.

What is in it decides, never the file's name: a CI log may hold both kinds anywhere between a
million other lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

from perfkit.compiled.log_lines import clean
from perfkit.compiled.log_records import symbol_text
from perfkit.compiled.names import shown_names
from perfkit.compiled.ptxas_log import LogReader
from perfkit.compiled.reading import NoKernel, Reading
from perfkit.compiled.resource_usage import UsageReader
from perfkit.compiled.text_lines import text_lines
from perfkit.compiled.troubles import Troubles
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOOKED_FOR: Final = (
    "no kernel in {lines} of text: looked for what ptxas -v, nvlink -v and cuobjdump "
    '--dump-resource-usage print ("Compiling entry function …", "Function properties for …", '
    '"Function …: REG:…")'
)
_FAILED: Final = "no kernel: the build failed on line {line}: {text}"
_FAILURES: Final = (b"ptxas error", b"ptxas fatal")
_MOST_SHOWN: Final = 200  #: bytes of a line
_ARCH_HINT: Final = "name it, as with --gpu sm_90"
_HINT: Final = "build with nvcc -Xptxas -v (or -res-usage) and keep what it writes to stderr"


def read_text(head: bytes, stream: BinaryIO, *, origin: str, arch: str | None = None) -> Reading:
    """Every kernel of a text, in the order of its lines: ``head`` and what follows in ``stream``.

    Args:
        head: the first bytes, already read.
        stream: the rest; it is read once and not kept.
        origin: the text's name, for people.
        arch: of kernels for which the text names none, such as ``sm_89``; it does not count where
            the text names one anywhere.

    Raises:
        NoKernel: none is found; the message says what was looked for.
        UsageError: kernels are found, none with an architecture, and ``arch`` is not given.
        InputError: a broken gzip file.
    """
    return read_lines(text_lines(head, stream, origin=origin), origin=origin, arch=arch)


def read_lines(lines: Iterable[bytes], *, origin: str, arch: str | None = None) -> Reading:
    """The same of lines with their ends; raises as ``read_text``."""
    troubles = Troubles()
    log, usage = LogReader(troubles), UsageReader(troubles)
    count, failed = _feed(lines, log, usage)
    if log.archs() | usage.archs():
        arch = None  # what the option names need not be what the nameless rest was compiled for
    shown = shown_names(log.names() | usage.names())
    kernels = (
        *log.kernels(origin=origin, arch=arch, shown=shown),
        *usage.kernels(origin=origin, arch=arch, shown=shown),
    )
    if not kernels and (nameless := troubles.without_arch()) is not None:
        raise UsageError(nameless, where=origin, hint=_ARCH_HINT)
    notes = troubles.notes(origin)
    if not kernels:
        hint = "; ".join(notes) or _HINT
        said = "1 line" if count == 1 else f"{count} lines"
        raise NoKernel(failed or _LOOKED_FOR.format(lines=said), where=origin, hint=hint)
    return Reading(kernels=kernels, notes=notes, unread=troubles.nameless)


def _feed(lines: Iterable[bytes], log: LogReader, usage: UsageReader) -> tuple[int, str | None]:
    """Every line to whom it may concern; how many there are, and where the compiler failed first.

    Words looked for one by one: a pattern of them all takes twenty times as long.
    """
    number, log_waits, usage_waits = 0, False, False
    failed: str | None = None
    for number, line in enumerate(lines, 1):
        if (
            log_waits
            or b"info " in line
            or b"bytes " in line
            or b"registers" in line
            or b"unction " in line
            or b"ompile time" in line
            or b"ptxas error" in line
            or b"ptxas fatal" in line
        ):
            log_waits = log.feed(number, line)
            if failed is None and any(word in line for word in _FAILURES):
                failed = _FAILED.format(line=number, text=_shown(line))
        if usage_waits or (
            not line.startswith(b"ptxas info")
            and (
                b"REG:" in line
                or (b"Function " in line and b"Function properties for " not in line)
                or b"arch = " in line
                or b" code:" in line
            )
        ):
            usage_waits = usage.feed(number, line)
    log.finish()
    return number, failed


def _shown(line: bytes) -> str:
    """From the compiler's name on."""
    text = clean(line[: 2 * _MOST_SHOWN])
    start = min((at for word in _FAILURES if (at := text.find(word)) >= 0), default=0)
    return symbol_text(text[start:][:_MOST_SHOWN])
