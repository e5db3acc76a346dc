"""Plain text: aligned, and nothing cut."""

from __future__ import annotations

from perfkit.report import text
from perfkit.report.document import Column, Document, Table

COLUMNS = (Column("name", "name"), Column("count", "count", "count"))


def test_numbers_stand_right_and_words_left():
    table = Table(title="Title", columns=COLUMNS, rows=(("a", 1), ("longer", 1000)))
    assert text.render(Document(tables=(table,), notes=("mind",))) == (
        "Title\nname    count\n------  -----\na           1\nlonger   1000\n\nnote: mind\n"
    )


def test_nothing_is_cut_and_no_line_ends_in_blanks():
    name = "kernel<" + "x" * 500 + ">"
    out = text.render(Document(tables=(Table(columns=COLUMNS, rows=((name, None), ("a", 1))),)))
    assert name in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_tables_without_rows_or_columns_are_not_shown():
    empty = Table(title="Empty", columns=COLUMNS, rows=())
    bare = Table(title="Bare", columns=(), rows=((),))
    full = Table(title="Full", columns=COLUMNS, rows=(("a", 1),))
    out = text.render(Document(tables=(empty, bare, full)))
    assert out.startswith("Full\n")
