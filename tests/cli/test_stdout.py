"""What stdout can show."""

from __future__ import annotations

import pytest

from perfkit.cli.stdout import is_colour_terminal


@pytest.mark.parametrize(
    ("variables", "tty", "encoding", "expected"),
    [
        ({}, True, "utf-8", True),
        ({}, False, "utf-8", False),
        ({}, True, "ascii", False),
        ({"NO_COLOR": "1"}, True, "utf-8", False),
        ({"NO_COLOR": ""}, True, "utf-8", True),
        ({"TERM": "dumb"}, True, "utf-8", False),
    ],
)
def test_when_colours_are_used(monkeypatch, variables, tty, encoding, expected):
    class Stream:
        def isatty(self):
            return tty

    Stream.encoding = encoding
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Stream())
    assert is_colour_terminal() is expected
