"""Document -> coloured text for a terminal, through rich."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.report.document import Document, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table as RichTable

_GAP: Final = 2


def render(document: Document, *, width: int) -> str:
    """Text with ANSI colours for a terminal of ``width`` columns (NO_COLOR is honoured).

    What is too wide is broken between words. Words stay whole and nothing is cut: where even that
    does not fit, the lines are longer than the terminal, which wraps them.
    """
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(file=StringIO(), force_terminal=True, width=width, highlight=False)
    with console.capture() as captured:
        if document.summary:
            console.print(Text(document.summary, style="bold"))
            console.print()
        for table in document.tables:
            if table.rows and table.columns:
                if table.title:
                    # Text, not markup: names of kernels and products may hold brackets
                    console.print(Text(table.title, style="bold"))
                drawn, needed = _table(table, width)
                console.width = max(width, needed)
                console.print(drawn)
                console.print()
        console.width = width
        for note in document.notes:
            console.print(Text(f"note: {note}", style="dim"))
    return captured.get()


def _table(table: Table, room: int) -> tuple[RichTable, int]:
    """The table, and how wide it is."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    texts = table.texts()
    titles = [column.title for column in table.columns]
    cells = list(zip(*texts, strict=True))
    gaps = _GAP * (len(titles) - 1)
    widths = [max(map(len, (title, *column))) for title, column in zip(titles, cells, strict=True)]
    if sum(widths) + gaps > room:
        broken = [title.replace("/", " /") for title in titles]  # blocks/SM may be broken
        least = [
            max(map(len, _pieces(column.is_left, title, texts)))
            for column, title, texts in zip(table.columns, broken, cells, strict=True)
        ]
        if sum(least) + gaps <= room:
            titles, widths = broken, _narrowed(widths, least, room - gaps)
    rich = RichTable(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style=""
    )
    for column, title, width in zip(table.columns, titles, widths, strict=True):
        rich.add_column(
            Text(title, style="cyan"), justify="left" if column.is_left else "right", width=width
        )
    for row in texts:
        rich.add_row(*(Text(cell) for cell in row))
    return rich, sum(widths) + gaps


def _pieces(is_left: bool, title: str, texts: Sequence[str]) -> list[str]:  # noqa: FBT001
    """What must stay whole: words, and numbers with their units."""
    words = [*title.split(), *(word for text in texts for word in text.split())]
    return words if is_left else [*title.split(), *texts]


def _narrowed(natural: list[int], least: list[int], room: int) -> list[int]:
    """Widths from ``least`` to ``natural`` that fill ``room``.

    What is left over goes to the columns that lack least, so that few cells are broken.
    """
    spare = room - sum(least)
    found = list(least)
    for i in sorted(range(len(found)), key=lambda i: natural[i] - least[i]):
        given = max(0, min(natural[i] - least[i], spare))
        found[i] += given
        spare -= given
    return found
