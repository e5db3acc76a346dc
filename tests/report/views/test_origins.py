"""Origins are shown where nothing else tells rows apart, and without what all have in common."""

from __future__ import annotations

import pytest

from perfkit.report.views.origins import telling_apart


@pytest.mark.parametrize(
    ("rows", "origins", "shown"),
    [
        ("ab", ["x.so, image 1", "x.so, image 2"], [None, None]),
        ("aa", ["x.so", "x.so"], [None, None]),
        ("aa", ["b/x.so, image 1", "b/x.so, image 2"], ["x.so, image 1", "x.so, image 2"]),
        ("aa", ["b/x.so", None], [None, None]),
        ("aaa", ["b/x.so", None, "b/y.so"], ["x.so", None, "y.so"]),
        (
            "aa",
            ["w.whl(lib/x.so), image 1", "w.whl(lib/y(2).so), image 1"],
            ["x.so, image 1", "y(2).so, image 1"],
        ),
        (
            "aa",
            ["b/lib.a(x.o), image 1", "b/lib.a(y.o), image 2"],
            ["lib.a(x.o), image 1", "lib.a(y.o), image 2"],
        ),
    ],
)
def test_what_tells_rows_apart(rows, origins, shown):
    assert telling_apart(rows, origins) == shown
