"""The page: whole, by itself, and with everything that is not its own escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from perfkit.report import html
from perfkit.report.document import Cell, Column, Document, Table

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Balanced tags, and the text between them."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.scripts = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open[-1:] == ["script"] else self.texts).append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


EVIL = "<script>alert('x')</script> & \"quoted\" \x1b[31m\nred"


def page(*tables, notes=(), summary="All is well", title="perfkit"):
    return html.render(Document(tables=tables, notes=notes, summary=summary), title=title)


def table(**options):
    columns = (Column("name", "name"), Column("size", "size", "bytes"), Column("n", EVIL, "count"))
    rows = (("a", 2048, 3), (EVIL, None, 4), (Cell("raw", EVIL), 1, 5))
    return Table(columns=columns, rows=rows, **options)


def test_a_whole_page():
    found = read(page(table(title="Sizes"), notes=("mind the gap",)))
    assert found.tags[:2] == ["html", "head"]
    assert found.tags.count("tr") == 4
    assert {"h1", "h2", "table", "thead", "tbody", "ul", "li"} <= set(found.tags)
    text = "".join(found.texts)
    for part in ("All is well", "Sizes", "2 KiB", "mind the gap"):
        assert part in text


def test_what_others_wrote_is_text():
    found = read(page(table(title=EVIL), notes=(EVIL,), summary=EVIL, title=EVIL))
    assert found.tags.count("script") == 1  # the page's own
    assert "alert" not in "".join(found.scripts)
    assert "".join(found.texts).count("<script>alert('x')</script> & \"quoted\"") == 8
    assert "\x1b" not in page(table(title=EVIL))


def test_nothing_from_elsewhere():
    text = page(table(title="Sizes", collapsed=True))
    found = read(text)
    assert not {"link", "img", "iframe"} & set(found.tags)
    names = {name for name, _ in found.attributes}
    assert not {"src", "style", "onclick"} & names
    assert {value for name, value in found.attributes if name == "href"} == {"#main"}
    assert not re.search(r"https?:|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text


def test_what_can_be_folded_away_is():
    found = read(page(table(title="More", collapsed=True)))
    assert {"details", "summary"} <= set(found.tags)
    assert "h2" not in found.tags


def test_numbers_stand_to_the_right():
    text = page(table())
    assert '<td class="l">a</td><td data-v="2048">2 KiB</td><td>3</td>' in text


def test_empty_tables_are_left_out():
    assert "table>" not in page(Table(title="none", columns=(Column("a", "a"),), rows=()))
