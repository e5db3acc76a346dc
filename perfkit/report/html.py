"""Document -> one HTML page that needs nothing beside it."""

from __future__ import annotations

from perfkit.report.document import Document
from perfkit.report.page import markup, shell


def render(document: Document, *, title: str) -> str:
    """A whole page, of the same make as that of ``perfkit report``.

    >>> from perfkit.report.document import Document
    >>> "&lt;b&gt;" in render(Document(tables=(), summary="<b>"), title="perfkit")
    True
    """
    body = []
    if document.summary:
        body.append(f"<p><strong>{markup.text(document.summary)}</strong></p>")
    body += [
        markup.table(table, level=2) for table in document.tables if table.rows and table.columns
    ]
    if document.notes:
        body.append(markup.listing(document.notes))
    return shell.whole(title, body)
