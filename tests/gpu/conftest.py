"""The ``gpu`` tests: skipped with the reason where there is no card, figures shown where there is.

Figures go to the terminal's summary and, as properties of the test, to the JUnit file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from perfkit.access import require_cuda, require_nvrtc
from perfkit.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

FIGURES = pytest.StashKey[list[str]]()


def pytest_configure(config):
    config.stash[FIGURES] = []


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    try:
        require_cuda()
        require_nvrtc()
    except Unavailable as error:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"needs a GPU: {error}"))


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[FIGURES]:
        terminalreporter.section("figures")
        for line in config.stash[FIGURES]:
            terminalreporter.write_line(line)


@pytest.fixture
def figure(request) -> Callable[[str, object], None]:
    """Note a figure of this test: ``figure("compared", 20_000)``."""

    def note(name: str, value: object) -> None:
        request.node.user_properties.append((name, value))
        request.config.stash[FIGURES].append(f"{request.node.name}: {name}: {value}")

    return note
