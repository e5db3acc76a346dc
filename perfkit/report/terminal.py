"""Document -> coloured text for a terminal, through rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.report.document import Document, Table

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def render(document: Document, *, width: int) -> str:
    """Text with ANSI colours for a terminal of ``width`` columns (NO_COLOR is honoured)."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(file=StringIO(), force_terminal=True, width=width, highlight=False)
    with console.capture() as captured:
        for table in document.tables:
            if table.rows:
                console.print(_table(table))
        for note in document.notes:
            console.print(Text(f"note: {note}", style="dim"))
    return captured.get()


def _table(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    rich = RichTable(
        title=table.title, title_justify="left", box=box.SIMPLE_HEAD, header_style="bold"
    )
    for column in table.columns:
        rich.add_column(column.title, justify="left" if column.is_left else "right")
    for row in table.texts():
        # Text, not markup: names of kernels may hold brackets
        rich.add_row(*(Text(cell) for cell in row))
    return rich
