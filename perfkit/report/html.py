"""Document -> one HTML page that needs nothing beside it.

No script, no font, no picture from elsewhere; light or dark as the reader's system is. Everything
that is not this module's own is escaped: names come from files, from drivers and from users.
"""

from __future__ import annotations

from html import escape
from typing import Final

from perfkit.report.document import Document, Table, printable

_STYLE: Final = """
:root { color-scheme: light dark; --line: #d0d7de; --soft: #59636e; --head: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #9198a1; --head: #212830; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
h2, summary { font-size: 1.15rem; font-weight: 600; margin: 1.5rem 0 .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; }
th, td { text-align: right; vertical-align: top; }
th { background: var(--head); position: sticky; top: 0; }
th.left, td.left { text-align: left; }
.note { color: var(--soft); }
"""


def render(document: Document, *, title: str) -> str:
    """A whole page.

    >>> from perfkit.report.document import Document
    >>> "&lt;b&gt;" in render(Document(tables=(), summary="<b>"), title="perfkit")
    True
    """
    body = [f"<h1>{_text(title)}</h1>"]
    if document.summary:
        body.append(f"<p><strong>{_text(document.summary)}</strong></p>")
    body += [_table(table) for table in document.tables if table.rows and table.columns]
    if document.notes:
        items = "\n".join(f"<li>{_text(note)}</li>" for note in document.notes)
        body.append(f'<ul class="note">\n{items}\n</ul>')
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)}</title>",
            f"<style>{_STYLE}</style></head>",
            "<body>",
            *body,
            "</body></html>\n",
        )
    )


def _table(table: Table) -> str:
    marks = [' class="left"' if column.is_left else "" for column in table.columns]
    titles = [column.title for column in table.columns]
    head = _row("th", marks, titles)
    rows = "\n".join(_row("td", marks, row) for row in table.texts())
    drawn = (
        f'<div class="wide"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )
    if table.collapsed:
        return f"<details><summary>{_text(table.title or 'more')}</summary>\n{drawn}</details>"
    return f"<h2>{_text(table.title)}</h2>\n{drawn}" if table.title else drawn


def _row(kind: str, marks: list[str], cells: list[str]) -> str:
    pairs = zip(marks, cells, strict=True)
    return "<tr>" + "".join(f"<{kind}{m}>{_text(cell)}</{kind}>" for m, cell in pairs) + "</tr>"


def _text(text: str) -> str:
    return escape(printable(text))
