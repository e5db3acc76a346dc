"""Results out: pick the renderer, write stdout or a file. Data goes to stdout, talk to stderr."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from perfkit.cli.options import Format, is_colour_terminal
from perfkit.errors import UsageError
from perfkit.report.document import Document


def emit(
    topic: str,
    *,
    document: Callable[[], Document],
    content: Callable[[], Mapping[str, Any]],
    format: Format,  # noqa: A002
    output: Path | None,
) -> None:
    """Write one result in the format asked for.

    Args:
        topic: names the JSON schema, ``perfkit.<topic>/1``.
        document: the result as tables and notes.
        content: the result as JSON content.
        format: of the output.
        output: file to write; None: stdout.
    """
    if format is Format.JSON:
        from perfkit.report import json

        text = json.render(topic, content())
    elif format is Format.CSV:
        from perfkit.report import csv

        text = csv.render(document())
    elif format is Format.MARKDOWN:
        from perfkit.report import markdown

        text = markdown.render(document())
    elif output is None and is_colour_terminal():
        from perfkit.report import terminal

        text = terminal.render(document(), width=shutil.get_terminal_size().columns)
    else:
        from perfkit.report import text as plain

        text = plain.render(document())
    write(text, output)


def write(text: str, output: Path | None) -> None:
    """Write ``text`` to stdout, or to a file that is replaced only when all of it is written.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    with replacing(output) as partial:
        partial.write_text(text, encoding="utf-8")


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """A path to write to; it takes the place of ``output`` when the block ends well.

    Raises:
        UsageError: the file cannot be written.
    """
    partial = output.with_name(output.name + ".partial")
    try:
        yield partial
        partial.replace(output)
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)
