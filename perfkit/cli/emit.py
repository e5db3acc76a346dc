"""Results out: pick the renderer, write stdout or a file. Data goes to stdout, talk to stderr."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TextIO

import typer

from perfkit import __version__
from perfkit.cli import talk
from perfkit.cli.chart_options import ChartOptions
from perfkit.cli.options import Format
from perfkit.cli.stdout import is_colour_terminal
from perfkit.errors import UsageError
from perfkit.report.document import Document

#: what a shell reports of a program whose reader left, as in ``perfkit arch list | head -1``
EXIT_BROKEN_PIPE: Final = 141


def emit(
    topic: str,
    *,
    document: Callable[[], Document],
    content: Callable[[], Mapping[str, Any]],
    format: Format,  # noqa: A002
    output: Path | None,
    chart: ChartOptions | None = None,
    measured: bool = False,
) -> None:
    """Write one result in the format asked for; without its notes if ``--quiet`` was given.

    A chart for the terminal takes the place of the tables.

    Args:
        topic: names the JSON schema, ``perfkit.<topic>/1``.
        document: the result as tables and notes.
        content: the result as JSON content.
        format: of the output.
        output: file to write; None: stdout.
        chart: whether to draw it, and where.
        measured: it took minutes, and is written although a chart of it cannot be.

    Raises:
        UsageError: a file cannot be written, or a chart and the format both go to stdout.
    """
    undrawn: UsageError | None = None
    if chart is not None:
        chart.check(is_table=format is Format.TABLE, output=output)
        try:
            drawn = chart.drawn(topic, content())
        except UsageError as error:
            if not measured:
                raise
            undrawn = error
        else:
            if drawn is not None:
                write(drawn, None)
            if chart.takes_stdout(output):
                return

    if format is Format.JSON:
        from perfkit.report import json

        write(json.render(topic, {**content(), "made_by": made_by()}), output)
    else:
        said = document()
        said = replace(said, notes=()) if talk.is_quiet() else said
        write(_rendered(said, format, output), output)
    if undrawn is not None:
        raise undrawn


def _rendered(document: Document, format: Format, output: Path | None) -> str:  # noqa: A002
    if format is Format.CSV:
        from perfkit.report import csv

        return csv.render(document)
    if format is Format.MARKDOWN:
        from perfkit.report import markdown

        return markdown.render(document)
    if output is None and is_colour_terminal():
        from perfkit.report import terminal

        return terminal.render(document, width=shutil.get_terminal_size().columns)
    from perfkit.report import text

    return text.render(document)


def made_by() -> dict[str, str]:
    """Which command wrote a result, so that it can be repeated."""
    return {"perfkit": __version__, "command": talk.command_line()}


def write(text: str, output: Path | None) -> None:
    """Write ``text`` to stdout, or to a file that is replaced only when all of it is written.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None:
        with stdout() as stream:
            stream.write(text)
        return
    with replacing(output) as partial:
        # names of files and kernels may hold bytes that are no text; lines end alike everywhere
        partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def stdout() -> Iterator[TextIO]:
    """``sys.stdout``, flushed at the end; a reader that left ends the run without a word.

    Raises:
        UsageError: it cannot be written: it is closed, or the disk is full.
    """
    if sys.stdout is None:  # as of ``perfkit … >&-``
        raise UsageError("cannot write to stdout: it is closed", hint="write to a file: --output")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        # what is still in the buffer must not fail again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Windows calls a pipe without a reader an invalid argument
        left = isinstance(error, BrokenPipeError) or (
            os.name == "nt" and error.errno == errno.EINVAL
        )
        if left:
            raise typer.Exit(EXIT_BROKEN_PIPE) from None
        raise UsageError(f"cannot write to stdout: {error.strerror or error}") from None


def _place(output: Path) -> Path:
    """Where it lies: a symbolic link stays one. Raises ``OSError`` for one that leads to itself."""
    place = Path(os.path.realpath(output))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return place


@contextmanager
def replacing(output: Path, option: str = "--output") -> Iterator[Path]:
    """A path to write to; it takes the place of ``output`` when the block ends well.

    What is not a regular file (``/dev/null``, a pipe) is written to directly.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        if output.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if output.exists() and not os.access(output, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if output.exists() and not output.is_file():
            yield output
            return
        place = _place(output)
        partial = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            yield partial
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {output}: {error.strerror or error}") from None
