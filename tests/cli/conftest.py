"""The command line, called in this process."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from perfkit.cli.app import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("PERFKIT_GPU", "PERFKIT_FORMAT", "PERFKIT_ARCHDB", "PERFKIT_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def perfkit(capsys):
    """Runs ``perfkit`` with the words of a line, or with a list of arguments."""

    def run(arguments: str | list[str]) -> Done:
        words = arguments.split() if isinstance(arguments, str) else arguments
        code = main(words)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(perfkit):
    """Runs what must be refused: exit code, nothing on stdout, no traceback; gives stderr."""

    def run(arguments: str | list[str], code: int = 2) -> str:
        done = perfkit(arguments)
        assert done.code == code, done.err
        assert done.out == ""
        assert "Traceback" not in done.err
        assert done.err.strip()
        return done.err

    return run
