"""Document -> plain text. For pipes and files: nothing is wrapped, cut or coloured."""

from __future__ import annotations

from perfkit.report.document import Document, Table


def render(document: Document) -> str:
    parts = [document.summary] if document.summary else []
    parts += [_table(table) for table in document.tables if table.rows and table.columns]
    if document.notes:
        parts.append("\n".join(f"note: {note}" for note in document.notes))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    cells = [[column.title for column in table.columns], *table.texts()]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if column.is_left else cell.rjust(width)
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    if table.title:
        lines.insert(0, table.title)
    return "\n".join(lines)
