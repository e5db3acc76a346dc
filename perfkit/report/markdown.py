"""Document -> GitHub-flavoured Markdown."""

from __future__ import annotations

from html import escape

from perfkit.report.document import Document, Table


def render(document: Document) -> str:
    parts = [f"**{_escape(document.summary)}**"] if document.summary else []
    parts += [_table(table) for table in document.tables if table.rows and table.columns]
    parts += [f"> {_escape(note)}" for note in document.notes]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    lines = [
        _row([column.title for column in table.columns]),
        _row(["---" if column.is_left else "---:" for column in table.columns]),
        *(_row(row) for row in table.texts()),
    ]
    if table.collapsed:
        # the empty lines make GitHub read the table as Markdown
        title = escape(table.title or "more")
        lines = [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]
    elif table.title:
        lines = [f"**{_escape(table.title)}**", "", *lines]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


def _escape(text: str) -> str:
    """Kernel names carry template brackets and pipes; Markdown must not read them."""
    for char in "\\|<>[]*_`":
        text = text.replace(char, "\\" + char)
    return text
