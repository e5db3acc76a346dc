"""CSV reads back as what was written."""

from __future__ import annotations

import csv
from io import StringIO

from perfkit.report import csv as report_csv
from perfkit.report.document import Column, Document, Table

COLUMNS = (Column("name", "title"), Column("value", "title", "bytes"), Column("all", "t", "names"))


def read(document):
    return list(csv.reader(StringIO(report_csv.render(document))))


def test_keys_and_raw_values():
    rows = (('a, "b"\nc', 49152, ("warps", "registers")), ("", None, ()))
    document = Document(tables=(Table(columns=COLUMNS, rows=rows),), notes=("not in CSV",))
    assert read(document) == [
        ["name", "value", "all"],
        ['a, "b"\nc', "49152", "warps+registers"],
        ["", "", ""],
    ]


def test_the_flat_table_is_preferred():
    shown = Table(columns=COLUMNS, rows=())
    flat = Table(columns=COLUMNS[:1], rows=(("x",),))
    assert read(Document(tables=(shown,), flat=flat)) == [["name"], ["x"]]


def test_lines_end_as_on_unix():
    assert "\r" not in report_csv.render(Document(tables=(Table(columns=COLUMNS, rows=()),)))
