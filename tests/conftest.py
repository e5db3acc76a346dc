"""Golden files: the layout of an output, held fixed. Numbers that matter are asserted by hand."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write tests/golden anew instead of comparing; read the diff before committing it",
    )


def pytest_configure():
    # a shell starts what runs in the background with Ctrl-C ignored, and so would all that is
    # started here: tests that send it would wait for ever
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def golden(request):
    """Compares a text with a file in ``tests/golden``."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, "utf-8")
        assert path.exists(), f"{name} is missing: run pytest --update-golden and read it"
        assert text == path.read_text("utf-8"), f"{name}: see pytest --update-golden"

    return check
