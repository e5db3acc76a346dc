"""What is taken off the ends of lines."""

from __future__ import annotations

import pytest

from perfkit.compiled.log_lines import clean

SAID = b"ptxas info : Used 8 registers"


@pytest.mark.parametrize("end", [b"<br>", b"<br />", b" |", b" | |", b" \\", b"`", b'"],', b'"}'])
def test_ends_of_pages_tables_and_scripts(end):
    assert clean(SAID + end + b"\n") == SAID


@pytest.mark.parametrize("row", [b" |", b'"]', b' "'])
def test_a_row_of_them_in_a_line_is_looked_through_once(row):
    """It was tried from each of its places: a line of 40 kB took 16 s."""
    line = SAID + row * 20_000 + b"x"
    assert clean(line) == line
    assert clean(line + row) == line
