"""A terminal: lines break between words, names stay whole, nothing is lost."""

from __future__ import annotations

import re

import pytest

from perfkit.report import terminal
from perfkit.report.document import Column, Document, Table
from perfkit.report.views import occupancy
from tests.report import results

CODES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(autouse=True)
def _colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def plain(document, width):
    return CODES.sub("", terminal.render(document, width=width))


def one(*cells, titles=None, notes=()):
    columns = tuple(Column(t, t) for t in titles or [f"c{i}" for i in range(len(cells))])
    return Document(tables=(Table(title="T[red]x", columns=columns, rows=(cells,)),), notes=notes)


@pytest.mark.parametrize("width", [1, 20, 40, 80, 100, 200])
def test_every_word_is_there_at_every_width(width):
    document = occupancy.document(results.KERNELS)
    shown = plain(document, width).split()
    words = [
        word
        for table in document.tables
        for row in table.texts()
        for c in row
        for word in c.split()
    ]
    assert words
    assert set(words) <= set(shown)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_lines_fit_where_words_do(width):
    assert max(map(len, plain(occupancy.document(results.SAME), width).splitlines())) <= width


def test_titles_break_at_a_slash_only_where_there_is_no_room():
    document = one("1", "2", titles=["blocks/SM", "warps/SM"])
    assert "blocks/SM  warps/SM" in plain(document, 80)
    assert "blocks/SM" not in plain(document, 13)


def test_brackets_are_not_markup():
    shown = plain(one("k[bold]x[/bold]", titles=["a[b]"], notes=["see [1]"]), 80)
    for text in ("T[red]x", "k[bold]x[/bold]", "a[b]", "note: see [1]"):
        assert text in shown


def test_colours_unless_told_otherwise(monkeypatch):
    assert CODES.search(terminal.render(one("a"), width=80))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[3[0-7]m", terminal.render(one("a"), width=80))
