"""Markdown that a CommonMark reader takes for tables, whatever a kernel is called."""

from __future__ import annotations

import re

import pytest

from perfkit.report import markdown
from perfkit.report.document import Column, Document, Table

COLUMNS = (Column("name", "name"), Column("count", "count", "count"))


def render(name, **more):
    return markdown.render(Document(tables=(Table(columns=COLUMNS, rows=((name, 1),), **more),)))


def test_a_table():
    assert render("a", title="T") == ("**T**\n\n| name | count |\n| --- | ---: |\n| a | 1 |\n")


@pytest.mark.parametrize("char", "\\|<>*_`[]")
def test_characters_of_markdown_are_escaped(char):
    line = render(f"x{char}y").splitlines()[2]
    assert f"x\\{char}y" in line
    # what is not escaped splits cells
    assert len(re.split(r"(?<!\\)\|", line.replace("\\\\", ""))) == 4


def test_notes_are_quotes():
    assert markdown.render(Document(tables=(), notes=("a_b",))) == "> a\\_b\n"


@pytest.mark.parametrize("text", ["two\nlines", "two\r\nlines"])
def test_a_line_break_does_not_end_a_cell(text):
    assert render(text).splitlines()[2].endswith("| 1 |")
