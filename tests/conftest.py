"""Golden files: the layout of an output, held fixed. Numbers that matter are asserted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write tests/golden anew instead of comparing; read the diff before committing it",
    )


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
