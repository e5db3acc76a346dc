"""Document -> CSV: keys as the header, raw values, lists joined by ``+``."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

from perfkit.report.document import Cell, Document


def render(document: Document) -> str:
    table = document.flat or document.tables[0]
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([[_cell(value) for value in row] for row in table.rows])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, Cell):
        value = value.raw
    if isinstance(value, tuple | list):
        return "+".join(map(str, value))
    return "" if value is None else value
